// Text ids become their places in ascending order of their bytes.
//
// The idea: the ends are read in the order of the text, and each is looked for in one table of all
// distinct ids, by all threads; new ones are put there with compare-and-swap. A look-up misses the
// caches twice, at its slot and at its name, so both are fetched ahead for a batch of ends. The
// names alone are sorted. Which thread finds an id first depends on chance, and so does the number
// that the id has meanwhile; its place in the order does not, nor does anything that comes out.
//
//   end:  bytes -> key (first 16 bytes, hash) -> slot: hash's upper half | number + 1 ->
//   name[number]
//
// An end's span becomes the number of its id, and then the place. This takes 8 bytes an end, and 48
// to 64 bytes a distinct id.

#include "internal.h"

#include <omp.h>
#include <stdatomic.h>

enum {
    PIECE = 8192, // ends that a thread takes at once
    BATCH = 32,   // ends whose slots are fetched together
    FEW = 4096,   // names that one thread sorts
    AHEAD = 16,   // bytes of an id that its name holds
    LEAST = 1 << 16
};

typedef struct Name {       // a distinct id; a cache line holds two
    uint64_t first, second; // its first 16 bytes, as numbers that ascend as they do
    int64_t span;
    int32_t column;
    int32_t number; // as it was found
} Name;

typedef struct IdKey {
    uint64_t first, second, hash;
} IdKey;

typedef struct Numbering {
    IdColumns *columns;
    int64_t all;
    int64_t pieces_before[ID_COLUMNS + 1]; // of column k
    _Atomic int64_t next;                  // piece
    _Atomic uint64_t *slot;                // [mask + 1]; 0: empty
    uint64_t mask;
    Name *name;            // [room]
    int64_t room;          // half of the slots
    _Atomic int64_t names; // numbers that were given out
    int threads;
    int64_t *spare; // [threads] a number for the thread's next new id, -1: none
} Numbering;

static const char *text_at(const Numbering *n, int column, int64_t span) {
    return n->columns->of[column].text + (span >> SPAN_BITS);
}

// ---- keys

static uint64_t ascending(uint64_t bytes) {
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(bytes) : bytes;
}

static uint64_t load(const char *at, size_t bytes) {
    uint64_t out = 0;
    memcpy(&out, at, bytes);
    return ascending(out);
}

// The first 8 of `bytes` bytes, zeros behind them, without a copy of a length that varies.
static uint64_t load_up_to_8(const char *at, int64_t bytes) {
    if (bytes >= 8)
        return load(at, 8);
    if (bytes >= 4) // the second 4 bytes overlap the first
        return load(at, 4) | load(at + bytes - 4, 4) >> (8 * (bytes - 4));
    uint64_t out = 0;
    for (int64_t i = 0; i < bytes; i++)
        out |= (uint64_t)(unsigned char)at[i] << (56 - 8 * i);
    return out;
}

static uint64_t mix(uint64_t a, uint64_t b) {
    unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static IdKey key_of(const char *at, int64_t bytes) {
    IdKey key = {load_up_to_8(at, bytes), bytes > 8 ? load_up_to_8(at + 8, bytes - 8) : 0, 0};
    if (bytes > AHEAD)
        key.hash = hash_bytes(at, (size_t)bytes);
    else // wyhash's product of two words, which no word makes 0
        key.hash = mix(mix(key.first ^ UINT64_C(0xa0761d6478bd642f),
                           key.second ^ UINT64_C(0xe7037ed1a0b428db)) ^
                           (uint64_t)bytes,
                       UINT64_C(0x8ebc6af09c88c6e3));
    return key;
}

// ---- the table

static const uint64_t TAG = UINT64_C(0xffffffff00000000);

static bool is_name(const Numbering *n, const Name *name, const IdKey *key, const char *at,
                    int64_t bytes) {
    return name->first == key->first && name->second == key->second &&
           span_bytes(name->span) == bytes &&
           (bytes <= AHEAD || memcmp(text_at(n, name->column, name->span) + AHEAD, at + AHEAD,
                                     (size_t)(bytes - AHEAD)) == 0);
}

// A number that was given out while another thread was faster stays with its thread.
static int64_t find_or_add(Numbering *n, const IdKey *key, int column, int64_t span,
                           int64_t *spare) {
    const char *at = text_at(n, column, span);
    for (uint64_t s = key->hash & n->mask;; s = (s + 1) & n->mask) {
        uint64_t held = atomic_load_explicit(&n->slot[s], memory_order_acquire);
        if (held == 0) {
            if (*spare < 0)
                *spare = atomic_fetch_add_explicit(&n->names, 1, memory_order_relaxed);
            int64_t number = *spare;
            n->name[number] = (Name){key->first, key->second, span, column, (int32_t)number};
            if (atomic_compare_exchange_strong_explicit(
                    &n->slot[s], &held, (key->hash & TAG) | (uint64_t)(number + 1),
                    memory_order_acq_rel, memory_order_acquire)) {
                *spare = -1;
                return number;
            }
        } // else `held` is what another thread has put there meanwhile
        int64_t number = (int64_t)(held & ~TAG) - 1;
        if (((held ^ key->hash) & TAG) == 0 &&
            is_name(n, &n->name[number], key, at, span_bytes(span)))
            return number;
    }
}

static void find_batch(Numbering *n, int column, int64_t *value, int count, int64_t *spare) {
    IdKey key[BATCH];
    for (int i = 0; i < count; i++) {
        key[i] = key_of(text_at(n, column, value[i]), span_bytes(value[i]));
        __builtin_prefetch(&n->slot[key[i].hash & n->mask]);
    }
    for (int i = 0; i < count; i++) {
        uint64_t held = atomic_load_explicit(&n->slot[key[i].hash & n->mask], memory_order_relaxed);
        if (held != 0)
            __builtin_prefetch(&n->name[(held & ~TAG) - 1]);
    }
    for (int i = 0; i < count; i++)
        value[i] = find_or_add(n, &key[i], column, value[i], spare);
}

static void find_piece(Numbering *n, int64_t piece, int64_t *spare) {
    int column = 0;
    while (piece >= n->pieces_before[column + 1])
        column++;
    const IdColumn *ids = &n->columns->of[column];
    int64_t at = (piece - n->pieces_before[column]) * PIECE, end = at + PIECE;
    end = end < ids->count ? end : ids->count;
    for (; at < end; at += BATCH)
        find_batch(n, column, ids->value + at, (int)(end - at < BATCH ? end - at : BATCH), spare);
}

// -1: all are taken, or names that all threads might still find would not fit.
static int64_t take_piece(Numbering *n) {
    int64_t most = n->all < (int64_t)n->threads * PIECE ? n->all : (int64_t)n->threads * PIECE;
    if (n->room < n->all + n->threads && atomic_load(&n->names) + most > n->room)
        return -1;
    int64_t piece = atomic_fetch_add(&n->next, 1);
    return piece < n->pieces_before[n->columns->columns] ? piece : -1;
}

// A number that was given out and is not used has a name that is none.
static void find_until_full(Numbering *n) {
#pragma omp parallel num_threads(n->threads)
    {
        int64_t *kept = &n->spare[omp_get_thread_num()], spare = *kept;
        for (int64_t piece; (piece = take_piece(n)) >= 0;)
            find_piece(n, piece, &spare);
        if (spare >= 0)
            n->name[spare].number = -1;
        *kept = spare;
    }
}

// The names of a smaller table, which are distinct.
static void put_names(Numbering *n) {
    int64_t names = atomic_load(&n->names);
#pragma omp parallel for num_threads(n->threads) schedule(static)
    for (int64_t k = 0; k < names; k++) {
        const Name *name = &n->name[k];
        if (name->number < 0)
            continue;
        uint64_t hash = key_of(text_at(n, name->column, name->span), span_bytes(name->span)).hash;
        for (uint64_t s = hash & n->mask, empty = 0;
             !atomic_compare_exchange_strong(&n->slot[s], &empty, (hash & TAG) | (uint64_t)(k + 1));
             s = (s + 1) & n->mask)
            empty = 0;
    }
}

static bool grow(Numbering *n, int64_t room, Error *err) {
    int64_t names = atomic_load(&n->names);
    memory_free(n->slot);
    n->slot = NULL;
    Name *name = TRY(Name, room + n->threads, "distinct ids", err);
    if (name == NULL)
        return false;
    if (names > 0)
        memcpy(name, n->name, (size_t)names * sizeof *name);
    memory_free(n->name);
    n->name = name;
    n->room = room;
    n->mask = (uint64_t)(2 * room) - 1;
    n->slot = TRY(_Atomic uint64_t, 2 * room, "a table of ids", err);
    if (n->slot != NULL)
        put_names(n);
    return n->slot != NULL;
}

static bool find_all(Numbering *n, Error *err) {
    int64_t room = 8, least = (int64_t)4 * n->threads * PIECE;
    least = n->all + n->threads < least ? n->all + n->threads : least < LEAST ? LEAST : least;
    while (room < least)
        room *= 2;
    for (;; room *= 2) {
        if (!grow(n, room, err))
            return false;
        find_until_full(n);
        if (atomic_load(&n->next) >= n->pieces_before[n->columns->columns])
            break;
        if (atomic_load(&n->names) > DATASET_MAX_NODES)
            break;
    }
    memory_free(n->slot);
    n->slot = NULL;
    return true;
}

// Names that are none have the last ones in their place. Returns how many there are.
static int64_t close_gaps(Numbering *n) {
    int64_t count = atomic_load(&n->names);
    for (int64_t k = 0; k < count; k++)
        while (k < count && n->name[k].number < 0)
            n->name[k] = n->name[--count];
    return count;
}

// ---- their order

static int order_of(const char *x, int64_t x_bytes, const char *y, int64_t y_bytes) {
    int order = memcmp(x, y, (size_t)(x_bytes < y_bytes ? x_bytes : y_bytes));
    return order != 0 ? order : (x_bytes > y_bytes) - (x_bytes < y_bytes);
}

static int compare(const void *a, const void *b, void *numbering) {
    const Name *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return order_of(text_at(numbering, x->column, x->span), span_bytes(x->span),
                    text_at(numbering, y->column, y->span), span_bytes(y->span));
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

// place[]: of the names by the numbers that they have.
static bool order_names(Numbering *n, int64_t count, int32_t *place, Error *err) {
    FREED Name *room = TRY(Name, count, "sorted ids", err);
    if (room == NULL)
        return false;
#pragma omp parallel num_threads(n->threads)
#pragma omp single
    sort_names(n, n->name, room, count);
    for (int64_t k = 0; k < count; k++)
        place[n->name[k].number] = (int32_t)k;
    return true;
}

// ---- what comes out

static bool keep_text(const Numbering *n, int64_t count, NodeIds *ids, Error *err) {
    int64_t bytes = 0;
    for (int64_t k = 0; k < count; k++)
        bytes += span_bytes(n->name[k].span);
    *ids = (NodeIds){.count = count,
                     .bytes = TRY(char, bytes, "ids of nodes", err),
                     .offset = TRY(int64_t, count + 1, "ids of nodes", err)};
    if (ids->bytes == NULL || ids->offset == NULL)
        return false;
    for (int64_t k = 0; k < count; k++)
        ids->offset[k + 1] = ids->offset[k] + span_bytes(n->name[k].span);
#pragma omp parallel for num_threads(n->threads) schedule(static)
    for (int64_t k = 0; k < count; k++)
        memcpy(ids->bytes + ids->offset[k], text_at(n, n->name[k].column, n->name[k].span),
               (size_t)span_bytes(n->name[k].span));
    return true;
}

static void put_places(Numbering *n, const int32_t *place) {
    for (int c = 0; c < n->columns->columns; c++) {
        int64_t *value = n->columns->of[c].value, count = n->columns->of[c].count;
#pragma omp parallel for num_threads(n->threads) schedule(static)
        for (int64_t e = 0; e < count; e++)
            value[e] = place[value[e]];
    }
}

static bool number_all(Numbering *n, NodeIds *ids, Error *err) {
    if (!find_all(n, err))
        return false;
    int64_t numbers = atomic_load(&n->names), count = close_gaps(n);
    if (count > DATASET_MAX_NODES)
        return error_data(err, "%ld %ss; up to %d can be used", count, n->columns->noun,
                          DATASET_MAX_NODES);
    FREED int32_t *place = TRY(int32_t, numbers, "places of ids", err);
    bool ok = place != NULL && order_names(n, count, place, err) && keep_text(n, count, ids, err);
    if (ok)
        put_places(n, place);
    return ok;
}

bool ids_number_text(IdColumns *columns, NodeIds *ids, Error *err) {
    Numbering n = {.columns = columns};
    for (int k = 0; k < columns->columns; k++) {
        n.all += columns->of[k].count;
        n.pieces_before[k + 1] = n.pieces_before[k] + (columns->of[k].count + PIECE - 1) / PIECE;
    }
    n.threads = n.all < PIECE ? 1 : omp_get_max_threads();
    n.spare = ALLOC(int64_t, n.threads, "numbers of ids");
    for (int t = 0; t < n.threads; t++)
        n.spare[t] = -1;
    bool ok = number_all(&n, ids, err);
    MEMORY_FREE(n.slot, n.name, n.spare);
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
