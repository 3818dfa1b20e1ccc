// If this fails, what a rank reads, or what rank 0 needs to cut, grows with the square of the
// parts: many ranks wait for one file, or never start.
#include "graphs.h"
#include "write_shards.h"

enum { GRAPH_NODES = 4000, PARTS = 1000, DEGREE = 8 };

// Every node reads the next ones of a ring: few parts meet each other.
static Dataset ring_of_nodes(void) {
    Dataset d = {.nodes = GRAPH_NODES, .edges = GRAPH_NODES * DEGREE, .name = "ring"};
    d.offset = ALLOC(int64_t, GRAPH_NODES + 1, "test");
    d.target = ALLOC(int32_t, d.edges, "test");
    d.split = ALLOC(uint8_t, GRAPH_NODES, "test");
    for (int64_t i = 0; i < GRAPH_NODES; i++) {
        int64_t at = i * DEGREE,
                wrapped = i + DEGREE >= GRAPH_NODES ? i + DEGREE + 1 - GRAPH_NODES : 0;
        for (int64_t k = 0; k < wrapped; k++) // ascending
            d.target[at++] = (int32_t)k;
        for (int64_t k = 1; k <= DEGREE - wrapped; k++)
            d.target[at++] = (int32_t)(i + k);
        d.offset[i + 1] = at;
    }
    return d;
}

// Bytes that this process has read with read() and the like so far; mappings do not count.
static int64_t bytes_read(void) {
    char line[64];
    long long bytes = -1;
    FILE *file = fopen("/proc/self/io", "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    assert_int_equal(sscanf(line, "rchar: %lld", &bytes), 1);
    fclose(file);
    return bytes;
}

static int64_t size_of(const char *folder, const char *name) {
    const char *path = test_text("%s/%s", folder, name);
    assert_true(file_size(path) > 0);
    return file_size(path);
}

TEST(test_nothing_grows_with_the_square_of_the_parts) {
    OWNED(Dataset) d = ring_of_nodes();
    int32_t *part = TEST_ARRAY(int32_t, GRAPH_NODES);
    const char *folder = test_path("many");
    for (int32_t v = 0; v < GRAPH_NODES; v++)
        part[v] = v / (GRAPH_NODES / PARTS);
    size_t before = memory_in_use();
    assert_ok(test_write_shards(&d, part, PARTS, true, folder, &err));
    // a file is hashed with 1 MiB; edges the other way, order of rows, figures take some 600 KB;
    // two full matrices of messages would take 16 MB
    assert_true(memory_peak() - before < (size_t)3 << 20);
    assert_true(size_of(folder, "partition.json") < 4096);
    assert_true(size_of(folder, "partition.json") + size_of(folder, "ranks.jsonl") +
                    size_of(folder, "messages.safetensors") <
                PARTS * 1024);
    for (int p = 0; p < PARTS; p += 37) {
        CLEARED(shard_clear) Shard shard = {0};
        int64_t since = bytes_read();
        assert_ok(shard_open(&shard, folder, p, &err));
        assert_true(bytes_read() - since <= 64 << 10);
        assert_true(shard.map.bytes < 8192);
        assert_int_equal(shard.set[NODES].own, GRAPH_NODES / PARTS);
        assert_int_equal(shard_transposed(&shard, IN_EDGES)->remote, DEGREE);
        assert_int_equal(shard.relation[IN_EDGES].remote_round[PARTS - 1], DEGREE);
    }
}
