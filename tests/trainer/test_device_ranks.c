// ranks: 4
// If this failed, ranks that a launcher shows one device each would believe that all share it, and
// refuse a training that fits; or ranks that do share one would take its memory several times. Or
// ranks of which one has no AMX would add up products in different orders.
#include "../device.h"
#include "../support.h"

#include "trainer/internal.h"

// The emulated device shows each rank one device, and its number is what `of` says of the rank.
static void show(const int of[4], int ranks) {
    static size_t whole;
    BackendStart how = {.node_rank = test_comm.node_rank, .node_size = test_comm.node_size};
    char number[16];
    snprintf(number, sizeof number, "%d", of[test_comm.rank]);
    setenv("EMULATED_DEVICE", number, 1);
    const Backend *device = assert_ok(emulated_device(&err));
    if (whole == 0)
        whole = device->device_free();
    assert_ok(device->start(&how, &err));
    assert_in_range(device->device_free(), whole / 4, whole / 4 + 1); // not known: all share it
    how.device_ranks = device_ranks(device, &test_comm);
    assert_int_equal(how.device_ranks, ranks);
    assert_ok(device->start(&how, &err));
    assert_int_equal(device->device_free(), whole / (size_t)ranks);
}

TEST(ranks_count_who_shares_their_device) {
    ok_or_skip(emulated_device(&err));
    show((int[]){5, 6, 7, 8}, 1);
    show((int[]){5, 5, 5, 5}, 4);
    show((int[]){9, 2, 9, 2}, 2);
    show((int[]){3, 3, 1, 3}, test_comm.rank == 2 ? 1 : 3);
}

TEST(a_backend_in_the_memory_of_the_host_has_no_device) {
    Error err = {0};
    const Backend *some = test_comm.rank == 0 ? NULL : backend_find("cpu", &err);
    assert_int_equal(device_ranks(some, &test_comm), 0);
}

// What was chosen does not depend on the caller's words.
TEST(a_backend_keeps_what_was_chosen) {
    char word[] = "cusparse";
    const Backend *device = ok_or_skip(emulated_device(&err));
    assert_ok(device->start(&(BackendStart){.spmm = word}, &err));
    word[0] = '?';
    assert_string_equal(device->spmm(), "cusparse");
}

// Ranks that start with different orders, as on hosts with AMX and without, take the one of all.
static void ranks_take(const char *const of[4], const char *want) {
    const Backend *cpu = backend_find("cpu", &(Error){0});
    BackendStart how = {.precision = "bf16", .sums = of[test_comm.rank]};
    assert_ok(cpu->start(&how, &err));
    assert_ok(agree_on_sums(cpu, &how, &test_comm, &err));
    assert_string_equal(cpu->sums(), want);
    assert_string_equal(how.sums, want);
    assert_ok(cpu->start(&(BackendStart){0}, &err));
}

TEST(ranks_add_up_in_one_order) {
    ranks_take((const char *[]){"tiles", "tiles", "tiles", "tiles"}, "tiles");
    ranks_take((const char *[]){"tiles", "tiles", "pairs", "tiles"}, "pairs");
    ranks_take((const char *[]){"pairs", "pairs", "pairs", "pairs"}, "pairs");
}
