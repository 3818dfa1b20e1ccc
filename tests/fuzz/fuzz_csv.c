// The reader of tables of ogb (edge.csv.gz and the like), in gzip or plain, in blocks of 64 bytes:
// a line may be that long, and what crosses a block's end is put together. The tenth byte, which in
// gzip names an operating system, says which table it is.

#include "fuzz_dataset.h"

#include "dataset/ogb.h"

enum { NODES_OF_TABLE = 8, MOST_COLUMNS = 64, LINE = 64 };
enum { COUNT, EDGES, FEATURES, CLASS, CLASSES, KINDS };

typedef struct Found {
    int64_t count;
    OgbEdges edges;
    Dataset dataset;
} Found;

static bool read_rows(const char *path, int64_t rows, OgbRow *row, void *context, Error *err) {
    OgbTable table = {rows, "the fuzzer", row == ogb_class, row, context};
    int64_t lines = -1;
    bool ok = text_blocks_of(path, LINE, 0, ogb_take_rows, &table, &lines, err);
    FUZZ_CHECK(!ok || lines >= 0);
    return ok && lines >= rows;
}

static void read_edges(Found *f, const char *path, Error *err) {
    f->edges.nodes = NODES_OF_TABLE;
    if (ends_init(&f->edges.ends, LINE, err))
        read_rows(path, LINE, ogb_edge, &f->edges, err);
    for (int e = 0; err->code == 0 && e < LINE; e++)
        FUZZ_CHECK(f->edges.ends.source[e] < NODES_OF_TABLE && f->edges.ends.target[e] >= 0);
    ends_clear(&f->edges.ends);
}

static void read_matrix(Found *f, const char *path, int kind, Error *err) {
    Dataset *d = &f->dataset;
    int64_t columns = text_columns(path, err);
    FUZZ_CHECK((columns < 0) == (err->code != 0));
    if (columns < 1 || columns > MOST_COLUMNS)
        return;
    d->features = d->classes = columns;
    d->x = ALLOC(float, d->nodes *columns, "features");
    d->labels = ALLOC(uint8_t, d->nodes * columns, "labels");
    read_rows(path, d->nodes, kind == FEATURES ? ogb_features : ogb_classes, d, err);
    for (int64_t i = 0; i < d->nodes * columns; i++)
        FUZZ_CHECK(d->labels[i] <= 1 && d->x[i] == d->x[i]);
}

static void read_classes(Found *f, const char *path, Error *err) {
    Dataset *d = &f->dataset;
    d->label = ALLOC(int32_t, d->nodes, "labels");
    read_rows(path, d->nodes, ogb_class, d, err);
    for (int64_t i = 0; i < d->nodes; i++)
        FUZZ_CHECK(d->label[i] >= -1 && d->label[i] < DATASET_MAX_CLASSES);
}

FUZZER {
    Found found = {.dataset.nodes = NODES_OF_TABLE};
    int kind = count < 10 ? EDGES : bytes[9] % KINDS;
    char path[32];
    int file = fuzz_file(path, bytes, count);
    if (kind == COUNT)
        read_rows(path, 1, ogb_count, &found.count, &err);
    else if (kind == EDGES)
        read_edges(&found, path, &err);
    else if (kind == CLASS)
        read_classes(&found, path, &err);
    else
        read_matrix(&found, path, kind, &err);
    fuzz_verdict(err.code == 0, &err);
    dataset_clear(&found.dataset);
    close(file);
}
