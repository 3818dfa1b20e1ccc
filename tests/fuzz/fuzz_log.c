// The reader of powers of two as entropy codes (gradients.codec=log), which ends the program at
// codes that do not decode, so those are looked at before. clang does not compile the kernels: a
// few lines stand for the one that makes floats of codes.

#include "fuzz.h"

#include "codec/rans.h"
#include "fringe/codec.h"

// Of a code of `bits` bits, by the definition of GRID_LOG in backend.h.
static float value_of(int code, int bits, float s) {
    int zero = (1 << (bits - 1)) - 1, m = abs(code - zero);
    return m == 0 ? 0 : (float)ldexp(code < zero ? -(double)s : (double)s, m - zero);
}

static float step_of(const unsigned char *steps, int64_t i, bool bf16) {
    uint32_t bits = 0;
    memcpy(bf16 ? (unsigned char *)&bits + 2 : (unsigned char *)&bits, steps + i * (bf16 ? 2 : 4),
           bf16 ? 2 : 4);
    float step;
    memcpy(&step, &bits, sizeof step);
    return step;
}

// A byte a code; of narrower planes all bytes are read, and the values are 0.
static void decode_rows(Rows out, int64_t begin, const Quantized *from, const Poll *poll) {
    (void)poll;
    const unsigned char *payload = (const unsigned char *)from->payload;
    int64_t row_bytes = quantized_row_bytes(out.columns, from->bits);
    for (int64_t i = 0; i < from->count; i++) {
        float *to = (float *)out.at + (begin + from->first + i) * out.stride;
        float step = step_of((const unsigned char *)from->step, i, from->bf16);
        for (int64_t c = 0; c < row_bytes; c++) {
            float value = value_of(payload[i * row_bytes + c], 8, step);
            if (c < out.columns)
                to[c] = from->bits == 8 ? value : 0;
        }
    }
}

// Without the kernels' list; nothing asks for one by its name.
__attribute__((weak)) const Family backend_family = {0};
static const Backend stub = {.host_is_device = true, .dequantize = decode_rows};

typedef struct Message {
    MessageLayout layout;
    GridOptions options;
    const uint8_t *bytes;
    size_t before; // of its scales
} Message;

// Sound codes, which stay for the comparison. Those that are packed are as many bytes as there can
// be, whatever they are.
static bool decodes(const Message *m, uint8_t *code) {
    size_t left = m->layout.bytes - m->before;
    const uint8_t *header = m->bytes + m->before;
    if (header[0] == RANS_PACKED)
        return m->layout.bytes == codec_grid_entropy.bytes(&m->layout);
    return rans_decode(code, m->layout.rows * m->layout.columns, m->options.bits,
                       (uint8_t)((1 << (m->options.bits - 1)) - 1), header, left);
}

static void read_message(Message *m, uint8_t *code, float *x) {
    const MessageLayout *l = &m->layout;
    Rows out = {.at = (void *)x, .count = l->rows, .columns = l->columns, .stride = l->columns};
    if (!decodes(m, code))
        return;
    codec_grid_entropy.decode(&stub, out, 0, l, (const void *)m->bytes, NULL);
    for (int64_t i = 0; i < l->rows * l->columns && m->bytes[m->before] != RANS_PACKED; i++) {
        float s = step_of(m->bytes, i / l->columns, m->options.bf16);
        float wanted = value_of(code[i], m->options.bits, s);
        FUZZ_CHECK(memcmp(x + i, &wanted, sizeof wanted) == 0);
    }
}

// The first byte says the bits and how the scales travel, the next two how many rows and columns
// there are; the others are the message.
FUZZER {
    if (count < 3)
        return;
    Message m = {.layout = {.rows = 1 + bytes[1] % 8, .columns = 1 + bytes[2], .bytes = count - 3},
                 .options = {.rule = GRID_LOG, .bits = 3 + bytes[0] % 6, .bf16 = bytes[0] >= 128}};
    grid_set(&m.layout.values, m.options);
    m.before = (size_t)m.layout.rows * (m.options.bf16 ? 2 : 4);
    size_t values = (size_t)(m.layout.rows * m.layout.columns);
    uint8_t *exact = fuzz_exact(bytes + 3, count - 3), *scratch = malloc(values);
    uint8_t *code = malloc(values);
    float *x = malloc(values * sizeof *x);
    FUZZ_CHECK(scratch != NULL && code != NULL && x != NULL);
    m.bytes = exact;
    m.layout.scratch = (void *)scratch;
    if (m.layout.bytes > m.before)
        read_message(&m, code, x);
    free(x);
    free(code);
    free(scratch);
    free(exact);
}
