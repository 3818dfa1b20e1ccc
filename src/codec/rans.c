// See rans.h. Four states take turns, so that four chains of dependent instructions run at a time.
// Neither way asks whether a byte crosses: it copies the two that may and moves on by those that
// do, because such a branch is as hard to predict as the codes are to compress.

#include "rans.h"
#include "differences.h"

#include <assert.h>
#include <string.h>

enum {
    CODES = 256,
    SCALE = 12, // frequencies have the sum 2^SCALE
    SUM = 1 << SCALE,
    LEAST = 1 << 23, // of a state; the most is 2^8 times that, less one
    STATES = 4,
    STATE_BYTES = 4 * STATES,
    TABLE_MOST = 2 * CODES, // a frequency takes two bytes, a run of zeros fewer
    GROUP_MOST = 2 * STATES // bytes of one code of each state
};

// ---- frequencies

// Four sets of counters, for equal codes stand side by side and each would wait for the one before.
static void count_codes(int64_t count[CODES], const uint8_t *code, int64_t n) {
    int64_t part[STATES][CODES] = {{0}};
    int64_t i = 0;
    for (; i + STATES <= n; i += STATES)
        for (int k = 0; k < STATES; k++)
            part[k][code[i + k]]++;
    for (; i < n; i++)
        part[0][code[i]]++;
    for (int s = 0; s < CODES; s++)
        count[s] = part[0][s] + part[1][s] + part[2][s] + part[3][s];
}

// Each code that is there gets 1 before the others are shared out by count, so that what is left
// for the most frequent is never negative, as it is if rare codes are raised to 1 afterwards.
static void scale_counts(uint32_t frequency[CODES], const int64_t count[CODES], int64_t n) {
    uint64_t present = 0, left = SUM;
    int most = 0;
    for (int s = 0; s < CODES; s++)
        present += count[s] > 0;
    for (int s = 0; s < CODES; s++) {
        uint64_t share = (uint64_t)count[s] * (SUM - present) / (uint64_t)n;
        frequency[s] = count[s] > 0 ? 1 + (uint32_t)share : 0;
        left -= frequency[s];
        most = count[s] > count[most] ? s : most;
    }
    assert(left < SUM);
    frequency[most] += (uint32_t)left;
}

static unsigned char *write_number(unsigned char *at, uint32_t number) {
    for (; number >= 0x80; number >>= 7)
        *at++ = (unsigned char)(number | 0x80);
    *at++ = (unsigned char)number;
    return at;
}

static size_t write_table(unsigned char *out, const uint32_t frequency[CODES], int codes) {
    unsigned char *at = out;
    for (int s = 0, end; s < codes; s = end) {
        at = write_number(at, frequency[s]);
        for (end = s + 1; frequency[s] == 0 && end < codes && frequency[end] == 0;)
            end++;
        if (frequency[s] == 0)
            at = write_number(at, (uint32_t)(end - s));
    }
    return (size_t)(at - out);
}

// ---- encoding: x -> (x / f) 2^12 + start + x mod f, after x has given away bytes until it is
// below 2^19 f

typedef struct Step {       // of one code
    uint32_t inverse;       // x / f = x inverse >> shift, exactly for x < 2^31 (Alverson 1991)
    uint32_t limit;         // 2^19 f
    uint16_t start, others; // the frequencies of the codes below, and of all others
    uint8_t shift;
} Step;

static void steps_make(Step step[CODES], const uint32_t frequency[CODES]) {
    uint32_t start = 0;
    for (int s = 0; s < CODES; s++) {
        uint32_t f = frequency[s] > 0 ? frequency[s] : 1;
        uint8_t shift = 31;
        while (1U << (shift - 31) < f)
            shift++;
        step[s] = (Step){.inverse = (uint32_t)(((1ULL << shift) + f - 1) / f),
                         .limit = f << (31 - SCALE),
                         .start = (uint16_t)start,
                         .others = (uint16_t)(SUM - f),
                         .shift = shift};
        start += frequency[s];
    }
}

static inline unsigned char *put(uint32_t *state, const Step *step, unsigned char *at) {
    uint32_t x = *state;
    at[-1] = (unsigned char)x;
    at[-2] = (unsigned char)(x >> 8);
    int crossing = (x >= step->limit) + (x >> 8 >= step->limit);
    x >>= 8 * crossing;
    uint32_t quotient = (uint32_t)((uint64_t)x * step->inverse >> step->shift);
    *state = x + step->start + quotient * step->others;
    return at - crossing;
}

// Writes states from `out` on and bytes down from `end`, never below `out`. Returns where the bytes
// begin; NULL if nothing is free between them.
static unsigned char *write_codes(unsigned char *out, unsigned char *end, const Step step[CODES],
                                  const uint8_t *code, int64_t n) {
    uint32_t state[STATES] = {LEAST, LEAST, LEAST, LEAST};
    unsigned char *at = end, *floor = out + STATE_BYTES;
    static_assert(GROUP_MOST <= STATE_BYTES, "the last group may lie over the states' place");
    for (; n % STATES != 0; n--)
        at = put(&state[(n - 1) % STATES], &step[code[n - 1]], at);
    for (; n > 0 && at > floor; n -= STATES)
        for (int k = 1; k <= STATES; k++)
            at = put(&state[STATES - k], &step[code[n - k]], at);
    if (at <= floor)
        return NULL;
    for (int k = 0; k < STATES; k++)
        number_put(out + 4 * k, state[k], 4);
    return at;
}

static size_t write_all(unsigned char *out, size_t room, const uint32_t frequency[CODES], int codes,
                        const uint8_t *code, int64_t n) {
    unsigned char table[TABLE_MOST];
    Step step[CODES];
    size_t before = write_table(table, frequency, codes), head = 1 + before + STATE_BYTES;
    if (head >= room)
        return 0;
    out[0] = RANS_CODED;
    memcpy(out + 1, table, before);
    steps_make(step, frequency);
    const unsigned char *from = write_codes(out + 1 + before, out + room, step, code, n);
    if (from == NULL)
        return 0;
    size_t bytes = (size_t)(out + room - from);
    memmove(out + head, from, bytes);
    return head + bytes;
}

size_t rans_encode(unsigned char *out, size_t room, const uint8_t *code, int64_t n, int bits,
                   uint8_t zero) {
    int64_t count[CODES];
    uint32_t frequency[CODES];
    if (room < 2)
        return 0;
    count_codes(count, code, n);
    if (count[zero] == n) {
        out[0] = RANS_ZERO;
        return 1;
    }
    scale_counts(frequency, count, n);
    return write_all(out, room, frequency, 1 << bits, code, n);
}

// ---- decoding: x -> f (x / 2^12) + x mod 2^12 - start, then x takes bytes until it is 2^23

typedef struct Slot {          // of a number x mod 2^12
    uint16_t frequency, place; // of its code; x mod 2^12 - start
} Slot;

typedef struct Reader {
    const unsigned char *at, *end;
    uint32_t state[STATES];
    Slot slot[SUM];
    uint8_t code[SUM]; // beside the slots: 4 bytes a slot are read faster than 8
} Reader;

// At most two bytes: neither a frequency nor a run needs more.
static bool read_number(Reader *reader, uint32_t *number) {
    *number = 0;
    for (int shift = 0; shift <= 7 && reader->at < reader->end; shift += 7) {
        uint32_t byte = *reader->at++;
        *number |= (byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static bool fill_slots(Reader *reader, uint32_t start, uint32_t frequency, uint32_t code) {
    if (frequency > SUM - start)
        return false;
    for (uint32_t i = 0; i < frequency; i++)
        reader->slot[start + i] = (Slot){(uint16_t)frequency, (uint16_t)i};
    memset(reader->code + start, (int)code, frequency);
    return true;
}

static bool read_table(Reader *reader, uint32_t codes) {
    uint32_t start = 0;
    for (uint32_t s = 0, run; s < codes; s += run) {
        uint32_t frequency;
        if (!read_number(reader, &frequency) || !fill_slots(reader, start, frequency, s))
            return false;
        start += frequency;
        run = 1;
        if (frequency == 0 && (!read_number(reader, &run) || run == 0 || run > codes - s))
            return false;
    }
    return start == SUM;
}

static bool read_states(Reader *reader) {
    bool sound = reader->end - reader->at >= STATE_BYTES;
    for (int k = 0; sound && k < STATES; k++, reader->at += 4) {
        uint32_t x = number_get(reader->at, 4);
        sound = x >= LEAST && x >> 8 < LEAST;
        reader->state[k] = x;
    }
    return sound;
}

// Whatever the bytes are, the state stays in its range. Reads two bytes, needed or not.
static inline uint8_t get(uint32_t *state, const unsigned char **at, const Reader *reader) {
    uint32_t low = *state % SUM;
    const Slot *slot = &reader->slot[low];
    uint32_t x = slot->frequency * (*state >> SCALE) + slot->place;
    uint32_t two = (uint32_t)(*at)[0] << 8 | (*at)[1];
    unsigned top = 31U ^ (unsigned)__builtin_clz(x); // its highest bit, 11 to 30
    unsigned crossing = (30 - top) & 24;             // bits that are missing up to 2^23
    *state = x << crossing | two >> (16 - crossing);
    *at += crossing / 8;
    return reader->code[low];
}

// Codes from i on, whole groups alone, as long as the bytes begin at `last` or before. Returns the
// first that is left.
static int64_t read_groups(Reader *reader, const unsigned char *last, uint8_t *code, int64_t i,
                           int64_t n) {
    uint32_t state[STATES]; // in registers: the codes are bytes, which may be a part of *reader
    const unsigned char *at = reader->at;
    memcpy(state, reader->state, sizeof state);
    for (; n - i >= STATES && at <= last; i += STATES)
        for (int k = 0; k < STATES; k++)
            code[i + k] = get(&state[k], &at, reader);
    memcpy(reader->state, state, sizeof state);
    reader->at = at;
    return i;
}

// Near the end the bytes are read from a copy that zeros follow; what takes of these is refused.
static bool read_codes(Reader *reader, uint8_t *code, int64_t n) {
    unsigned char copy[4 * GROUP_MOST] = {0};
    int64_t i = read_groups(reader, reader->end - GROUP_MOST, code, 0, n);
    ptrdiff_t left = reader->end - reader->at;
    if (left >= GROUP_MOST) // fewer codes than a group are left, and take less
        return false;
    memcpy(copy, reader->at, (size_t)left);
    reader->at = copy;
    i = read_groups(reader, copy + left, code, i, n);
    for (; i < n && n - i < STATES; i++)
        code[i] = get(&reader->state[i % STATES], &reader->at, reader);
    bool whole = i == n && reader->at == copy + left;
    for (int k = 0; k < STATES; k++)
        whole = whole && reader->state[k] == LEAST;
    return whole;
}

bool rans_decode(uint8_t *code, int64_t n, int bits, uint8_t zero, const unsigned char *in,
                 size_t bytes) {
    Reader reader;
    if (bytes == 1 && in[0] == RANS_ZERO) {
        memset(code, zero, (size_t)n);
        return true;
    }
    if (bytes == 0 || in[0] != RANS_CODED)
        return false;
    reader.at = in + 1;
    reader.end = in + bytes;
    return read_table(&reader, 1U << bits) && read_states(&reader) && read_codes(&reader, code, n);
}
