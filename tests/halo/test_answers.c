// ranks: 2
// If this fails, a rank that reads far more edges than the others is taken for one that hangs while
// it finds out what to ask for, or takes more memory for that than was foreseen.
#include "support.h"

#include "fringe/halo.h"

enum { ROWS = UNDER_SANITIZERS(150000, 1000000), DEGREE = 3 };

// All edges lead from rank 0 to rank 1, at random: no cover is found at a glance.
static Shard shard_of(const Comm *comm, int64_t *round) {
    bool reads = comm->rank == 1;
    int64_t edges = reads ? (int64_t)ROWS * DEGREE : 0, remote = reads ? ROWS : 0;
    int64_t *offset = TEST_ARRAY(int64_t, ROWS + 1), *gid = TEST_ARRAY(int64_t, ROWS);
    int64_t *remote_gid = TEST_ARRAY(int64_t, remote);
    int64_t *reach = TEST_ARRAY(int64_t, SHARD_HOPS + 1);
    int32_t *column = TEST_ARRAY(int32_t, edges), *row = TEST_ARRAY(int32_t, remote);
    RandomKey key = random_key(5, RANDOM_GENERATE, 0, 0, 0);
    for (int64_t i = 0; i < ROWS; i++) {
        gid[i] = 2 * i + comm->rank;
        for (int64_t k = 0; reads && k < DEGREE; k++) { // ascending: one of each third
            double u = random_uniform32(key, i, 0, k);
            column[DEGREE * i + k] = (int32_t)(ROWS + ((double)k + u) * (ROWS / DEGREE));
        }
        offset[i + 1] = reads ? DEGREE * (i + 1) : 0;
    }
    for (int64_t h = 0; h < remote; h++) {
        row[h] = (int32_t)h;
        remote_gid[h] = 2 * h;
    }
    round[1] = remote;
    return (Shard){.part = comm->rank,
                   .parts = 2,
                   .sets = 1,
                   .relations = 2,
                   .set = {{.total = 2 * ROWS, .own = ROWS, .reach = reach, .gid = gid}},
                   .relation = {{.transpose = 1,
                                 .edges = edges,
                                 .offset = offset,
                                 .column = column,
                                 .remote = remote,
                                 .remote_round = round,
                                 .remote_row = row,
                                 .remote_gid = remote_gid}}};
}

static const PatternKind kind = {
    .target_hops = HOPS_ALL, .source_hops = HOPS_ALL, .cover = COVER_MIN};

// Seconds that it takes, of the slower rank.
static double make(const Shard *shard, const Comm *comm) {
    double since = clock_seconds();
    pattern_free(pattern_new(shard, &kind, NULL, comm));
    return comm_max_double(&test_comm, clock_seconds() - since);
}

// A third of the time that the work takes is all that a rank may be silent.
TEST(the_rank_that_looks_across_answers) {
    int64_t round[2] = {0};
    Comm comm = test_comm;
    Shard shard = shard_of(&comm, round);
    size_t before = memory_in_use();
    double seconds = make(&shard, &comm);
    double most = (double)(memory_peak() - before),
           bound = (double)pattern_bound(&shard, &kind, false).most;
    if (comm.rank == 1 && (bound < most || bound > 1.5 * most))
        fail_msg("%.0f bytes were foreseen, and %.0f taken", bound, most);
    comm_set_timeout(&comm, seconds / 3);
    if (UNDER_SANITIZERS(false, true)) // of fewer rows a third is too short a time
        make(&shard, &comm);
}
