// The file of one shard: a safetensors file whose metadata hold the sizes and whose tensors are the
// arrays of a Shard (partition.h). One table of facts and one list of fields serve writer and
// reader. Tensors go by element size, 8 bytes first, so that each is aligned in the mapping:
//
//   gid degree_in degree_out reach  forward.offset .remote_gid  (backward.)                 8 bytes
//   forward.column .weight .remote_owner .remote_row  (backward.)  label  features    4 bytes
//   split labels                                                                      1 byte
//
// No array is as long as there are parts. What is read is checked: the hash of the whole file
// against the part's line of ranks.jsonl, then every offset, column and id against its bounds.
#include "internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- facts: integers in the metadata

enum { FACTS = 20 };
typedef struct Facts {
    int64_t value[FACTS];
} Facts;
static const char *const fact_names[FACTS] = {
    "version",        "part",           "parts",      "nodes",    "edges",         "train_nodes",
    "val_nodes",      "test_nodes",     "own",        "central",  "symmetric",     "weighted",
    "features",       "classes",        "multilabel", "majority", "forward.edges", "forward.remote",
    "backward.edges", "backward.remote"};

static Facts facts_of(const Shard *s) {
    return (Facts){
        {PARTS_VERSION,    s->part,           s->parts,          s->nodes,
         s->edges,         s->train_nodes,    s->val_nodes,      s->test_nodes,
         s->own,           s->central,        s->symmetric,      s->forward.weight != NULL,
         s->features,      s->classes,        s->multilabel,     s->majority,
         s->forward.edges, s->forward.remote, s->backward.edges, s->backward.remote}};
}

static void facts_apply(const Facts *facts, Shard *s, bool *weighted) {
    const int64_t *f = facts->value + 1;
    s->part = (int)*f++, s->parts = (int)*f++;
    s->nodes = *f++, s->edges = *f++;
    s->train_nodes = *f++, s->val_nodes = *f++, s->test_nodes = *f++;
    s->own = *f++, s->central = *f++;
    s->symmetric = *f++ != 0, *weighted = *f++ != 0;
    s->features = *f++, s->classes = *f++, s->multilabel = *f++ != 0, s->majority = *f++;
    s->forward.edges = *f++, s->forward.remote = *f++;
    s->backward.edges = *f++, s->backward.remote = *f++;
}

// Every size is bounded before it is multiplied or indexed with.
static bool facts_in_range(const Facts *facts) {
    const int64_t *f = facts->value;
    if (f[0] != PARTS_VERSION || f[2] < 1 || f[1] < 0 || f[1] >= f[2] || f[2] > PARTS_MOST)
        return false;
    for (int i = 3; i < FACTS; i++)
        if (f[i] < (i == 15 ? -1 : 0) || f[i] > INT64_C(1) << 48)
            return false;
    int64_t rows = f[8] + (f[17] > f[19] ? f[17] : f[19]);
    return f[3] <= INT32_MAX && rows <= INT32_MAX && f[8] <= f[3] && f[9] <= f[8] &&
           f[12] <= INT32_MAX && f[13] <= INT32_MAX;
}

// ---- fields: tensors, in file order

typedef struct Field {
    char name[32];
    TensorType type;
    int rank;
    int64_t shape[2];
    void *at; // the pointer inside the Shard that holds or gets the data
} Field;
enum { FIELDS = 24 };
typedef struct Fields {
    int count;
    Field field[FIELDS];
} Fields;

static void field_add(Fields *fields, const char *prefix, const char *name, TensorType type,
                      int64_t rows, int64_t columns, void *at) {
    assert(fields->count < FIELDS);
    Field *field = &fields->field[fields->count++];
    *field = (Field){.type = type, .rank = columns < 0 ? 1 : 2, .shape = {rows, columns}, .at = at};
    snprintf(field->name, sizeof field->name, "%s%s", prefix, name);
}

static void edge_fields(Fields *fields, Shard *s, bool weighted, bool wide) {
    struct {
        const char *prefix;
        ShardEdges *edges;
    } way[2] = {{"forward.", &s->forward}, {"backward.", &s->backward}};
    for (int i = 0; i < (s->symmetric ? 1 : 2); i++) {
        ShardEdges *e = way[i].edges;
        const char *prefix = way[i].prefix;
        if (wide) {
            field_add(fields, prefix, "offset", TENSOR_I64, s->own + 1, -1, &e->offset);
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

static void shard_fields(Fields *fields, Shard *s, bool weighted) {
    fields->count = 0;
    field_add(fields, "", "gid", TENSOR_I64, s->own, -1, &s->gid);
    field_add(fields, "", "degree_in", TENSOR_F64, s->own, -1, &s->degree_in);
    field_add(fields, "", "degree_out", TENSOR_F64, s->own, -1, &s->degree_out);
    field_add(fields, "", "reach", TENSOR_I64, SHARD_HOPS + 1, -1, &s->reach);
    edge_fields(fields, s, weighted, true);
    edge_fields(fields, s, weighted, false);
    if (s->classes > 0 && !s->multilabel)
        field_add(fields, "", "label", TENSOR_I32, s->own, -1, &s->label);
    if (s->features > 0)
        field_add(fields, "", "features", TENSOR_F32, s->own, s->features, &s->x);
    field_add(fields, "", "split", TENSOR_U8, s->own, -1, &s->split);
    if (s->classes > 0 && s->multilabel)
        field_add(fields, "", "labels", TENSOR_U8, s->own, s->classes, &s->labels);
}

static const void *field_data(const Field *field) {
    const void *data;
    memcpy(&data, field->at, sizeof data);
    return data;
}

// ---- writing

// Feature rows of the shard, gathered a block at a time.
static bool put_features(TensorsWriter *writer, const Shard *s, const float *x, Error *err) {
    enum { BLOCK = 1 << 18 };
    int64_t rows = s->features < BLOCK ? BLOCK / s->features : 1;
    float *block = TAKE(float, rows * s->features, "block of features");
    size_t row_bytes = (size_t)s->features * sizeof(float);
    bool good = true;
    for (int64_t begin = 0; begin < s->own && good; begin += rows) {
        int64_t count = s->own - begin < rows ? s->own - begin : rows;
        for (int64_t i = 0; i < count; i++)
            memcpy(block + i * s->features, x + s->gid[begin + i] * s->features, row_bytes);
        good = tensors_writer_put(writer, block, (size_t)count * row_bytes, err);
    }
    memory_give(block);
    return good;
}

static bool put_fields(TensorsWriter *writer, const Fields *fields, const Tensor *tensor,
                       const Shard *shard, const float *x, Error *err) {
    for (int i = 0; i < fields->count; i++) {
        bool features = strcmp(fields->field[i].name, "features") == 0;
        if (features && !put_features(writer, shard, x, err))
            return false;
        if (!features && !tensors_writer_put(writer, field_data(&fields->field[i]),
                                             tensor_bytes(&tensor[i]), err))
            return false;
    }
    return true;
}

bool shard_write(const Shard *shard, const float *x, const char *path, Error *err) {
    Shard copy = *shard; // the list of fields points into it
    Fields fields;
    shard_fields(&fields, &copy, shard->forward.weight != NULL);
    Tensor tensor[FIELDS] = {0};
    for (int i = 0; i < fields.count; i++) {
        const Field *field = &fields.field[i];
        tensor[i] = (Tensor){.type = field->type, .rank = field->rank};
        snprintf(tensor[i].name, sizeof tensor[i].name, "%s", field->name);
        memcpy(tensor[i].shape, field->shape, sizeof field->shape);
    }
    Facts facts = facts_of(shard);
    char text[FACTS][24];
    const char *metadata[2 * FACTS + 7];
    int count = 0;
    for (int i = 0; i < FACTS; i++) {
        snprintf(text[i], sizeof text[i], "%" PRId64, facts.value[i]);
        metadata[count++] = fact_names[i];
        metadata[count++] = text[i];
    }
    const char *const names[] = {"dataset_name",      shard->dataset_name, "dataset_hash",
                                 shard->dataset_hash, "partition_hash",    shard->partition_hash};
    for (int i = 0; i < 6; i++)
        metadata[count++] = names[i];
    metadata[count] = NULL;
    TensorsWriter writer;
    if (!tensors_writer_open(&writer, path, tensor, fields.count, metadata, err))
        return false;
    bool good = put_fields(&writer, &fields, tensor, &copy, x, err);
    return tensors_writer_close(&writer, false, err) && good;
}

// ---- reading

static bool damaged(const Shard *shard, Error *err, const char *what) {
    return error_set(err, EXIT_DATA,
                     "%s: damaged (%s); remove its folder and let fringe make it again",
                     shard->map.path, what);
}

static bool read_fact(const Tensors *map, const char *name, int64_t *value) {
    char text[32], *end;
    if (tensors_metadata(map, name, text, sizeof text) == NULL || text[0] == '\0')
        return false;
    *value = strtoll(text, &end, 10);
    return *end == '\0';
}

static bool read_facts(Shard *shard, bool *weighted, Error *err) {
    Facts facts;
    for (int i = 0; i < FACTS; i++)
        if (!read_fact(&shard->map, fact_names[i], &facts.value[i]))
            return damaged(shard, err, fact_names[i]);
    if (!facts_in_range(&facts))
        return damaged(shard, err, "sizes out of range");
    facts_apply(&facts, shard, weighted);
    if (tensors_metadata(&shard->map, "dataset_name", shard->dataset_name,
                         sizeof shard->dataset_name) == NULL ||
        tensors_metadata(&shard->map, "dataset_hash", shard->dataset_hash,
                         sizeof shard->dataset_hash) == NULL ||
        tensors_metadata(&shard->map, "partition_hash", shard->partition_hash,
                         sizeof shard->partition_hash) == NULL)
        return damaged(shard, err, "names");
    return true;
}

static bool read_fields(Shard *shard, bool weighted, Error *err) {
    Fields fields;
    shard_fields(&fields, shard, weighted);
    if (shard->map.count != fields.count)
        return damaged(shard, err, "number of tensors");
    for (int i = 0; i < fields.count; i++) {
        const Field *field = &fields.field[i];
        const Tensor *tensor =
            tensors_need(&shard->map, field->name, field->type, field->rank, field->shape, err);
        if (tensor == NULL)
            return false;
        if ((uintptr_t)tensor->data % tensor_type_bytes[field->type] != 0)
            return damaged(shard, err, "alignment");
        memcpy(field->at, &tensor->data, sizeof tensor->data);
    }
    return true;
}

static bool offsets_are_good(const int64_t *offset, int64_t groups, int64_t end) {
    bool good = offset[0] == 0 && offset[groups] == end;
    for (int64_t i = 0; i < groups; i++)
        good = good && offset[i] <= offset[i + 1] && offset[i + 1] <= end;
    return good;
}

static bool check_columns(const Shard *shard, const ShardEdges *edges) {
    int64_t columns = shard->own + edges->remote;
    for (int64_t i = 0; i < shard->own; i++)
        for (int64_t e = edges->offset[i]; e < edges->offset[i + 1]; e++) {
            int32_t before = e > edges->offset[i] ? edges->column[e - 1] : 0;
            if (edges->column[e] < before || edges->column[e] >= columns)
                return false;
        }
    return true;
}

// Owners in the order of the ring, the rows of each ascending. Counts them: group[g + 1] gets the
// rows of group g.
static bool check_remote(const Shard *shard, const ShardEdges *edges, int64_t *group) {
    int before = -1; // group of the row before
    for (int64_t h = 0; h < edges->remote; h++) {
        int owner = edges->remote_owner[h];
        if (owner < 0 || owner >= shard->parts || owner == shard->part)
            return false;
        int g = ring_group(shard->part, owner, shard->parts);
        int32_t row_before = g == before ? edges->remote_row[h - 1] : -1;
        if (g < before || edges->remote_row[h] <= row_before ||
            edges->remote_row[h] >= shard->nodes || edges->remote_gid[h] < 0 ||
            edges->remote_gid[h] >= shard->nodes)
            return false;
        before = g;
        group[g + 1]++;
    }
    return true;
}

static bool check_edges(const Shard *shard, ShardEdges *edges, Error *err) {
    if (!offsets_are_good(edges->offset, shard->own, edges->edges))
        return damaged(shard, err, "offsets");
    if (!check_columns(shard, edges))
        return damaged(shard, err, "columns");
    edges->remote_group = TAKE(int64_t, shard->parts, "groups of remote rows");
    if (!check_remote(shard, edges, edges->remote_group))
        return damaged(shard, err, "remote rows");
    for (int g = 0; g + 1 < shard->parts; g++)
        edges->remote_group[g + 1] += edges->remote_group[g];
    return true;
}

static bool check_rows(const Shard *shard, Error *err) {
    for (int h = 0; h <= SHARD_HOPS; h++)
        if (shard->reach[h] < (h > 0 ? shard->reach[h - 1] : 0) || shard->reach[h] > shard->own)
            return damaged(shard, err, "reach");
    for (int64_t i = 0; i < shard->own; i++) {
        if (shard->gid[i] < 0 || shard->gid[i] >= shard->nodes)
            return damaged(shard, err, "ids");
        if (shard->split[i] > SPLIT_TEST ||
            (shard->label != NULL && (shard->label[i] < -1 || shard->label[i] >= shard->classes)))
            return damaged(shard, err, "labels");
    }
    return shard->majority < (shard->classes > 0 ? shard->classes : 1) ||
           damaged(shard, err, "majority");
}

// The file is the one that the manifest speaks of, whole.
static bool check_hash(const Shard *shard, const PartFigures *figures, Error *err) {
    if ((int64_t)shard->map.bytes != figures->bytes)
        return damaged(shard, err, "its size is not what ranks.jsonl says");
    Hash *hash = hash_new();
    char text[33];
    hash_add(hash, shard->map.mapping, shard->map.bytes);
    hash_text(hash, text);
    hash_free(hash);
    if (strcmp(text, figures->hash) != 0)
        return damaged(shard, err, "its content is not what ranks.jsonl says");
    return true;
}

static bool shard_read(Shard *shard, const PartFigures *figures, int part, int parts, Error *err) {
    bool weighted = false;
    if (!check_hash(shard, figures, err) || !read_facts(shard, &weighted, err))
        return false;
    if (shard->part != part || shard->parts != parts)
        return damaged(shard, err, "another part's");
    if (!read_fields(shard, weighted, err) || !check_edges(shard, &shard->forward, err) ||
        !check_rows(shard, err))
        return false;
    if (shard->symmetric)
        shard->backward = shard->forward;
    return shard->symmetric || check_edges(shard, &shard->backward, err);
}

bool shard_open(Shard *shard, const char *folder, int part, Error *err) {
    *shard = (Shard){0};
    Manifest manifest;
    PartFigures figures;
    char path[1024];
    if (!manifest_read(&manifest, folder, err))
        return false;
    int parts = manifest.parts;
    manifest_clear(&manifest);
    if (part < 0 || part >= parts)
        return error_set(err, EXIT_DATA, "%s: holds %d parts, so there is no part %d", folder,
                         parts, part);
    ranks_path(path, sizeof path, folder);
    if (!ranks_read_one(&figures, part, path, err))
        return false;
    shard_path(path, sizeof path, folder, part, parts);
    if (!tensors_open(&shard->map, path, err))
        return false;
    if (shard_read(shard, &figures, part, parts, err))
        return true;
    shard_clear(shard);
    return false;
}

void shard_clear(Shard *shard) {
    memory_give(shard->forward.remote_group);
    if (!shard->symmetric)
        memory_give(shard->backward.remote_group);
    if (shard->map.mapping != NULL)
        tensors_close(&shard->map);
    *shard = (Shard){0};
}
