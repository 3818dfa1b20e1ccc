// Text made of pieces (a number and what follows it) by several threads. The idea: blocks have a
// number of pieces that depends on nothing but the size of a piece, so the file is the same with
// any number of threads. Compressed, each block is a gzip member of its own without a time; readers
// of gzip take several members for one text.

#include "deflater.h"
#include "writers.h"

#include <omp.h>

// Bytes of text, blocks in memory; the level of deflate: 6 would save 4 % more and take 3 times as
// long for numbers.
enum { BLOCK = 1 << 20, SLOTS = 16, LEVEL = 4 };

typedef struct Slot {
    char *text; // [BLOCK]
    size_t bytes;
    Press packed;
} Slot;

typedef struct Slots {
    Slot slot[SLOTS];
    int count;
    const TextPieces *pieces;
    int64_t per_block;
} Slots;

static bool slot_open(Slot *slot, bool packed, Error *err) {
    slot->text = TRY(char, BLOCK, "text to write", err);
    return slot->text != NULL && (!packed || press_open(&slot->packed, LEVEL, 15 + 16, BLOCK, err));
}

static void slots_close(Slots *slots) {
    for (int s = 0; s < SLOTS; s++) {
        memory_free(slots->slot[s].text);
        press_close(&slots->slot[s].packed);
    }
}

static bool slots_open(Slots *slots, const TextPieces *pieces, bool packed, Error *err) {
    *slots = (Slots){.pieces = pieces, .per_block = BLOCK / (int64_t)pieces->most};
    int64_t blocks = pieces->count / slots->per_block + 1;
    int threads = omp_get_max_threads();
    slots->count = threads < SLOTS ? threads : SLOTS;
    slots->count = blocks < slots->count ? (int)blocks : slots->count;
    for (int s = 0; s < slots->count; s++)
        if (!slot_open(&slots->slot[s], packed, err))
            return false;
    return true;
}

static void fill(Slots *slots, Slot *slot, int64_t begin) {
    const TextPieces *pieces = slots->pieces;
    int64_t left = pieces->count - begin;
    int64_t end = begin + (left < slots->per_block ? left : slots->per_block);
    slot->bytes = (size_t)(pieces->put(pieces->context, begin, end, slot->text) - slot->text);
    assert(slot->bytes <= BLOCK);
    if (slot->packed.open)
        press(&slot->packed, slot->text, slot->bytes, 0, true);
}

static bool put_slot(TextFile *text, const Slot *slot, Error *err) {
    const Press *packed = &slot->packed;
    return packed->open ? file_writer_put(&text->file, packed->out, packed->bytes, err)
                        : file_writer_put(&text->file, slot->text, slot->bytes, err);
}

// The blocks from the piece `begin` on, one for each slot; returns the first piece after them.
static int64_t put_blocks(TextFile *text, Slots *slots, int64_t begin, Error *err) {
    int64_t left = slots->pieces->count - begin, per_block = slots->per_block;
    int64_t blocks = left == 0 ? 1 : (left + per_block - 1) / per_block;
    int count = blocks < slots->count ? (int)blocks : slots->count;
#pragma omp parallel for schedule(dynamic) num_threads(count) if (count > 1)
    for (int s = 0; s < count; s++)
        fill(slots, &slots->slot[s], begin + s * per_block);
    for (int s = 0; s < count && err->code == 0; s++)
        put_slot(text, &slots->slot[s], err);
    int64_t made = count * per_block;
    return begin + (made < left ? made : left);
}

bool text_put(TextFile *text, const TextPieces *pieces, Error *err) {
    CLEARED(slots_close) Slots slots = {0};
    assert(pieces->most > 0 && pieces->most <= BLOCK);
    int64_t before = text->done, at = 0;
    if (!slots_open(&slots, pieces, text->packed, err))
        return false;
    do {
        at = put_blocks(text, &slots, at, err);
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
