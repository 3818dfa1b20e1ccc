// One distributed aggregate Y = L·A·R·X with the messages that it needs.
//
// The exchange is told to its schedule as two pieces of work: `own` needs no message and hides it,
// `halo` waits for it. All schedules do the same work on the same rows, so they give the same bits,
// unless a schedule hands in other rows (Schedule.changes_result).
#include "internal.h"

typedef struct Running { // the propagation that is running
    Model *m;
    const PropagationCall *call;
    SparseOperator *op;
} Running;

const Poll *gradient_poll(const Model *m) {
    return m->gradient_poll.function != NULL ? &m->gradient_poll : NULL;
}

// What an exchange moves, and the sums of gradients beside it.
typedef struct Both {
    const Poll *exchange, *gradients;
} Both;

static void poll_both(void *context) {
    const Both *both = context;
    poll_call(both->exchange);
    poll_call(both->gradients);
}

// The diagonal ends with the sources: on the way back there are more rows than gradients.
static void aggregate_range(const Running *run, Range range, const Poll *poll) {
    const SparseOperator *op = run->op;
    const Backend *b = run->m->parts.backend;
    Rows out = run->call->out;
    int64_t middle = op->block.pattern->plan.sources;
    middle = middle < range.begin ? range.begin : middle > range.end ? range.end : middle;
    if (range.begin < middle)
        b->aggregate_rows(op->aggregate, out, (Range){range.begin, middle}, op->block.self,
                          op->left_own, poll);
    if (middle < range.end)
        b->aggregate_rows(op->aggregate, out, (Range){middle, range.end}, false, op->left_own,
                          poll);
}

static void aggregate_own(const Running *run, const Range *range, int ranges, const Poll *poll) {
    stream_timer_begin(run->m->timer, STREAM_COMPUTE, TIMER_AGGREGATE_OWN);
    for (int i = 0; i < ranges; i++)
        aggregate_range(run, range[i], poll);
    stream_timer_end(run->m->timer);
}

static void finish(const Running *run, const Range *range, int ranges, const Poll *poll) {
    for (int i = 0; run->call->finish != NULL && i < ranges; i++)
        run->call->finish(run->call->context, range[i], poll);
}

// Rows that are complete are finished only when all own sums are made: finishing may overwrite rows
// that those sums read.
static void run_own(void *context, OwnPart part, const Poll *exchange) {
    const Running *run = context;
    Model *m = run->m;
    Both both = {exchange, gradient_poll(m)};
    const Poll *poll = &(Poll){poll_both, &both};
    const Pattern *pattern = run->op->block.pattern;
    if (part != OWN_MARGINAL) {
        stream_timer_begin(m->timer, STREAM_COMPUTE, TIMER_AGGREGATE_OWN);
        m->parts.backend->aggregate_prepare(run->op->aggregate, run->call->in, run->op->right,
                                            poll);
        stream_timer_end(m->timer);
    }
    if (part == OWN_CENTRAL) {
        aggregate_own(run, pattern->central, pattern->range_count, poll);
        return;
    }
    if (part == OWN_MARGINAL)
        aggregate_own(run, run->op->rest, run->op->rest_count, poll);
    else
        aggregate_own(run, &(Range){0, pattern->rows}, 1, poll);
    finish(run, pattern->central, pattern->range_count, poll);
    if (run->call->beside != NULL)
        run->call->beside(run->call->context, poll);
}

// The halo rows of groups [begin, end), from the received ones.
static Rows arrived(const Running *run, Rows received, int begin, int end, const Poll *poll) {
    const PropagationCall *call = run->call;
    const int64_t *offset = run->op->block.pattern->plan.receive_offset;
    if (call->arrive == NULL)
        return received;
    Rows halo = call->over->posted.at != NULL ? call->over->posted : received;
    if (offset[begin] < offset[end])
        call->arrive(call->context, halo, received, (Range){offset[begin], offset[end]}, poll);
    return halo;
}

static void run_halo(void *context, Rows received, int begin, int end, bool last,
                     const Poll *exchange) {
    const Running *run = context;
    Model *m = run->m;
    Both both = {exchange, gradient_poll(m)};
    const Poll *poll = &(Poll){poll_both, &both};
    const SparseOperator *op = run->op;
    const HaloPlan *plan = &op->block.pattern->plan;
    Rows halo = arrived(run, received, begin, end, poll);
    stream_timer_begin(m->timer, STREAM_COMPUTE, TIMER_AGGREGATE_HALO);
    if (begin < end || last)
        m->parts.backend->aggregate_halo(op->halo, run->call->out, halo, plan->receive_offset[end],
                                         last ? op->left : NULL, poll);
    stream_timer_end(m->timer);
    if (last)
        finish(run, op->rest, op->rest_count, poll);
}

// Rows before post, as they are; or right times `in`, and the partial sums that others read, before
// anything is sent.
static RowSource sent_rows(const Running *run) {
    const SparseOperator *op = run->op;
    const Backend *b = run->m->parts.backend;
    Rows in = run->call->in, partials = run->call->over->partials;
    RowSource rows = {.x = in, .right = op->right, .sums = partials};
    if (run->call->arrive != NULL)
        rows = (RowSource){.x = run->call->before, .sums = partials};
    if (partials.count == 0)
        return rows;
    stream_timer_begin(run->m->timer, STREAM_COMPUTE, TIMER_AGGREGATE_OWN);
    b->aggregate_prepare(op->partial, in, op->right, NULL);
    b->aggregate_rows(op->partial, partials, (Range){0, partials.count}, false, NULL, NULL);
    stream_timer_end(run->m->timer);
    return rows;
}

void propagate(Model *m, const PropagationCall *call) {
    Running run = {m, call, call->over->op};
    Channel *channel = call->over->channel;
    m->parts.backend->aggregate_halo_begin(run.op->halo);
    if (channel == NULL) { // the halo rows are here already
        run_own(&run, OWN_ALL, NULL);
        run_halo(&run, call->received, 0, run.op->block.pattern->plan.size - 1, true, NULL);
        return;
    }
    const Schedule *schedule = m->training ? m->parts.schedule : m->blocking;
    RowSource rows = sent_rows(&run);
    schedule->run(channel, &rows,
                  (ExchangeContext){.seed = m->seed, .epoch = m->epoch, .exact = !m->training},
                  &(ExchangeWork){run_own, run_halo, &run});
}
