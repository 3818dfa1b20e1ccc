// ranks: 1 2 3 8
// If this failed, the link model would not be one: another line than the times lie on, times that
// are not above zero, or pairs that were not measured taken for links that cost nothing.
#include "cells.h"

static const int64_t sizes[][2] = {{1000, 4000}, {32768, 131072}, {40, 41}, {5000, 131072}};
enum { SIZES = sizeof sizes / sizeof *sizes };
static const double thetas[] = {1e-10, 8e-9, 1e-6}, gammas[] = {0, 2e-5, 1e-2};

TEST(lines_come_back) {
    for (int s = 0; s < SIZES; s++)
        for (int i = 0; i < 9; i++) {
            double theta = thetas[i / 3], gamma = gammas[i % 3];
            double small = theta * (double)sizes[s][0] + gamma;
            double large = theta * (double)sizes[s][1] + gamma;
            PairTime pair = link_fit(small, sizes[s][0], large, sizes[s][1]);
            double lost = large * 0x1p-50; // times are doubles; the slope divides what they lost
            double slack = lost / (double)(sizes[s][1] - sizes[s][0]);
            assert_near(pair.theta, theta, slack);
            assert_near(pair.gamma, gamma, lost + slack * (double)sizes[s][0]);
            assert_true(pair.bytes == (double)sizes[s][1]);
        }
}

static void assert_meets(PairTime pair, double large, int64_t bytes) {
    assert_true(pair.theta >= 1e-12 && isfinite(pair.theta));
    assert_true(pair.gamma >= 0 && isfinite(pair.gamma));
    double said = pair.theta * (double)bytes + pair.gamma;
    assert_near(said, large, 1e-12 * large + 1e-12 * (double)bytes); // of doubles; the least theta
}

// Noise up to nine times a message's time, on either of the two.
TEST(noise_makes_no_link_free) {
    RandomKey key = random_key(1, RANDOM_GENERATE, 0, 0, 0);
    int64_t flat = 0, below = 0; // cases that have no line, or one that begins below zero
    for (int64_t i = 0; i < 20000; i++) {
        const int64_t *size = sizes[i % SIZES];
        double theta = thetas[i / SIZES % 3], gamma = gammas[i / SIZES / 3 % 3], seconds[2];
        for (int k = 0; k < 2; k++) {
            double noise = random_uniform32(key, i, 0, k);
            seconds[k] = (theta * (double)size[k] + gamma) * (1 + 9 * pow(noise, 4));
        }
        assert_meets(link_fit(seconds[0], size[0], seconds[1], size[1]), seconds[1], size[1]);
        flat += seconds[1] <= seconds[0];
        below += seconds[1] / (double)size[1] > seconds[0] / (double)size[0];
    }
    assert_true(flat > 100 && below > 100);
    assert_meets(link_fit(0, 1000, 0, 4000), 0, 4000);          // a clock that stood still
    assert_meets(link_fit(3e-5, 4000, 2e-5, 4000), 2e-5, 4000); // one size
    assert_meets(link_fit(0, 0, 0, 0), 0, 0);                   // no message
}

TEST(unknown_links_are_ordinary) {
    PairTime all[5] = {{1e-12, 0, 0}, {2, 10, 8000}, {5, 50, 1e6}, {1000, 7, 100}, {4, 30, 4096}};
    link_fill_in(all, 5);
    for (int i = 0; i < 4; i += 3)
        assert_true(all[i].theta == 4 && all[i].gamma == 30);
    assert_true(all[1].theta == 2 && all[2].theta == 5 && all[4].gamma == 30);
    PairTime tiny[2] = {{3, 1, 40}, {1e-12, 0, 0}}; // nothing better is known
    link_fill_in(tiny, 2);
    assert_true(tiny[0].theta == 3 && tiny[1].theta == 1e-12);
}

static const double *times; // of the next rounds

static double next_time(Channel *channel, int round, int64_t sent, int64_t received) {
    (void)channel, (void)round, (void)sent, (void)received;
    return *times++;
}

// Whichever of the times is disturbed.
TEST(the_shortest_time_counts) {
    CLEARED(fixture_clear) AssignerFixture fixture = {0};
    static const double first[4] = {3, 9, 9, 9}, last[4] = {9, 3, 3, 3};
    fixture_init(&fixture, &scenes[0], 8);
    for (int g = 0; g + 1 < test_comm.size; g++)
        for (int k = 0; k < 2; k++) {
            int64_t bytes;
            times = k == 0 ? first : last;
            assert_true(link_time_round(next_time, fixture.channel[0], g, 8, 100, &bytes) == 3);
            assert_true(bytes <= 100);
        }
}

TEST(links_are_measured) {
    double slowest = 0;
    for (int s = 0; s < SCENES; s++) {
        FIXTURE(&scenes[s], 8);
        config.quantization.link = (ConfigDoubles){0};
        CLEARED(assigner_drop) Assigner *a = assigner_of(&fixture, &config);
        epochs_of(&fixture, a, 1, PERIOD + DELAY);
        const Assignment *assignment = epoch_of(&fixture, a, PERIOD + 1 + DELAY);
        assert_non_null(assignment);
        normalizers_agree(&fixture, &config.quantization.bits);
        int pairs = test_comm.rank == 0 ? test_comm.size * (test_comm.size - 1) : 0;
        for (int i = 0; i < pairs; i++) {
            slowest = fmax(slowest, a->theta[i]);
            assert_true(a->theta[i] > 0 && isfinite(a->theta[i]));
            assert_true(a->gamma[i] >= 0 && isfinite(a->gamma[i]));
        }
        if (pairs > 0) {
            assert_true(assignment->byte_seconds[0] > 0);
            assert_true(assignment->byte_seconds[0] <= assignment->byte_seconds[1]);
            assert_true(assignment->byte_seconds[1] <= assignment->byte_seconds[2]);
            assert_true(assignment->message_seconds[0] <= assignment->message_seconds[2]);
        }
    }
    if (test_comm.rank == 0 && test_comm.size > 1)
        assert_true(slowest > 1e-11); // no memory moves messages of 128 KiB at 100 GB/s
}

TEST(pinned_links_are_those_of_all_pairs) {
    FIXTURE(&scenes[0], 8);
    config.quantization.link = (ConfigDoubles){.count = 2, .value = {3e-9, 2e-5}};
    CLEARED(assigner_drop) Assigner *a = assigner_of(&fixture, &config);
    link_measure(a);
    int pairs = test_comm.rank == 0 ? test_comm.size * (test_comm.size - 1) : 0;
    for (int i = 0; i < pairs; i++)
        assert_true(a->theta[i] == 3e-9 && a->gamma[i] == 2e-5);
}

// Every ordered pair has a time of its own, which names it: nobody's is another's, or transposed.
TEST(pairs_keep_their_own_times) {
    for (int size = 1; size <= 5; size++) {
        Comm comm = {.size = size};
        PairTime all[5 * 4];
        double theta[5 * 4], gamma[5 * 4];
        Assigner a = {.comm = &comm, .theta = theta, .gamma = gamma};
        for (int receiver = 0; receiver < size; receiver++)
            for (int g = 0; g + 1 < size; g++) {
                int name = 100 * ring_sender(receiver, g, size) + receiver;
                all[receiver * (size - 1) + g] = (PairTime){name, 0.5 + name, 0};
            }
        link_keep(&a, all);
        for (int source = 0; source < size; source++)
            for (int g = 0; g + 1 < size; g++) {
                int name = 100 * source + ring_reader(source, g, size);
                assert_true(theta[source * (size - 1) + g] == name);
                assert_true(gamma[source * (size - 1) + g] == 0.5 + name);
            }
    }
}
