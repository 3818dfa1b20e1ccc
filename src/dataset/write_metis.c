// METIS .graph and hMETIS .hgr (format_metis.c and format_hgr.c draw them). Both are lines of
// numbers, one line for each row of a matrix: node by node, or hyperedge by hyperedge.
//
// The idea: row i is the pieces offset[i] + i to offset[i+1] + i, an entry each, and then the end
// of its line. So pieces are small, whatever the rows are like.

#include "writers.h"

enum { PIECE = 2 * (DECIMAL_INT + 1) + DECIMAL_FLOAT + 1 };

typedef struct Lines {
    const int64_t *offset; // [rows+1]
    int64_t rows;
    const int32_t *number;   // [entries] from 0
    const float *weight;     // [entries] written after the number; NULL: none
    const float *row_weight; // [rows] written before the first number; NULL: none
} Lines;

static int64_t line_pieces(const Lines *lines) {
    return lines->offset[lines->rows] - lines->offset[0] + lines->rows;
}

static char *put_entry(const Lines *lines, int64_t row, int64_t entry, char *out) {
    bool first = entry == lines->offset[row];
    if (first && lines->row_weight != NULL)
        out = put_weight(out, lines->row_weight[row]);
    if (!first || lines->row_weight != NULL)
        *out++ = ' ';
    out = put_int(out, lines->number[entry] + INT64_C(1));
    if (lines->weight != NULL) {
        *out++ = ' ';
        out = put_weight(out, lines->weight[entry]);
    }
    return out;
}

static char *put_lines(const void *context, int64_t begin, int64_t end, char *out) {
    const Lines *lines = context;
    int64_t row = row_of_piece(lines->offset, lines->rows, 1, begin);
    for (int64_t piece = begin; piece < end; piece++) {
        int64_t entry = lines->offset[0] + piece - row;
        if (entry < lines->offset[row + 1]) {
            out = put_entry(lines, row, entry, out);
        } else {
            *out++ = '\n';
            row++;
        }
    }
    return out;
}

static bool put_all_lines(TextFile *text, const Lines *lines, Error *err) {
    TextPieces pieces = {line_pieces(lines), PIECE, put_lines, lines};
    return lines->rows == 0 || text_put(text, &pieces, err);
}

// ---- what a file of METIS cannot hold

// An edge whose other direction is missing or has another weight; there is one.
static void find_one_way(const Csr *rows, int64_t *from, int64_t *to, bool *there) {
    for (int64_t i = 0; i < rows->rows; i++)
        for (int64_t e = rows->offset[i]; e < rows->offset[i + 1]; e++) {
            int64_t j = rows->column[e], low = rows->offset[j];
            low += sort_below(rows->column + low, rows->offset[j + 1] - low, i);
            *there = low < rows->offset[j + 1] && rows->column[low] == i;
            if (*there && (rows->weight == NULL || rows->weight[low] == rows->weight[e]))
                continue;
            *from = i;
            *to = j;
            return;
        }
}

static bool is_undirected(const Csr *rows, Error *err) {
    int64_t from = 0, to = 0;
    bool there = false;
    if (csr_is_symmetric(rows))
        return true;
    find_one_way(rows, &from, &to, &there);
    return error_data(
        err,
        there ? "the edge from node %ld to %ld has another weight than its reverse, but graphs of "
                "METIS are undirected; add \"symmetrize\" to data.transforms"
              : "the edge from node %ld to %ld has no reverse, but graphs of METIS are undirected; "
                "add \"symmetrize\" to data.transforms",
        from, to);
}

static bool is_simple(const Csr *rows, Error *err) {
    int64_t loops = csr_loops(rows), duplicates = csr_duplicates(rows);
    if (loops > 0)
        return error_data(err,
                          "there are self-loops (%ld), which graphs of METIS cannot have; add "
                          "\"drop-loops\" to data.transforms",
                          loops);
    return duplicates == 0 ||
           error_data(err,
                      "edges are stored more than once (%ld), which graphs of METIS cannot have; "
                      "add \"drop-duplicates\" to data.transforms",
                      duplicates);
}

// Fractions are remarked on: METIS itself reads whole numbers.
static bool weights_fit(const Writing *writing, const float *weight, int64_t count, bool zero,
                        Error *err) {
    bool whole = true;
    for (int64_t e = 0; weight != NULL && e < count; e++) {
        if (weight[e] == 0 && !zero)
            return error_data(err,
                              "stored edge %ld weighs 0, but weights in graphs of METIS are above "
                              "0; --to npz keeps it",
                              e);
        whole = whole && weight[e] == truncf(weight[e]);
    }
    if (!whole)
        warnings_add(writing->remarks, "weights that are no whole numbers are written as they are; "
                                       "fringe reads them, METIS itself does not");
    return true;
}

static bool graph_fits(const Writing *writing, Error *err) {
    const Dataset *d = writing->dataset;
    Csr rows = dataset_csr(d);
    if (d->edges == 0)
        return error_data(
            err, "there are no edges, but graphs of METIS have some; --to npz keeps the nodes");
    return is_simple(&rows, err) && is_undirected(&rows, err) &&
           weights_fit(writing, d->weight, d->edges, false, err);
}

static bool hypergraph_fits_hgr(const Writing *writing, Error *err) {
    const Dataset *d = writing->dataset;
    int64_t empty = -1;
    if (d->pin_role != NULL)
        return error_data(
            err,
            "its hyperedges have sources and targets, which .hgr cannot say; --to npz keeps them");
    FREED int64_t *size = hypergraph_sizes(d);
    for (int64_t h = d->hyperedges - 1; h >= 0; h--)
        empty = size[h] == 0 ? h : empty;
    if (empty >= 0)
        return error_data(
            err, "hyperedge %ld has no pins, but every line of an .hgr has some; --to npz keeps it",
            empty);
    return weights_fit(writing, d->hyperedge_weight, d->hyperedges, true, err);
}

static bool fits(const Writing *writing, Error *err) {
    bool hypergraph = writing->dataset->hyperedges > 0;
    if (text_ends(writing->path, hypergraph ? ".graph" : ".hgr"))
        return error_data(err, hypergraph
                                   ? "it is a hypergraph, which is written as .hgr; \"clique\" or "
                                     "\"star\" in data.transforms make a graph of it"
                                   : "it is a graph, which is written as .graph");
    if (!(hypergraph ? hypergraph_fits_hgr : graph_fits)(writing, err))
        return false;
    remark_nodes_left_out(writing);
    return true;
}

// ---- writing

static bool put_graph(const Dataset *d, TextFile *text, Error *err) {
    char head[96];
    Lines lines = {d->offset, d->nodes, d->target, d->weight, NULL};
    snprintf(head, sizeof head, "%ld %ld%s\n", d->nodes, d->edges / 2,
             d->weight != NULL ? " 1" : "");
    text->total = line_pieces(&lines);
    return text_put_line(text, head, err) && put_all_lines(text, &lines, err);
}

// Hyperedges `first` to `end` with their pins, which are gathered from the rows of all nodes.
typedef struct Block {
    int64_t first, end;
    int64_t *offset; // [end-first+1]
    int32_t *node;   // [offset[end-first]]
} Block;
enum { BLOCK_PINS = 4 << 20, BLOCK_ROWS = 1 << 20 }; // 16 MiB each; a larger hyperedge is alone

static bool block_open(Block *block, const int64_t *size, int64_t hyperedges, Error *err) {
    int64_t pins = 0, h = block->first;
    block->offset = TRY(int64_t, BLOCK_ROWS + 1, "hyperedges to write", err);
    if (block->offset == NULL)
        return false;
    while (h < hyperedges && h - block->first < BLOCK_ROWS &&
           (h == block->first || pins + size[h] <= BLOCK_PINS)) {
        pins += size[h++];
        block->offset[h - block->first] = pins;
    }
    block->end = h;
    block->node = TRY(int32_t, pins, "pins to write", err);
    return block->node != NULL;
}

static void block_close(Block *block) { MEMORY_FREE(block->offset, block->node); }

// The first pin of a node whose hyperedge is not below `hyperedge`.
static int64_t first_pin(const Dataset *d, int64_t node, int64_t hyperedge) {
    int64_t begin = d->offset[node];
    return begin + sort_below(d->target + begin, d->offset[node + 1] - begin, hyperedge);
}

// offset[h] moves to the end of row h while it fills, which is the beginning of the next one.
static void block_gather(Block *block, const Dataset *d) {
    for (int64_t i = 0; i < d->nodes; i++)
        for (int64_t p = first_pin(d, i, block->first);
             p < d->offset[i + 1] && d->target[p] < block->end; p++)
            block->node[block->offset[d->target[p] - block->first]++] = (int32_t)i;
    offsets_shift_back(block->offset, block->end - block->first);
}

static bool put_hyperedges(const Dataset *d, TextFile *text, const int64_t *size, Error *err) {
    for (int64_t first = 0; first < d->hyperedges && err->code == 0;) {
        CLEARED(block_close) Block block = {.first = first};
        if (block_open(&block, size, d->hyperedges, err)) {
            block_gather(&block, d);
            const float *weight = d->hyperedge_weight;
            Lines lines = {block.offset, block.end - first, block.node, NULL,
                           weight == NULL ? NULL : weight + first};
            put_all_lines(text, &lines, err);
        }
        first = block.end;
    }
    return err->code == 0;
}

static char *put_node_weights(const void *context, int64_t begin, int64_t end, char *out) {
    const Dataset *d = context;
    for (int64_t i = begin; i < end; i++) {
        out = put_int(out, d->node_weight[i]);
        *out++ = '\n';
    }
    return out;
}

static bool put_hypergraph(const Dataset *d, TextFile *text, Error *err) {
    char head[96];
    int format = (d->hyperedge_weight != NULL) + 10 * (d->node_weight != NULL);
    snprintf(head, sizeof head, format > 0 ? "%ld %ld %d\n" : "%ld %ld\n", d->hyperedges, d->nodes,
             format);
    text->total = d->edges + d->hyperedges + (d->node_weight != NULL ? d->nodes : 0);
    FREED int64_t *size = hypergraph_sizes(d);
    TextPieces weights = {d->nodes, DECIMAL_INT + 1, put_node_weights, d};
    return text_put_line(text, head, err) && put_hyperedges(d, text, size, err) &&
           (d->node_weight == NULL || text_put(text, &weights, err));
}

static bool write_lines(const Writing *writing, Error *err) {
    const Dataset *d = writing->dataset;
    TextFile text = {.packed = path_ends(writing->path, ".gz")};
    if (!file_writer_replace(&text.file, writing->path, err))
        return false;
    bool whole = (d->hyperedges > 0 ? put_hypergraph : put_graph)(d, &text, err);
    return file_writer_take_place(&text.file, whole, err);
}

const FormatWriter writer_metis = {.name = "metis",
                                   .endings = ".graph .hgr .graph.gz .hgr.gz",
                                   .fits = fits,
                                   .write = write_lines};
