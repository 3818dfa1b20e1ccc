// The rows of all nodes, written by rank 0 as predict writes them: bench/data/predict_rows.sh.
//
// The bar: from the moment a rank holds its own rows, what any rank has in use is at most 1.2 times
// these rows. The file is read again and has the rows in the order of the nodes.
#include "bench.h"
#include "fringe/npy.h"
#include "fringe/partition.h"

typedef struct Rows {
    int64_t nodes, columns, own;
    int64_t *gid; // [own]
    float *x;     // [own, columns]
} Rows;

static float value_of(int64_t gid, int64_t column) { return (float)(gid % 65536 + column); }

// A node's owner is random; a rank's rows descend, as no order may be relied on.
static void make_rows(Rows *r, const Comm *comm) {
    for (int64_t i = 0; i < r->nodes; i++)
        r->own += bench_mixed((uint64_t)i) % (uint64_t)comm->size == (uint64_t)comm->rank;
    r->gid = ALLOC(int64_t, r->own, "nodes of a rank");
    r->x = ALLOC(float, r->own * r->columns, "rows of a rank");
    int64_t row = r->own;
    for (int64_t i = 0; i < r->nodes; i++)
        if (bench_mixed((uint64_t)i) % (uint64_t)comm->size == (uint64_t)comm->rank) {
            r->gid[--row] = i;
            for (int64_t k = 0; k < r->columns; k++)
                r->x[row * r->columns + k] = value_of(i, k);
        }
}

typedef struct Target {
    FileWriter writer;
    size_t row_bytes;
} Target;

static bool take(void *context, int64_t first, int64_t rows, const void *row, Error *err) {
    Target *target = context;
    (void)first;
    return file_writer_put(&target->writer, row, memory_product(rows, target->row_bytes), err);
}

// Seconds of writing.
static double write_rows(const Rows *r, const Comm *comm, const char *path) {
    Shard shard = {0};
    Target target = {.row_bytes = (size_t)r->columns * sizeof(float)};
    Error err = {0};
    shard.set[NODES].own = r->own;
    shard.set[NODES].total = r->nodes;
    shard.set[NODES].gid = r->gid;
    double begin = clock_seconds();
    if (comm->rank == 0)
        npy_begin(&target.writer, path, "<f4", 2, (int64_t[]){r->nodes, r->columns}, &err);
    shard_gather_blocks(&shard, comm, r->x, target.row_bytes, take, &target, &err);
    if (comm->rank == 0)
        file_writer_take_place(&target.writer, err.code == 0, &err);
    CHECK(err.code == 0, (ExitCode)err.code, "%s", err.text);
    return clock_seconds() - begin;
}

static void check_file(const Rows *r, const char *path) {
    FILE *file = fopen(path, "rb");
    FREED float *row = ALLOC(float, r->columns, "a row");
    CHECK(file != NULL && fseek(file, (long)(-r->nodes * r->columns * 4), SEEK_END) == 0, EXIT_IO,
          "%s is not there", path);
    for (int64_t i = 0; i < r->nodes; i++) {
        CHECK(fread(row, sizeof *row, (size_t)r->columns, file) == (size_t)r->columns, EXIT_IO,
              "%s is short", path);
        for (int64_t k = 0; k < r->columns; k++)
            CHECK(row[k] == value_of(i, k), EXIT_BUG, "row %lld is another one", (long long)i);
    }
    fclose(file);
}

BENCH(predict_rows) {
    char path[PATH_BYTES];
    path_join(path, sizeof path, bench_first("bench/run.sh predict_rows runs this"), "scores.npy");
    Rows rows = {.nodes = bench_option("--nodes", 2000000),
                 .columns = bench_option("--columns", 256)};
    const Comm *comm = bench_ranks();
    make_rows(&rows, comm);
    double own = (double)rows.own * (double)rows.columns * sizeof(float);
    double seconds = write_rows(&rows, comm, path);
    double ratio = comm_max_double(comm, (double)(memory_peak() - (size_t)rows.own * 8) / own);
    if (comm->rank == 0) {
        check_file(&rows, path);
        bench_at_most(ratio * own / (1 << 20), "MiB", 1.2, "its own rows", own / (1 << 20),
                      "in use while rows are written, largest rank");
        bench_value((double)rows.nodes * (double)rows.columns * 4 / 1e6 / seconds, "MB/s",
                    "written");
    }
    memory_free(rows.x);
    memory_free(rows.gid);
}
