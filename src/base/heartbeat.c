// Signs of life. The idea: MPI never notices a rank that hangs, so a rank that waits long asks all
// others on a communicator of its own; whoever is inside fringe answers from its next comm call or
// beat. Messages are three integers and always eager: one that does not leave is for a rank that
// takes nothing any more, which its silence says, too.
//
//   wait begins      + 0.70 timeout: ask all      + 0.25 timeout: name the silent ones, end the job
//
// If all answered, the next round is asked 0.70 timeout after this one: from any moment a rank
// falls silent it takes at most 0.99 timeout until it is named. Ranks that wait at the same time
// judge one after the other (0.01 timeout apart), so that one of them speaks. Time in which the
// waiting rank itself did not run (a suspended job, a crowded machine) does not count.

#include "fringe/base/clock.h"
#include "fringe/base/memory.h"
#include "fringe/base/terminal.h"
#include "internal.h"

#include <stdio.h>
#include <string.h>

enum { TAG_ASK = 1, TAG_ANSWER = 2 };
enum { STANDSTILL_ROUNDS = 10 }; // a wait in vain is told from a slow network by patience
static const double ask_after = 0.70, judge_after = 0.25, judge_apart = 0.01;
static const double own_pause = 0.05; // more than this between two looks: this rank did not run

typedef struct Sign {
    int64_t round;    // of the asker
    int64_t waiting;  // the answerer is inside a wait
    int64_t finished; // waits it has finished so far
} Sign;
enum { SIGN_INTS = sizeof(Sign) / sizeof(int64_t) };

static struct Life {
    MPI_Comm control;
    int rank, size; // size 0: not started
    bool waiting;
    int64_t finished;
    // asking
    int64_t round;
    Sign question;
    MPI_Request *question_request; // [size]
    Sign *heard;                   // [size] the last answer of each
    // answering
    int owed_count;
    int64_t *owed;               // [size] round that the rank asked and waits for, 0: none
    Sign *answer;                // [size]
    MPI_Request *answer_request; // [size]
    // for the collectives
    MPI_Request *requests; // [2 size]
    int64_t *values;       // [size, LIFE_VALUES]
} life;

static MPI_Request *no_requests(int count) {
    MPI_Request *request = TAKE(MPI_Request, count, "requests of the communicator");
    for (int i = 0; i < count; i++)
        request[i] = MPI_REQUEST_NULL;
    return request;
}

void life_start(const Comm *comm) {
    int size = comm->size;
    life = (struct Life){.rank = comm->rank, .size = size};
    CHECK_MPI(MPI_Comm_dup(comm_mpi(comm), &life.control));
    life.question_request = no_requests(size);
    life.answer_request = no_requests(size);
    life.requests = no_requests(2 * size);
    life.values = TAKE(int64_t, size * LIFE_VALUES, "room for sums over ranks");
    life.heard = TAKE(Sign, size, "signs of life");
    life.answer = TAKE(Sign, size, "signs of life");
    life.owed = TAKE(int64_t, size, "signs of life");
}

void life_stop(void) {
    life_answer();
    bool flying = false; // an answer that nobody has taken yet is still read
    for (int r = 0; r < life.size; r++) {
        int sent = 1;
        MPI_Test(&life.answer_request[r], &sent, MPI_STATUS_IGNORE);
        flying = flying || !sent;
        if (!sent)
            MPI_Request_free(&life.answer_request[r]);
        if (life.question_request[r] != MPI_REQUEST_NULL)
            MPI_Request_free(&life.question_request[r]);
    }
    life.size = 0;
    memory_give(life.owed);
    if (!flying)
        memory_give(life.answer);
    memory_give(life.heard);
    memory_give(life.values);
    memory_give(life.requests);
    memory_give(life.answer_request);
    memory_give(life.question_request);
    MPI_Comm_free(&life.control);
}

MPI_Request *life_requests(void) { return life.requests; }
void *life_values(void) { return life.values; }

// Takes one message of the control communicator, if there is one.
static bool hear(void) {
    int there = 0;
    MPI_Status status;
    CHECK_MPI(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, life.control, &there, &status));
    if (!there)
        return false;
    Sign sign;
    int from = status.MPI_SOURCE;
    CHECK_MPI(MPI_Recv(&sign, SIGN_INTS, MPI_INT64_T, from, status.MPI_TAG, life.control,
                       MPI_STATUS_IGNORE));
    if (status.MPI_TAG == TAG_ANSWER) {
        life.heard[from] = sign;
    } else {
        life.owed_count += life.owed[from] == 0;
        life.owed[from] = sign.round;
    }
    return true;
}

// Sends the answer that is owed to a rank, unless the one before is still under way.
static void answer(int to) {
    int sent = 1;
    CHECK_MPI(MPI_Test(&life.answer_request[to], &sent, MPI_STATUS_IGNORE));
    if (!sent)
        return;
    life.answer[to] = (Sign){life.owed[to], life.waiting, life.finished};
    CHECK_MPI(MPI_Isend(&life.answer[to], SIGN_INTS, MPI_INT64_T, to, TAG_ANSWER, life.control,
                        &life.answer_request[to]));
    life.owed[to] = 0;
    life.owed_count--;
}

void life_answer(void) {
    if (life.size < 2)
        return;
    while (hear())
        ;
    for (int r = 0; r < life.size && life.owed_count > 0; r++)
        if (life.owed[r] != 0)
            answer(r);
}

// Asks every other rank. While a question of the last round has not even left, that round goes on:
// who was to get it is asked by it still.
static void ask(void) {
    int sent = 0;
    CHECK_MPI(MPI_Testall(life.size, life.question_request, &sent, MPI_STATUSES_IGNORE));
    if (!sent)
        return;
    life.question = (Sign){.round = ++life.round};
    for (int r = 0; r < life.size; r++)
        if (r != life.rank)
            CHECK_MPI(MPI_Isend(&life.question, SIGN_INTS, MPI_INT64_T, r, TAG_ASK, life.control,
                                &life.question_request[r]));
}

static bool is_silent(int r) { return r != life.rank && life.heard[r].round != life.round; }

static bool all_answered(void) {
    for (int r = 0; r < life.size; r++)
        if (is_silent(r))
            return false;
    return true;
}

// Names the ranks that gave no sign and ends the job.
static _Noreturn void name_silent(double seconds, const char *what) {
    char names[256] = "";
    int count = 0;
    for (int r = 0; r < life.size; r++) {
        size_t used = strlen(names);
        if (is_silent(r) && used + 16 < sizeof names)
            snprintf(names + used, sizeof names - used, "%s%d", count == 0 ? "" : ", ", r);
        count += is_silent(r);
    }
    terminal_say_last(
        "rank %d: waited %.2f s for %s; rank%s %s of %d give%s no sign of life: stopped, hung "
        "or out of reach\n",
        life.rank, seconds, what, count == 1 ? "" : "s", names, life.size, count == 1 ? "s" : "");
    comm_abort(EXIT_SILENT);
}

// After a full round: did any rank get anything since the last one, or compute?
static void look_for_standstill(LifeWatch *watch, double seconds, const char *what) {
    bool all_wait = true;
    int64_t finished = life.finished;
    for (int r = 0; r < life.size; r++) {
        if (r == life.rank)
            continue;
        all_wait = all_wait && life.heard[r].waiting != 0;
        finished += life.heard[r].finished;
    }
    watch->standstill = all_wait && finished == watch->finished ? watch->standstill + 1 : 0;
    watch->finished = finished;
    if (watch->standstill < STANDSTILL_ROUNDS)
        return;
    terminal_say_last(
        "rank %d: waited %.1f s for %s; every rank waits and none gets a message: the ranks "
        "are not at the same step\n",
        life.rank, seconds, what);
    comm_abort(EXIT_SILENT);
}

LifeWatch life_watch_begin(void) {
    double now = clock_seconds();
    life.waiting = true;
    return (LifeWatch){.since = now, .base = now, .looked = now};
}

void life_watch_end(void) {
    life.waiting = false;
    life.finished++;
}

void life_watch(LifeWatch *watch, double timeout, const char *what) {
    if (life.size < 2 || !(timeout > 0))
        return;
    double now = clock_seconds();
    double absent = now - watch->looked - own_pause * timeout;
    watch->looked = now;
    if (absent > 0) {
        watch->base += absent;
        watch->asked += absent;
    }
    if (!watch->open) {
        if (now - watch->base < ask_after * timeout)
            return;
        ask();
        watch->open = true;
        watch->asked = now;
        return;
    }
    if (all_answered()) {
        watch->open = false;
        watch->base = watch->asked;
        look_for_standstill(watch, now - watch->since, what);
        return;
    }
    int turn = life.rank < 4 ? life.rank : 4;
    if (now - watch->asked > (judge_after + judge_apart * turn) * timeout)
        name_silent(now - watch->since, what);
}
