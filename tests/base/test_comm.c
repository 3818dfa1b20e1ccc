// ranks: 1 2 3 4 8
// If this failed, ranks would exchange wrong bytes, sums would depend on the rank that looks, or an
// error on one rank would leave the others waiting.

#include "support.h"

#include "fringe/base/mpi.h"

#include <time.h>

static int rank(void) { return test_comm.rank; }
static int size(void) { return test_comm.size; }

// What byte i of the message from a to b must be.
static unsigned char payload(int a, int b, size_t i) {
    return (unsigned char)((size_t)(7 * a + 31 * b) + i * 13 + (i >> 8));
}

TEST(the_barrier_lets_nobody_through_early) {
    struct timespec nap = {.tv_nsec = 50000000};
    for (int late = 0; late < size(); late++) {
        if (rank() == late)
            nanosleep(&nap, NULL);
        double ready = clock_seconds(); // clocks of one machine agree
        comm_barrier(&test_comm);
        double left = clock_seconds();
        assert_true(comm_max_double(&test_comm, ready) <= left);
    }
}

TEST(who_awaits_a_rank_leaves_it_the_cores) {
    struct timespec nap = {.tv_nsec = 100000000};
    for (int root = 0; root < size(); root += 2) {
        comm_barrier(&test_comm);
        clock_t worked = clock();
        if (rank() == root)
            nanosleep(&nap, NULL);
        double ready = clock_seconds();
        comm_await(&test_comm, root);
        double left = clock_seconds();
        worked = clock() - worked;
        assert_true(worked < CLOCKS_PER_SEC / 25); // of a tenth of a second
        comm_broadcast(&test_comm, &ready, sizeof ready, root);
        assert_true(ready <= left);
    }
}

TEST(a_broadcast_reaches_all_from_any_root) {
    static const size_t sizes[] = {0, 1, 1000, 300001};
    for (int root = 0; root < size(); root++)
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            unsigned char *data = TEST_ARRAY(unsigned char, sizes[s]);
            for (size_t i = 0; rank() == root && i < sizes[s]; i++)
                data[i] = payload(root, 0, i);
            comm_broadcast(&test_comm, data, sizes[s], root);
            for (size_t i = 0; i < sizes[s]; i++)
                assert_int_equal(data[i], payload(root, 0, i));
        }
}

TEST(a_gather_puts_every_rank_in_its_place) {
    static const size_t sizes[] = {0, 1, 24, 65536, 65537, 200000};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t bytes = sizes[s];
        unsigned char *one = TEST_ARRAY(unsigned char, bytes);
        unsigned char *all = TEST_ARRAY(unsigned char, bytes *(size_t)size());
        for (size_t i = 0; i < bytes; i++)
            one[i] = payload(rank(), 0, i);
        comm_all_gather(&test_comm, one, all, bytes);
        for (int r = 0; r < size(); r++)
            for (size_t i = 0; i < bytes; i++)
                assert_int_equal(all[(size_t)r * bytes + i], payload(r, 0, i));
    }
}

TEST(all_to_all_transposes) {
    static const size_t sizes[] = {0, 1, 8, 65537};
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
        size_t bytes = sizes[s];
        unsigned char *from = TEST_ARRAY(unsigned char, bytes *(size_t)size());
        unsigned char *to = TEST_ARRAY(unsigned char, bytes *(size_t)size());
        for (int r = 0; r < size(); r++)
            for (size_t i = 0; i < bytes; i++)
                from[(size_t)r * bytes + i] = payload(rank(), r, i);
        comm_all_to_all(&test_comm, from, to, bytes);
        for (int r = 0; r < size(); r++)
            for (size_t i = 0; i < bytes; i++)
                assert_int_equal(to[(size_t)r * bytes + i], payload(r, rank(), i));
    }
}

// Bytes from a to b: some pairs have nothing to say.
static int64_t pair_bytes(int a, int b) { return (a + 2 * b) % 3 == 0 ? 0 : 1000 * a + 17 * b + 5; }

TEST(pieces_of_different_sizes_arrive_whole) {
    int64_t from_offset[16] = {0}, to_offset[16] = {0};
    for (int r = 0; r < size(); r++) {
        from_offset[r + 1] = from_offset[r] + pair_bytes(rank(), r);
        to_offset[r + 1] = to_offset[r] + pair_bytes(r, rank());
    }
    unsigned char *from = TEST_ARRAY(unsigned char, from_offset[size()]);
    unsigned char *to = TEST_ARRAY(unsigned char, to_offset[size()]);
    for (int r = 0; r < size(); r++)
        for (int64_t i = 0; i < pair_bytes(rank(), r); i++)
            from[from_offset[r] + i] = payload(rank(), r, (size_t)i);
    comm_all_to_all_v(&test_comm, from, from_offset, to, to_offset);
    for (int r = 0; r < size(); r++)
        for (int64_t i = 0; i < pair_bytes(r, rank()); i++)
            assert_int_equal(to[to_offset[r] + i], payload(r, rank(), (size_t)i));
}

TEST(nobody_has_anything_for_anybody) {
    int64_t offset[16] = {0};
    comm_all_to_all_v(&test_comm, NULL, offset, NULL, offset);
    comm_gather_v(&test_comm, NULL, NULL, offset);
}

TEST(rank_0_gathers_pieces) {
    int64_t offset[16] = {0};
    for (int r = 0; r < size(); r++)
        offset[r + 1] = offset[r] + (r % 3 == 1 ? 0 : 5000 * r + 3);
    size_t own = (size_t)(offset[rank() + 1] - offset[rank()]);
    unsigned char *piece = TEST_ARRAY(unsigned char, own);
    for (size_t i = 0; i < own; i++)
        piece[i] = payload(rank(), 3, i);
    unsigned char *all = rank() == 0 ? TEST_ARRAY(unsigned char, offset[size()]) : NULL;
    comm_gather_v(&test_comm, piece, all, offset);
    for (int r = 0; rank() == 0 && r < size(); r++)
        for (int64_t i = offset[r]; i < offset[r + 1]; i++)
            assert_int_equal(all[i], payload(r, 3, (size_t)(i - offset[r])));
}

// A value whose sum depends on the order: the sum in rank order is computed here by definition.
static double awkward(int r, int i) {
    static const double large[3] = {1e16, -1e16, 0.1};
    return large[r % 3] * (i + 1) + r;
}

static void check_sums(int count) {
    double *value = TEST_ARRAY(double, count);
    int64_t *whole = TEST_ARRAY(int64_t, count);
    for (int i = 0; i < count; i++) {
        value[i] = awkward(rank(), i);
        whole[i] = ((int64_t)1 << 40) * rank() + i;
    }
    comm_sum_double(&test_comm, value, count);
    comm_sum_int64(&test_comm, whole, count);
    for (int i = 0; i < count; i++) {
        double expected = awkward(0, i);
        for (int r = 1; r < size(); r++)
            expected += awkward(r, i);
        assert_true(value[i] == expected);
        int64_t n = size();
        assert_true(whole[i] == ((int64_t)1 << 40) * (n * (n - 1) / 2) + n * i);
    }
}

TEST(sums_are_taken_in_rank_order) {
    static const int counts[] = {0, 1, 63, 64, 65, 150, 512, 513, 5000}; // gathered, and spread
    for (int k = 0; k < 9; k++)
        check_sums(counts[k]);
    assert_true(comm_max_double(&test_comm, -10.0 - rank()) == -10.0);
    assert_true(comm_max_double(&test_comm, (double)rank()) == size() - 1);
}

static int64_t messages_sent; // by this rank
int MPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request *request) {
    messages_sent++;
    return PMPI_Isend(data, count, type, to, tag, comm, request);
}

// Metrics of 100,000 classes are 1.2 million counts: 64 of each rank at a time, not 64 of all.
TEST(many_sums_take_few_messages) {
    enum { COUNT = 64000 };
    static int64_t value[COUNT];
    messages_sent = 0;
    comm_sum_int64(&test_comm, value, COUNT);
    int64_t others = size() - 1, blocks = COUNT / 64 / size() + 1;
    assert_true(messages_sent <= 2 * others * (blocks + 1));
}

TEST(ranks_agree_on_the_lowest_error) {
    Error err = {0};
    assert_true(comm_agree(&test_comm, &err));
    assert_int_equal(err.code, 0);
    int last = size() - 1; // one rank only
    if (rank() == last)
        error_set(&err, EXIT_DATA, "cora.npz: bad");
    assert_false(comm_agree(&test_comm, &err));
    assert_int_equal(err.code, EXIT_DATA);
    const char *expected = test_text("rank %d: cora.npz: bad", last);
    assert_string_equal(err.text, size() == 1 ? "cora.npz: bad" : expected);

    Error all = {0}; // everybody: the words of rank 0, without its number
    error_set(&all, rank() == 0 ? EXIT_CONFIG : EXIT_DATA, "from %d", rank());
    assert_false(comm_agree(&test_comm, &all));
    assert_int_equal(all.code, EXIT_CONFIG);
    assert_string_equal(all.text, "from 0");
}

TEST(two_sets_of_tags_do_not_mix) {
    Comm other;
    comm_duplicate(&other, &test_comm);
    int to = (rank() + 1) % size(), from = (rank() + size() - 1) % size();
    int sent[2] = {100 + rank(), 200 + rank()}, received[2] = {0, 0};
    MPI_Request request[4];
    MPI_Irecv(&received[1], 1, MPI_INT, from, 5, comm_mpi(&other), &request[0]);
    MPI_Isend(&sent[0], 1, MPI_INT, to, 5, comm_mpi(&test_comm), &request[1]);
    MPI_Isend(&sent[1], 1, MPI_INT, to, 5, comm_mpi(&other), &request[2]);
    MPI_Irecv(&received[0], 1, MPI_INT, from, 5, comm_mpi(&test_comm), &request[3]);
    comm_wait(&test_comm, request, 4, "four messages");
    assert_int_equal(received[0], 100 + from);
    assert_int_equal(received[1], 200 + from);
    comm_release(&other);
}

static void nap_for(void *context) {
    struct timespec nap = {.tv_nsec = *(long *)context};
    nanosleep(&nap, NULL);
    *(long *)context = -1;
}

// Rank 0 is away for longer than the timeout, but answers: through comm_on_helper, or by beats.
TEST(a_busy_rank_that_answers_is_waited_for) {
    Comm short_patience = test_comm;
    comm_set_timeout(&short_patience, 1.5);
    long nanoseconds = 900000000;
    struct timespec moment = {.tv_nsec = 1000000};
    double begin = clock_seconds();
    for (int i = 0; rank() == 0 && size() % 2 == 0 && i < 2; i++, nanoseconds = 900000000) {
        comm_on_helper(&short_patience, nap_for, &nanoseconds);
        assert_int_equal(nanoseconds, -1);
    }
    while (rank() == 0 && size() % 2 == 1 && size() > 1 && clock_seconds() - begin < 1.8) {
        nanosleep(&moment, NULL);
        comm_beat(&short_patience);
    }
    comm_barrier(&short_patience);
    if (size() > 1)
        assert_true(clock_seconds() - begin > 1.7);
}

static void count_or_fail(void *context, Error *err) {
    if (++*(int *)context == 2)
        error_set(err, EXIT_DATA, "the second time it fails");
}

// Rank 0 alone works; all learn that it failed; who holds an error does not let it begin.
TEST(all_learn_what_rank_0_did) {
    Error err = {0};
    int times = 0;
    assert_true(comm_on_root(&test_comm, count_or_fail, &times, &err));
    assert_int_equal(times, rank() == 0);
    assert_int_equal(err.code, 0);
    assert_false(comm_on_root(&test_comm, count_or_fail, &times, &err));
    assert_int_equal(times, rank() == 0 ? 2 : 0);
    assert_int_equal(err.code, EXIT_DATA);
    assert_string_equal(err.text, "the second time it fails");
    assert_false(comm_on_root(&test_comm, count_or_fail, &times, &err));
    assert_int_equal(times, rank() == 0 ? 2 : 0);
}

TEST(a_rank_of_its_own_needs_no_messages) {
    Comm self, copy;
    comm_self(&self);
    comm_duplicate(&copy, &self);
    double value = 3;
    int64_t offset[2] = {0, 4};
    int data = 42, out = 0;
    comm_barrier(&copy);
    comm_broadcast(&copy, &data, sizeof data, 0);
    comm_sum_double(&copy, &value, 1);
    comm_all_gather(&copy, &data, &out, sizeof data);
    assert_int_equal(out, 42);
    out = 0;
    comm_all_to_all_v(&copy, &data, offset, &out, offset);
    assert_int_equal(out, 42);
    out = 0;
    comm_gather_v(&copy, &data, &out, offset);
    assert_int_equal(out, 42);
    assert_true(value == 3 && comm_max_double(&copy, 2.5) == 2.5);
    assert_true(comm_agree(&copy, &(Error){0}));
    comm_release(&copy);
    comm_stop(&self);
}

TEST(threads_fit_the_cores) {
    int threads = threads_set(0, test_comm.node_size);
    assert_in_range(threads, 1, threads_allowed());
    if (test_comm.node_size > threads_on_node())
        assert_int_equal(threads, 1);
    assert_int_equal(threads_set(3, test_comm.node_size), 3);
    assert_int_equal(test_comm.node_size, size()); // tests run on one machine
    assert_int_equal(test_comm.node_rank, rank());
}
