// ranks: 1 2 3 4 8
// If this failed, what ranks tell each other about the rows of a list (widths, sensitivities, ids)
// would belong to other rows.
#include "small_graph.h"
#include "support.h"

static const TestGraphKind kinds[] = {
    {.nodes = 60, .degree = 4, .features = 3, .classes = 3},
    {.nodes = 150, .degree = 9, .directed = true, .features = 1, .classes = 2},
};

static void lists_go_there_and_back(const HaloPlan *p, size_t bytes) {
    int64_t rows = p->send_offset[p->size - 1];
    unsigned char *sent = TEST_ARRAY(unsigned char, rows *(int64_t)bytes);
    unsigned char *back = TEST_ARRAY(unsigned char, rows *(int64_t)bytes);
    unsigned char *read = TEST_ARRAY(unsigned char, p->halo_count *(int64_t)bytes);
    for (int64_t k = 0; k < rows; k++)
        memset(sent + (size_t)k * bytes, (int)p->source_id[p->send_row[k]], bytes);
    ring_to_readers(p, sent, read, bytes);
    for (int64_t h = 0; h < p->halo_count; h++)
        for (size_t j = 0; j < bytes; j++)
            assert_int_equal(read[(size_t)h * bytes + j], p->halo_id[h]);
    for (size_t j = 0; j < (size_t)rows * bytes; j++)
        sent[j] = (unsigned char)(j * 31 + (size_t)p->rank);
    ring_to_readers(p, sent, read, bytes);
    ring_to_owners(p, read, back, bytes);
    assert_memory_equal(sent, back, (size_t)rows * bytes);
}

TEST(lists_are_inverse_and_follow_global_ids) {
    static const size_t sizes[] = {1, 4, 8, 20};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        OWNED(TestGraph) graph = test_graph(kinds[k], 42, &test_comm);
        for (int b = 0; b < 4; b++) {
            lists_go_there_and_back(&graph.forward->plan, sizes[b]);
            lists_go_there_and_back(&graph.backward->plan, sizes[b]);
        }
    }
}

TEST(owners_learn_their_offsets) {
    OWNED(TestGraph) graph = test_graph(kinds[1], 7, &test_comm);
    const HaloPlan *p = &graph.forward->plan;
    FREED int64_t *offset = ring_offsets_at_owners(&test_comm, p->receive_offset);
    assert_memory_equal(offset, p->send_offset, (size_t)p->size * sizeof *offset);
}
