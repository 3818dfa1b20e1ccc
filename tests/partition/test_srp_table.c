// ranks: 1, long
// If this fails, the streaming partitioner cuts a real hypergraph by more than 5 % worse than
// tests/data/srp.tsv says, or a row of that table is missing.
//
// The table has six sets, 2, 8 and 28 parts, and two ways of streaming: hyperedges by the default
// score and nodes by fennel; all other options are the defaults. Its figures are not what the
// program says of itself: they are counted here from the parts alone, by marking which parts a
// node or hyperedge touches.
//
// The suite cuts each set into one of these numbers of parts, with FRINGE_LONG=1 into all.
// FRINGE_WRITE_TABLE=PATH writes the table anew instead of comparing with it:
//   FRINGE_DATA=... FRINGE_LONG=1 FRINGE_WRITE_TABLE=tests/data/srp.tsv build/tests/test_srp_table
#include "support.h"

#include "fringe/partition.h"

static const double most_above = 1.05; // of the table

typedef struct Set {
    const char *name, *path;
} Set;
enum { WALMART, DBLP, CORA, IBM01, IBM10, IBM14, SETS };
static Set sets[SETS] = {{"walmart", "hg_walmart/hypergraph.hgr"},
                         {"dblp-coauthor", "hg_dblp_coauthor/hypergraph.hgr"},
                         {"cora-coauthor", "hg_cora_coauthor/hypergraph.hgr"},
                         {"ibm01", "hg_ispd98/ibm01.hgr"},
                         {"ibm10", "hg_ispd98/ibm10.hgr"},
                         {"ibm14", "hg_ispd98/ibm14.hgr"}};
static const int part_counts[] = {2, 8, 28};
typedef struct Way {
    const char *order, *score;
} Way;
static const Way ways[] = {{"hyperedges", "marginal"}, {"nodes", "fennel"}};
enum { COUNTS = 3, WAYS = 2, ROWS = SETS * COUNTS * WAYS };

// ---- the table: a line for each row, fields by tabs

static const char *const heading =
    "set\tk\torder\tscore\treplicas\tconnectivity\tcut_hyperedges\tworkload_cov\n";

typedef struct Row {
    char set[64];
    int parts;
    char order[32], score[32];
    long long replicas, connectivity, cut;
    double variation;
} Row;

static bool row_read(Row *row, const char *line) {
    return sscanf(line, "%63s %d %31s %31s %lld %lld %lld %lf", row->set, &row->parts, row->order,
                  row->score, &row->replicas, &row->connectivity, &row->cut, &row->variation) == 8;
}

static int table_read(Row row[ROWS]) {
    char line[512];
    int rows = 0;
    const char *source = getenv("FRINGE_SOURCE");
    const char *path = test_text("%s/tests/data/srp.tsv", source != NULL ? source : ".");
    FILE *file = fopen(path, "re");
    if (file == NULL || fgets(line, sizeof line, file) == NULL || strcmp(line, heading) != 0)
        fail_msg("%s does not begin with the names of the columns (FRINGE_SOURCE is the folder of "
                 "the source)",
                 path);
    for (; fgets(line, sizeof line, file) != NULL; rows++)
        if (rows == ROWS || !row_read(&row[rows], line))
            fail_msg("%s:%d: not one of the %d rows of the table", path, rows + 2, ROWS);
    fclose(file);
    return rows;
}

static const Row *find(const Row *table, int rows, const Row *like) {
    for (int i = 0; i < rows; i++)
        if (strcmp(table[i].set, like->set) == 0 && table[i].parts == like->parts &&
            strcmp(table[i].order, like->order) == 0 && strcmp(table[i].score, like->score) == 0)
            return &table[i];
    return NULL;
}

// The first set begins the file, the others add to it.
static void table_write(const char *path, const Row *row, int rows, bool is_first) {
    FILE *file = fopen(path, is_first ? "we" : "ae");
    if (file == NULL)
        fail_msg("%s cannot be written", path);
    if (is_first)
        fputs(heading, file);
    for (int i = 0; i < rows; i++)
        fprintf(file, "%s\t%d\t%s\t%s\t%lld\t%lld\t%lld\t%.4f\n", row[i].set, row[i].parts,
                row[i].order, row[i].score, row[i].replicas, row[i].connectivity, row[i].cut,
                row[i].variation);
    fclose(file);
}

// ---- a row, from the parts alone

// touches[i * parts + p]: a hyperedge of node i lives on part p; a pin of hyperedge i - n does.
static bool *all_touches(const Dataset *d, const int32_t *part, int parts) {
    bool *touches = TEST_ARRAY(bool, (d->nodes + d->hyperedges) * parts);
    for (int64_t v = 0; v < d->nodes; v++)
        for (int64_t e = d->offset[v]; e < d->offset[v + 1]; e++) {
            int64_t h = d->nodes + d->target[e];
            touches[v * parts + part[h]] = true;
            touches[h * parts + part[v]] = true;
        }
    return touches;
}

static void count_nodes(Row *row, double *work, const Dataset *d, const int32_t *part,
                        const bool *touches) {
    for (int64_t v = 0; v < d->nodes; v++) {
        work[part[v]]++;
        for (int p = 0; p < row->parts; p++)
            if (p != part[v] && touches[v * row->parts + p]) {
                row->replicas++;
                work[p]++;
            }
    }
}

static void count_hyperedges(Row *row, double *work, const Dataset *d, const int32_t *part,
                             const bool *touches) {
    for (int64_t h = d->nodes; h < d->nodes + d->hyperedges; h++) {
        int homes = 0;
        work[part[h]]++;
        for (int p = 0; p < row->parts; p++)
            homes += touches[h * row->parts + p];
        row->connectivity += homes > 1 ? homes - 1 : 0;
        row->cut += homes > 1;
    }
}

// Standard deviation of the work of all parts over its mean.
static double variation(const double *work, int parts) {
    double sum = 0, squares = 0;
    for (int p = 0; p < parts; p++)
        sum += work[p] / parts;
    for (int p = 0; p < parts; p++)
        squares += (work[p] - sum) * (work[p] - sum) / parts;
    return sqrt(squares) / sum;
}

static void count(Row *row, const Dataset *d, const int32_t *part) {
    double work[64] = {0};
    for (int64_t i = 0; i < d->nodes + d->hyperedges; i++)
        assert_in_range(part[i], 0, row->parts - 1);
    bool *touches = all_touches(d, part, row->parts);
    count_nodes(row, work, d, part, touches);
    count_hyperedges(row, work, d, part, touches);
    row->variation = variation(work, row->parts);
}

static Config config_of(const char *path, const Way *way) {
    return CONFIGURED(
        test_text("data.path=%.1100s", path), test_text("stream.order=%s", way->order),
        test_text("stream.score=%s", way->score), "partition.method=srp", "partition.seed=1");
}

static Row row_made(const Set *set, const char *path, const Dataset *d, int parts, const Way *way) {
    Row row = {.parts = parts};
    Config config = config_of(path, way);
    int32_t *part = TEST_ARRAY(int32_t, d->nodes + d->hyperedges);
    snprintf(row.set, sizeof row.set, "%s", set->name);
    snprintf(row.order, sizeof row.order, "%s", way->order);
    snprintf(row.score, sizeof row.score, "%s", way->score);
    assert_ok(partition_cut(part, d, parts, &config, &err, &(Warnings){0}));
    count(&row, d, part);
    return row;
}

// ---- the comparison

static bool is_above(const Row *row, const char *what, long long mine, long long told) {
    if ((double)mine <= most_above * (double)told)
        return false;
    print_error("%s, %d parts, %s, %s: %s %lld, more than 5 %% above the %lld of "
                "tests/data/srp.tsv\n",
                row->set, row->parts, row->order, row->score, what, mine, told);
    return true;
}

static bool is_worse(const Row *table, int rows, const Row *row) {
    const Row *told = find(table, rows, row);
    if (told == NULL) {
        print_error("tests/data/srp.tsv has no row for %s, %d parts, %s, %s\n", row->set,
                    row->parts, row->order, row->score);
        return true;
    }
    bool worse = is_above(row, "replicas", row->replicas, told->replicas);
    return is_above(row, "connectivity", row->connectivity, told->connectivity) || worse;
}

static void compare(const Row *row, int rows) {
    Row table[ROWS];
    int told = table_read(table), worse = 0;
    for (int i = 0; i < rows; i++)
        worse += is_worse(table, told, &row[i]);
    if (worse > 0)
        fail_msg("%d of %d rows of this set are missing or worse than the table", worse, rows);
}

static void check_cuts(const Set *set) {
    const char *path = data_path_or_skip(set->path), *out = getenv("FRINGE_WRITE_TABLE");
    Row row[COUNTS * WAYS];
    OWNED(Dataset) dataset = {0};
    Config config = config_of(path, &ways[0]);
    assert_ok(dataset_load(&dataset, &config, &err));
    int first = (int)(set - sets) % COUNTS, counts = test_turns(1, COUNTS), rows = 0;
    for (int c = 0; c < counts; c++)
        for (int w = 0; w < WAYS; w++)
            row[rows++] =
                row_made(set, path, &dataset, part_counts[(first + c) % COUNTS], &ways[w]);
    if (out != NULL)
        table_write(out, row, rows, set == &sets[0]);
    else
        compare(row, rows);
}

TEST(cuts_of_walmart_are_those_of_the_table) { check_cuts(&sets[WALMART]); }
TEST(cuts_of_dblp_are_those_of_the_table) { check_cuts(&sets[DBLP]); }
TEST(cuts_of_cora_are_those_of_the_table) { check_cuts(&sets[CORA]); }
TEST(cuts_of_ibm01_are_those_of_the_table) { check_cuts(&sets[IBM01]); }
TEST(cuts_of_ibm10_are_those_of_the_table) { check_cuts(&sets[IBM10]); }
TEST(cuts_of_ibm14_are_those_of_the_table) { check_cuts(&sets[IBM14]); }
