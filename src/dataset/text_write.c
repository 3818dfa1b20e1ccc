// Text made of pieces (a number and what follows it) by several threads. The idea: blocks have a
// number of pieces that depends on nothing but the size of a piece, so the file is the same with
// any number of threads. Compressed, each block is a gzip member of its own without a time; readers
// of gzip take several members for one text.

#include "writers.h"

#include <omp.h>
#include <zlib.h>

// Bytes of text, blocks in memory; the level of deflate: 6 would save 4 % more and take 3 times as
// long for numbers.
enum { BLOCK = 1 << 20, SLOTS = 16, LEVEL = 4 };

typedef struct Slot {
    char *text; // [BLOCK]
    size_t bytes;
    unsigned char *packed; // [room]
    size_t packed_bytes;
    z_stream stream;
    bool open;
} Slot;

typedef struct Press {
    Slot slot[SLOTS];
    int slots;
    size_t room;
    const TextPieces *pieces;
    int64_t per_block;
} Press;

static bool slot_open(Slot *slot, size_t *room, bool packed, Error *err) {
    slot->text = TRY(char, BLOCK, "text to write", err);
    if (slot->text == NULL || !packed)
        return slot->text != NULL;
    slot->open =
        deflateInit2(&slot->stream, LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK;
    if (!slot->open)
        return error_set(err, EXIT_MEMORY, "no memory to compress text");
    *room = deflateBound(&slot->stream, BLOCK);
    slot->packed = TRY(unsigned char, *room, "text to write", err);
    return slot->packed != NULL;
}

static void press_close(Press *press) {
    for (int s = 0; s < SLOTS; s++) {
        memory_free(press->slot[s].text);
        memory_free(press->slot[s].packed);
        if (press->slot[s].open)
            deflateEnd(&press->slot[s].stream);
    }
}

static bool press_open(Press *press, const TextPieces *pieces, bool packed, Error *err) {
    *press = (Press){.pieces = pieces, .per_block = BLOCK / (int64_t)pieces->most};
    int64_t blocks = pieces->count / press->per_block + 1;
    int threads = omp_get_max_threads();
    press->slots = threads < SLOTS ? threads : SLOTS;
    press->slots = blocks < press->slots ? (int)blocks : press->slots;
    for (int s = 0; s < press->slots; s++)
        if (!slot_open(&press->slot[s], &press->room, packed, err))
            return false;
    return true;
}

// The output has room for all, so one call is enough.
static void pack(Slot *slot, size_t room) {
    slot->stream.next_in = (Bytef *)slot->text;
    slot->stream.avail_in = (uInt)slot->bytes;
    slot->stream.next_out = slot->packed;
    slot->stream.avail_out = (uInt)room;
    int status = deflate(&slot->stream, Z_FINISH);
    assert(status == Z_STREAM_END);
    (void)status;
    slot->packed_bytes = room - slot->stream.avail_out;
    deflateReset(&slot->stream);
}

static void fill(Press *press, Slot *slot, int64_t begin) {
    const TextPieces *pieces = press->pieces;
    int64_t left = pieces->count - begin;
    int64_t end = begin + (left < press->per_block ? left : press->per_block);
    slot->bytes = (size_t)(pieces->put(pieces->context, begin, end, slot->text) - slot->text);
    assert(slot->bytes <= BLOCK);
    if (slot->open)
        pack(slot, press->room);
}

static bool put_slot(TextFile *text, const Slot *slot, Error *err) {
    return slot->open ? file_writer_put(&text->file, slot->packed, slot->packed_bytes, err)
                      : file_writer_put(&text->file, slot->text, slot->bytes, err);
}

// The blocks from the piece `begin` on, one for each slot; returns the first piece after them.
static int64_t put_blocks(TextFile *text, Press *press, int64_t begin, Error *err) {
    int64_t left = press->pieces->count - begin, per_block = press->per_block;
    int64_t blocks = left == 0 ? 1 : (left + per_block - 1) / per_block;
    int count = blocks < press->slots ? (int)blocks : press->slots;
#pragma omp parallel for schedule(dynamic) num_threads(count) if (count > 1)
    for (int s = 0; s < count; s++)
        fill(press, &press->slot[s], begin + s * per_block);
    for (int s = 0; s < count && err->code == 0; s++)
        put_slot(text, &press->slot[s], err);
    int64_t made = count * per_block;
    return begin + (made < left ? made : left);
}

bool text_put(TextFile *text, const TextPieces *pieces, Error *err) {
    CLEARED(press_close) Press press = {0};
    assert(pieces->most > 0 && pieces->most <= BLOCK);
    int64_t before = text->done, at = 0;
    bool ok = press_open(&press, pieces, text->packed, err);
    do {
        if (!ok)
            break;
        at = put_blocks(text, &press, at, err);
        text->done = before + at;
        if (text->total > 0)
            progress_update("%.0f %%", 100 * (double)text->done / (double)text->total);
    } while (err->code == 0 && at < pieces->count);
    return err->code == 0;
}

static char *put_copy(const void *context, UNUSED int64_t begin, int64_t end, char *out) {
    return end == 0 ? out : stpcpy(out, context);
}

bool text_put_line(TextFile *text, const char *line, Error *err) {
    TextPieces piece = {1, strlen(line) + 1, put_copy, line};
    return text_put(text, &piece, err);
}

int64_t row_of_piece(const int64_t *offset, int64_t rows, int64_t more, int64_t piece) {
    int64_t low = 0, high = rows;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        *(offset[middle] - offset[0] + more * middle <= piece ? &low : &high) = middle;
    }
    return low;
}
