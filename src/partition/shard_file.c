// The file of one shard: a safetensors file whose metadata hold the sizes and whose tensors are the
// arrays of a Shard (partition.h). Writer and reader share one table of facts and one list of
// fields. Tensors go by element size, 8 bytes first, so that each is aligned in the mapping:
//
//   gid degree_in degree_out reach  (hyperedge.)  forward.offset .remote_gid  (...)         8 bytes
//   forward.column .weight .remote_owner .remote_row  (...)  label features hyperedge.weight    4
//   split labels                                                                               1
//
// (...): the other relations, named backward., forward2. and backward2.; hyperedge. and the last
// facts: only of a hypergraph. No array grows with the number of parts. The reader checks the hash
// of the whole file against the part's line of ranks.jsonl, then every offset, column and id
// against its bounds (shard_check.c).
#include "internal.h"

// ---- facts: integers in the metadata

enum { GRAPH_FACTS = 20, FACTS = 28, MAJORITY = 15 };
typedef struct Facts {
    int64_t value[FACTS];
} Facts;
static const char *const fact_names[FACTS] = {
    "version", "part", "parts", "nodes", "edges", "train_nodes", "val_nodes", "test_nodes", "own",
    "central", "symmetric", "weighted", "features", "classes", "multilabel", "majority",
    "forward.edges", "forward.remote", "backward.edges", "backward.remote",
    // of a hypergraph:
    "hyperedges", "own_hyperedges", "central_hyperedges", "weighted_hyperedges", "forward2.edges",
    "forward2.remote", "backward2.edges", "backward2.remote"};

// The facts that are written.
static int facts_count(const Shard *s) { return shard_is_hypergraph(s) ? FACTS : GRAPH_FACTS; }

static Facts facts_of(const Shard *s) {
    const RowSet *nodes = &s->set[NODES], *hyperedges = &s->set[HYPEREDGES];
    const ShardRelation *in = &s->relation[IN_EDGES], *out = shard_transposed(s, IN_EDGES);
    return (Facts){{PARTS_VERSION,
                    s->part,
                    s->parts,
                    nodes->total,
                    s->edges,
                    s->train_nodes,
                    s->val_nodes,
                    s->test_nodes,
                    nodes->own,
                    nodes->central,
                    shard_is_symmetric(s),
                    in->weight != NULL,
                    s->features,
                    s->classes,
                    shard_labels(s),
                    s->majority,
                    in->edges,
                    in->remote,
                    out->edges,
                    out->remote,
                    hyperedges->total,
                    hyperedges->own,
                    hyperedges->central,
                    hyperedges->weight != NULL,
                    s->relation[2].edges,
                    s->relation[2].remote,
                    s->relation[3].edges,
                    s->relation[3].remote}};
}

void shard_set_relations(Shard *s, int sets, bool symmetric) {
    s->sets = sets;
    s->relations = symmetric ? sets : 2 * sets;
    for (int r = 0; r < s->relations; r++) {
        bool to_hyperedges = sets > 1 && (r == 0 || r == 3), from_hyperedges = r == 1 || r == 2;
        s->relation[r] = (ShardRelation){.to = to_hyperedges ? HYPEREDGES : NODES,
                                         .from = sets > 1 && from_hyperedges ? HYPEREDGES : NODES,
                                         .transpose = s->relations > 1 ? r ^ 1 : r};
    }
}

// Which arrays of weights a shard has.
typedef struct Weights {
    bool edges, hyperedges;
} Weights;

static void facts_apply(const Facts *facts, Shard *s, Weights *weights) {
    const int64_t *f = facts->value + 1;
    RowSet *nodes = &s->set[NODES], *hyperedges = &s->set[HYPEREDGES];
    s->part = (int)*f++, s->parts = (int)*f++;
    nodes->total = *f++, s->edges = *f++;
    s->train_nodes = *f++, s->val_nodes = *f++, s->test_nodes = *f++;
    nodes->own = *f++, nodes->central = *f++;
    shard_set_relations(s, facts->value[GRAPH_FACTS] > 0 ? SHARD_SETS : 1, *f++ != 0);
    weights->edges = *f++ != 0;
    s->features = *f++, s->classes = *f++, s->multilabel = *f == LABEL_CLASSES;
    s->numeric = *f++ == LABEL_NUMBERS, s->majority = *f++;
    for (int r = 0; r < 2; r++, f += 2)
        s->relation[r].edges = f[0], s->relation[r].remote = f[1];
    hyperedges->total = *f++, hyperedges->own = *f++, hyperedges->central = *f++;
    weights->hyperedges = *f++ != 0;
    for (int r = 2; r < SHARD_RELATIONS; r++, f += 2)
        s->relation[r].edges = f[0], s->relation[r].remote = f[1];
}

// Checks the bounds of every size before it is used.
static bool facts_in_range(const Facts *facts) {
    const int64_t *f = facts->value;
    if (f[0] != PARTS_VERSION || f[2] < 1 || f[1] < 0 || f[1] >= f[2] || f[2] > PARTS_MOST)
        return false;
    for (int i = 3; i < FACTS; i++)
        if (f[i] < (i == MAJORITY ? -1 : 0) || f[i] > INT64_C(1) << 48)
            return false;
    return f[12] <= INT32_MAX && f[13] <= INT32_MAX;
}

static bool sets_in_range(const Shard *s) {
    int64_t rows = 0;
    for (int i = 0; i < SHARD_SETS; i++) {
        const RowSet *set = &s->set[i];
        rows += set->total;
        if (set->own > set->total || set->central > set->own)
            return false;
    }
    for (int r = 0; r < s->relations; r++)
        if (s->set[s->relation[r].from].own + s->relation[r].remote > INT32_MAX)
            return false;
    return rows <= INT32_MAX;
}

// ---- fields: tensors, in file order

typedef struct Field {
    Tensor of;
    void *at; // address of the Shard's pointer to the data
} Field;
enum { FIELDS = 38 };
typedef struct Fields {
    int count;
    Field field[FIELDS];
} Fields;

static void field_add(Fields *fields, const char *prefix, const char *name, TensorType type,
                      int64_t rows, int64_t columns, void *at) {
    assert(fields->count < FIELDS);
    Field *field = &fields->field[fields->count++];
    *field = (Field){{"", type, columns < 0 ? 1 : 2, {rows, columns}, NULL}, at};
    snprintf(field->of.name, sizeof field->of.name, "%s%s", prefix, name);
}

static void edge_fields(Fields *fields, Shard *s, bool weighted, bool wide) {
    static const char *const prefixes[SHARD_RELATIONS] = {"forward.", "backward.", "forward2.",
                                                          "backward2."};
    for (int r = 0; r < s->relations; r++) {
        ShardRelation *e = &s->relation[r];
        const char *prefix = prefixes[r];
        if (wide) {
            field_add(fields, prefix, "offset", TENSOR_I64, s->set[e->to].own + 1, -1, &e->offset);
            field_add(fields, prefix, "remote_gid", TENSOR_I64, e->remote, -1, &e->remote_gid);
            continue;
        }
        field_add(fields, prefix, "column", TENSOR_I32, e->edges, -1, &e->column);
        if (weighted)
            field_add(fields, prefix, "weight", TENSOR_F32, e->edges, -1, &e->weight);
        field_add(fields, prefix, "remote_owner", TENSOR_I32, e->remote, -1, &e->remote_owner);
        field_add(fields, prefix, "remote_row", TENSOR_I32, e->remote, -1, &e->remote_row);
    }
}

static void set_fields(Fields *fields, const char *prefix, RowSet *set) {
    field_add(fields, prefix, "gid", TENSOR_I64, set->own, -1, &set->gid);
    field_add(fields, prefix, "degree_in", TENSOR_F64, set->own, -1, &set->degree_in);
    field_add(fields, prefix, "degree_out", TENSOR_F64, set->own, -1, &set->degree_out);
    field_add(fields, prefix, "reach", TENSOR_I64, SHARD_HOPS + 1, -1, &set->reach);
}

static void sparse_fields(Fields *fields, Shard *s, bool wide) {
    if (!s->is_sparse)
        return;
    Csr *x = &s->sparse;
    x->rows = s->set[NODES].own;
    if (wide)
        field_add(fields, "feature_", "offset", TENSOR_I64, x->rows + 1, -1, &x->offset);
    else {
        field_add(fields, "feature_", "column", TENSOR_I32, s->feature_entries, -1, &x->column);
        field_add(fields, "feature_", "value", TENSOR_F32, s->feature_entries, -1, &x->weight);
    }
}

static void shard_fields(Fields *fields, Shard *s, const Weights *weights) {
    static const char *const prefixes[SHARD_SETS] = {"", "hyperedge."};
    RowSet *hyperedges = &s->set[HYPEREDGES];
    int64_t own = s->set[NODES].own;
    fields->count = 0;
    for (int i = 0; i < s->sets; i++)
        set_fields(fields, prefixes[i], &s->set[i]);
    sparse_fields(fields, s, true);
    edge_fields(fields, s, weights->edges, true);
    edge_fields(fields, s, weights->edges, false);
    if (s->classes > 0 && shard_labels(s) == LABEL_CLASS)
        field_add(fields, "", "label", TENSOR_I32, own, -1, &s->label);
    if (s->classes > 0 && s->numeric)
        field_add(fields, "", "numbers", TENSOR_F32, own, s->classes, &s->numbers);
    sparse_fields(fields, s, false);
    if (s->features > 0 && !s->is_sparse)
        field_add(fields, "", "features", TENSOR_F32, own, s->features, &s->x);
    if (weights->hyperedges)
        field_add(fields, prefixes[HYPEREDGES], "weight", TENSOR_F32, hyperedges->own, -1,
                  &hyperedges->weight);
    field_add(fields, "", "split", TENSOR_U8, own, -1, &s->split);
    if (s->classes > 0 && s->multilabel)
        field_add(fields, "", "labels", TENSOR_U8, own, s->classes, &s->labels);
}

static const void *field_data(const Field *field) {
    const void *data;
    memcpy(&data, field->at, sizeof data);
    return data;
}

// ---- writing

// Gathers the feature rows of the shard in blocks.
static bool put_features(TensorsWriter *writer, const Shard *s, const float *x, Error *err) {
    enum { BLOCK = 1 << 18 };
    const RowSet *nodes = &s->set[NODES];
    int64_t rows = s->features < BLOCK ? BLOCK / s->features : 1;
    rows = rows < nodes->own ? rows : nodes->own;
    FREED float *block = ALLOC(float, rows * s->features, "block of features");
    size_t row_bytes = (size_t)s->features * sizeof(float);
    bool ok = true;
    for (int64_t begin = 0; begin < nodes->own && ok; begin += rows) {
        int64_t count = nodes->own - begin < rows ? nodes->own - begin : rows;
        for (int64_t i = 0; i < count; i++)
            memcpy(block + i * s->features, x + nodes->gid[begin + i] * s->features, row_bytes);
        ok = tensors_writer_put(writer, block, (size_t)count * row_bytes, err);
    }
    return ok;
}

static bool put_fields(TensorsWriter *writer, const Fields *fields, const Tensor *tensor,
                       const Shard *shard, const float *x, Error *err) {
    for (int i = 0; i < fields->count; i++) {
        bool features = strcmp(tensor[i].name, "features") == 0;
        if (features && !put_features(writer, shard, x, err))
            return false;
        if (!features && !tensors_writer_put(writer, field_data(&fields->field[i]),
                                             tensor_bytes(&tensor[i]), err))
            return false;
    }
    return true;
}

bool shard_write(const Shard *shard, const Dataset *dataset, const char *path, Error *err) {
    Shard copy = *shard; // the list of fields points into it
    Fields fields;
    Weights weights = {shard->relation[IN_EDGES].weight != NULL,
                       shard->set[HYPEREDGES].weight != NULL};
    shard_fields(&fields, &copy, &weights);
    Tensor tensor[FIELDS];
    for (int i = 0; i < fields.count; i++)
        tensor[i] = fields.field[i].of;
    Facts facts = facts_of(shard);
    char text[FACTS][24];
    const char *metadata[2 * FACTS + 7] = {0};
    int count = 0;
    for (int i = 0; i < facts_count(shard); i++) {
        snprintf(text[i], sizeof text[i], "%ld", facts.value[i]);
        metadata[count++] = fact_names[i];
        metadata[count++] = text[i];
    }
    const char *const names[] = {"dataset_name",      shard->dataset_name, "dataset_hash",
                                 shard->dataset_hash, "partition_hash",    shard->partition_hash};
    memcpy(&metadata[count], names, sizeof names); // the last pointer stays NULL
    TensorsWriter writer;
    if (!tensors_writer_open(&writer, path, tensor, fields.count, metadata, err))
        return false;
    bool ok = put_fields(&writer, &fields, tensor, &copy, dataset->x, err);
    return tensors_writer_close(&writer, false, err) && ok;
}

// ---- reading

static bool read_fact(const Tensors *map, const char *name, int64_t *value) {
    char text[32], *end = "?";
    if (tensors_metadata(map, name, text, sizeof text) != NULL && text[0] != '\0')
        *value = strtoll(text, &end, 10);
    return *end == '\0';
}

// A graph has no facts of a hypergraph: they are 0.
static bool read_facts(Shard *shard, Weights *weights, Error *err) {
    Facts facts = {0};
    char text[32];
    bool more = tensors_metadata(&shard->map, fact_names[GRAPH_FACTS], text, sizeof text) != NULL;
    for (int i = 0; i < (more ? FACTS : GRAPH_FACTS); i++)
        if (!read_fact(&shard->map, fact_names[i], &facts.value[i]))
            return shard_damaged(shard, err, fact_names[i]);
    if (!facts_in_range(&facts))
        return shard_damaged(shard, err, "sizes out of range");
    facts_apply(&facts, shard, weights);
    const Tensor *column = tensors_find(&shard->map, "feature_column");
    shard->is_sparse = column != NULL;
    shard->feature_entries = column != NULL ? column->shape[0] : 0;
    if (!sets_in_range(shard))
        return shard_damaged(shard, err, "sizes out of range");
    if (tensors_metadata(&shard->map, "dataset_name", shard->dataset_name,
                         sizeof shard->dataset_name) == NULL ||
        tensors_metadata(&shard->map, "dataset_hash", shard->dataset_hash,
                         sizeof shard->dataset_hash) == NULL ||
        tensors_metadata(&shard->map, "partition_hash", shard->partition_hash,
                         sizeof shard->partition_hash) == NULL)
        return shard_damaged(shard, err, "names");
    return true;
}

static bool read_fields(Shard *shard, const Weights *weights, Error *err) {
    Fields fields;
    shard_fields(&fields, shard, weights);
    if (shard->map.count != fields.count)
        return shard_damaged(shard, err, "number of tensors");
    for (int i = 0; i < fields.count; i++) {
        const Tensor *of = &fields.field[i].of;
        const Tensor *there =
            tensors_need(&shard->map, of->name, of->type, of->rank, of->shape, err);
        if (there == NULL)
            return false;
        if ((uintptr_t)there->data % tensor_type_bytes[of->type] != 0)
            return shard_damaged(shard, err, "alignment");
        memcpy(fields.field[i].at, &there->data, sizeof there->data);
    }
    return true;
}

// Checks that the file is whole and belongs to the manifest.
static bool check_hash(const Shard *shard, const PartFigures *figures, Error *err) {
    if ((int64_t)shard->map.bytes != figures->bytes)
        return shard_damaged(shard, err, "its size is not what ranks.jsonl says");
    char text[33];
    hash_bytes_text(shard->map.mapping, shard->map.bytes, text);
    if (strcmp(text, figures->hash) != 0)
        return shard_damaged(shard, err, "its content is not what ranks.jsonl says");
    return true;
}

static bool shard_read(Shard *shard, const PartFigures *figures, int part, int parts, Error *err) {
    Weights weights = {0};
    if (!check_hash(shard, figures, err) || !read_facts(shard, &weights, err))
        return false;
    if (shard->part != part || shard->parts != parts)
        return shard_damaged(shard, err, "another part's");
    return read_fields(shard, &weights, err) && shard_check(shard, err);
}

static bool open_held(Shard *shard, const char *folder, int part, Error *err) {
    Manifest manifest;
    PartFigures figures;
    if (!manifest_read(&manifest, folder, err))
        return false;
    int parts = manifest.parts;
    manifest_clear(&manifest);
    if (part < 0 || part >= parts)
        return error_data(err, "%s: there is no part %d of %d", folder, part, parts);
    return ranks_read_one(&figures, part, PATH_IN(folder, RANKS_FILE), err) &&
           tensors_open(&shard->map, SHARD_PATH(folder, part, parts), err) &&
           shard_read(shard, &figures, part, parts, err);
}

bool shard_open(Shard *shard, const char *folder, int part, Error *err) {
    *shard = (Shard){.hold = cache_hold(folder)};
    if (open_held(shard, folder, part, err))
        return true;
    shard_clear(shard);
    return false;
}

void shard_clear(Shard *shard) {
    for (int r = 0; r < shard->relations; r++)
        memory_free(shard->relation[r].remote_round);
    if (shard->map.mapping != NULL)
        tensors_close(&shard->map);
    cache_release(shard->hold);
    *shard = (Shard){0};
}
