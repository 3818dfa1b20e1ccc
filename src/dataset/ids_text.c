// Text ids become their places in ascending order of their bytes.
//
// The idea: what is equal has an equal hash, so ids are dealt by hash into buckets that fit a
// cache, and each bucket finds its distinct ids in a table of its own, by all threads. These alone
// are sorted. Nothing depends on the threads: a place is a function of the ids.
//
// Of an id that is dealt only its entry is kept, 5 bytes: its hash is made again from the bytes,
// which a bucket compares anyway. An entry's span becomes its place among the distinct ids of its
// bucket, and then its place in order. So an edge takes 16 bytes of spans and 10 of entries.

#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum { BUCKET_BITS = 10, BUCKETS = 1 << BUCKET_BITS, FEW = 4096 };

typedef struct __attribute__((packed)) Item { // an id of the text, dealt into its bucket
    uint32_t entry;                           // the lower bits of its number over all columns
    uint8_t above;
} Item;

typedef struct Name { // a distinct id
    int64_t span;
    int32_t column;
    int32_t number; // where it was found, then its place
} Name;

typedef struct Numbering {
    IdColumns *columns;
    int64_t all;
    int64_t column_begin[ID_COLUMNS + 1]; // entries of column k are numbered from here
    Item *item;                           // [all] by bucket
    int64_t begin[BUCKETS + 1];           // of items
    Name *name;                           // [all or fewer] of bucket b from first[b]
    int64_t first[BUCKETS + 1];
} Numbering;

static const char *text_at(const Numbering *n, int column, int64_t span, int64_t *bytes) {
    *bytes = span_bytes(span);
    return n->columns->of[column].text + (span >> SPAN_BITS);
}

static int64_t *value_of(const Numbering *n, Item item, int *column) {
    int64_t entry = (int64_t)item.above << 32 | item.entry;
    for (*column = 0; entry >= n->column_begin[*column + 1];)
        ++*column;
    return &n->columns->of[*column].value[entry - n->column_begin[*column]];
}

static int bucket_of(uint64_t hash) { return (int)(hash >> (64 - BUCKET_BITS)); }

// ---- dealing: counts of each chunk give each of its items a place that no other has

typedef struct Chunk {
    int column;
    int64_t begin, end;
    int64_t count[BUCKETS]; // then where the next one goes
} Chunk;
enum { CHUNKS = 64 };

static int make_chunks(const IdColumns *columns, Chunk *chunk) {
    int chunks = 0;
    for (int k = 0; k < columns->columns; k++) {
        int64_t count = columns->of[k].count, parts = count < FEW ? 1 : CHUNKS / ID_COLUMNS;
        for (int64_t p = 0; p < parts; p++)
            chunk[chunks++] = (Chunk){k, count * p / parts, count * (p + 1) / parts, {0}};
    }
    return chunks;
}

static uint64_t hash_at(const Numbering *n, int column, int64_t e) {
    int64_t bytes;
    const char *at = text_at(n, column, n->columns->of[column].value[e], &bytes);
    return hash_bytes(at, (size_t)bytes);
}

static void count_chunk(const Numbering *n, Chunk *c) {
    for (int64_t e = c->begin; e < c->end; e++)
        c->count[bucket_of(hash_at(n, c->column, e))]++;
}

static void deal_chunk(Numbering *n, Chunk *c) {
    for (int64_t e = c->begin; e < c->end; e++) {
        int64_t entry = n->column_begin[c->column] + e;
        n->item[c->count[bucket_of(hash_at(n, c->column, e))]++] =
            (Item){(uint32_t)entry, (uint8_t)(entry >> 32)};
    }
}

static void deal(Numbering *n, Chunk *chunk, int chunks) {
    int64_t next = 0;
#pragma omp parallel for schedule(dynamic)
    for (int c = 0; c < chunks; c++)
        count_chunk(n, &chunk[c]);
    for (int b = 0; b < BUCKETS; b++) {
        n->begin[b] = next;
        for (int c = 0; c < chunks; c++) {
            int64_t count = chunk[c].count[b];
            chunk[c].count[b] = next;
            next += count;
        }
    }
    n->begin[BUCKETS] = next;
#pragma omp parallel for schedule(dynamic)
    for (int c = 0; c < chunks; c++)
        deal_chunk(n, &chunk[c]);
}

// ---- the distinct ids of a bucket

// slot[mask+1]: 1 + the number of a distinct id. Puts these into name[]; returns how many there
// are. Values become their places there.
static int64_t find_distinct(Numbering *n, int b, uint32_t *slot, uint32_t mask, Name *name,
                             uint32_t *hash) {
    int64_t distinct = 0;
    memset(slot, 0, ((size_t)mask + 1) * sizeof *slot);
    for (int64_t i = n->begin[b]; i < n->begin[b + 1]; i++) {
        int column;
        int64_t *value = value_of(n, n->item[i], &column), bytes, other;
        const char *at = text_at(n, column, *value, &bytes);
        uint32_t of = (uint32_t)(hash_bytes(at, (size_t)bytes) >> 8), s = of & mask;
        for (; slot[s] != 0; s = (s + 1) & mask) {
            const Name *known = &name[slot[s] - 1];
            if (hash[slot[s] - 1] == of && span_bytes(known->span) == bytes &&
                memcmp(text_at(n, known->column, known->span, &other), at, (size_t)bytes) == 0)
                break;
        }
        if (slot[s] == 0) {
            name[distinct] = (Name){*value, column, 0};
            hash[distinct] = of;
            slot[s] = (uint32_t)++distinct;
        }
        *value = slot[s] - 1;
    }
    return distinct;
}

static uint32_t mask_for(int64_t items) {
    uint32_t mask = 15;
    while ((int64_t)mask < 2 * items)
        mask = 2 * mask + 1;
    return mask;
}

typedef struct Found { // of one bucket
    Name *name;        // [count] owned
    int64_t count;
} Found;

static void find_in_bucket(Numbering *n, int b, Found *found) {
    int64_t items = n->begin[b + 1] - n->begin[b];
    uint32_t mask = mask_for(items);
    uint32_t *slot = ALLOC(uint32_t, (int64_t)mask + 1, "a table of ids");
    uint32_t *hash = ALLOC(uint32_t, items, "a table of ids");
    Name *name = ALLOC(Name, items, "a table of ids");
    found->count = find_distinct(n, b, slot, mask, name, hash);
    found->name = ALLOC(Name, found->count, "distinct ids");
    memcpy(found->name, name, (size_t)found->count * sizeof *name);
    memory_free(name);
    memory_free(hash);
    memory_free(slot);
}

static bool find_all(Numbering *n, Error *err) {
    Found *found = ALLOC(Found, BUCKETS, "distinct ids");
    int64_t count = 0;
#pragma omp parallel for schedule(dynamic)
    for (int b = 0; b < BUCKETS; b++)
        find_in_bucket(n, b, &found[b]);
    for (int b = 0; b < BUCKETS; b++) {
        n->first[b] = count;
        count += found[b].count;
    }
    n->first[BUCKETS] = count;
    n->name = TRY(Name, count, "distinct ids", err);
    for (int b = 0; b < BUCKETS; b++) {
        if (n->name != NULL)
            memcpy(n->name + n->first[b], found[b].name, (size_t)found[b].count * sizeof *n->name);
        memory_free(found[b].name);
    }
    memory_free(found);
    return n->name != NULL;
}

// ---- their order

static int order_of(const char *x, int64_t x_bytes, const char *y, int64_t y_bytes) {
    int order = memcmp(x, y, (size_t)(x_bytes < y_bytes ? x_bytes : y_bytes));
    return order != 0 ? order : (x_bytes > y_bytes) - (x_bytes < y_bytes);
}

static int compare(const void *a, const void *b, void *numbering) {
    const Name *x = a, *y = b;
    int64_t x_bytes, y_bytes;
    const char *x_at = text_at(numbering, x->column, x->span, &x_bytes);
    const char *y_at = text_at(numbering, y->column, y->span, &y_bytes);
    return order_of(x_at, x_bytes, y_at, y_bytes);
}

static void merge(Numbering *n, const Name *a, int64_t rows_a, const Name *b, int64_t rows_b,
                  Name *out) {
    int64_t i = 0, j = 0;
    while (i < rows_a || j < rows_b)
        *out++ = j == rows_b || (i < rows_a && compare(&a[i], &b[j], n) < 0) ? a[i++] : b[j++];
}

// name[count], with room[count] beside it.
static void sort_names(Numbering *n, Name *name, Name *room, int64_t count) {
    if (count < FEW) {
        qsort_r(name, (size_t)count, sizeof *name, compare, n);
        return;
    }
    int64_t half = count / 2;
#pragma omp task
    sort_names(n, name, room, half);
    sort_names(n, name + half, room + half, count - half);
#pragma omp taskwait
    merge(n, name, half, name + half, count - half, room);
    memcpy(name, room, (size_t)count * sizeof *name);
}

// place[distinct]: of the names as they were found.
static bool order_names(Numbering *n, int32_t *place, Error *err) {
    int64_t count = n->first[BUCKETS];
    Name *room = TRY(Name, count, "sorted ids", err);
    if (room == NULL)
        return false;
    for (int64_t k = 0; k < count; k++)
        n->name[k].number = (int32_t)k;
#pragma omp parallel
#pragma omp single
    sort_names(n, n->name, room, count);
    for (int64_t k = 0; k < count; k++)
        place[n->name[k].number] = (int32_t)k;
    memory_free(room);
    return true;
}

// ---- what comes out

static bool keep_text(const Numbering *n, NodeIds *ids, Error *err) {
    int64_t count = n->first[BUCKETS], bytes = 0;
    for (int64_t k = 0; k < count; k++)
        bytes += span_bytes(n->name[k].span);
    *ids = (NodeIds){.count = count,
                     .bytes = TRY(char, bytes, "ids of nodes", err),
                     .offset = TRY(int64_t, count + 1, "ids of nodes", err)};
    if (ids->bytes == NULL || ids->offset == NULL)
        return false;
    for (int64_t k = 0; k < count; k++) {
        const char *at = text_at(n, n->name[k].column, n->name[k].span, &bytes);
        memcpy(ids->bytes + ids->offset[k], at, (size_t)bytes);
        ids->offset[k + 1] = ids->offset[k] + bytes;
    }
    return true;
}

static void put_places(Numbering *n, const int32_t *place) {
#pragma omp parallel for schedule(dynamic)
    for (int b = 0; b < BUCKETS; b++)
        for (int64_t i = n->begin[b]; i < n->begin[b + 1]; i++) {
            int column;
            int64_t *value = value_of(n, n->item[i], &column);
            *value = place[n->first[b] + *value];
        }
}

static bool number_all(Numbering *n, NodeIds *ids, Error *err) {
    if (!find_all(n, err))
        return false;
    if (n->first[BUCKETS] > DATASET_MAX_NODES)
        return error_set(err, EXIT_DATA, "%lld %ss; up to %d can be used",
                         (long long)n->first[BUCKETS], n->columns->noun, DATASET_MAX_NODES);
    int32_t *place = TRY(int32_t, n->first[BUCKETS], "places of ids", err);
    bool ok = place != NULL && order_names(n, place, err) && keep_text(n, ids, err);
    if (ok)
        put_places(n, place);
    memory_free(place);
    return ok;
}

bool ids_number_text(IdColumns *columns, NodeIds *ids, Error *err) {
    Numbering n = {.columns = columns};
    for (int k = 0; k < columns->columns; k++) {
        n.all += columns->of[k].count;
        n.column_begin[k + 1] = n.all;
    }
    Chunk *chunk = ALLOC(Chunk, CHUNKS, "counts of ids");
    n.item = TRY(Item, n.all, "ids of a list", err);
    bool ok = n.item != NULL;
    if (ok)
        deal(&n, chunk, make_chunks(columns, chunk));
    memory_free(chunk);
    ok = ok && number_all(&n, ids, err);
    memory_free(n.item);
    memory_free(n.name);
    return ok;
}

int64_t ids_find_text(const NodeIds *ids, const char *text, int64_t bytes) {
    int64_t begin = 0, end = ids->count;
    while (begin < end) {
        int64_t middle = begin + (end - begin) / 2;
        int64_t begin_of = ids->offset[middle], of = ids->offset[middle + 1] - begin_of;
        int order = order_of(ids->bytes + begin_of, of, text, bytes);
        if (order == 0)
            return middle;
        if (order < 0)
            begin = middle + 1;
        else
            end = middle;
    }
    return -1;
}
