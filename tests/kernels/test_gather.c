// If this failed, packed rows would not be the rows and partial sums of the send list, scaled where
// they are scaled, unpacking would leave something in the padding or beside its rows, or the bf16
// of a NaN would be none.
#include "bf16.h"
#include "kernels.h"

enum { OWN = 500, PARTIALS = 40, SENT = 333, BEFORE = 2 };
static const int64_t widths[] = {1, 16, 41, 602};

// Values that bf16 holds exactly.
static float number(int64_t row, int64_t column) {
    return (float)((row * 31 + column * 7) % 127 - 60);
}
static float factor(int64_t row) { return row % 3 == 0 ? 0.5f : -2.0f; }
static int32_t listed(int64_t k) { return (int32_t)(k * (OWN + PARTIALS - 1) / (SENT - 1)); }

static Rows filled(int64_t count, int64_t columns, int64_t first) {
    Rows rows = test_rows(count, columns);
    for (int64_t r = 0; r < count; r++)
        for (int64_t c = 0; c < columns; c++)
            floats(rows)[r * rows.stride + c] = number(first + r, c);
    return rows;
}

static void expect_rows(Rows back, bool scaled) {
    for (int64_t k = 0; k < back.count; k++)
        for (int64_t c = 0; c < back.stride; c++) {
            int64_t from = k >= BEFORE && k < BEFORE + SENT ? listed(k - BEFORE) : -1;
            float expected = from < 0 || c >= back.columns ? 0 : number(from, c);
            if (scaled && from >= 0 && from < OWN)
                expected *= factor(from);
            assert_true(floats(back)[k * back.stride + c] == expected);
        }
}

static void try_width(int64_t columns, bool half, bool scaled) {
    float scale[OWN];
    int32_t row[SENT];
    for (int64_t r = 0; r < OWN; r++)
        scale[r] = factor(r);
    for (int64_t k = 0; k < SENT; k++)
        row[k] = listed(k);
    MessageSource source = {.x = filled(OWN, columns, 0),
                            .partials = filled(PARTIALS, columns, OWN),
                            .scale = scaled ? on_device(scale) : NULL,
                            .row = on_device(row)};
    Rows back = zeroed_rows(BEFORE + SENT + 1, columns);
    unsigned char *packed = test_memory((size_t)(SENT * columns) * 4);
    const Backend *b = device();
    int64_t bad = 0;
    memset(floats(back) + BEFORE * back.stride, 0xff, rows_bytes(SENT, columns));
    if (half)
        b->pack_bf16(on_device(packed), &source, SENT, on_device(&bad), NULL);
    else
        b->pack_fp32(on_device(packed), &source, SENT, NULL);
    assert_int_equal(bad, 0);
    (half ? b->unpack_bf16 : b->unpack_fp32)(back, BEFORE, on_device(packed), SENT, NULL);
    expect_rows(back, scaled);
}

static void try_as_they_lie(int64_t columns) {
    int32_t row[SENT];
    for (int64_t k = 0; k < SENT; k++)
        row[k] = listed(k);
    Rows x = test_rows_of(ROWS_BF16, OWN, columns);
    Rows partials = test_rows_of(ROWS_BF16, PARTIALS, columns);
    Rows back = test_rows_of(ROWS_BF16, BEFORE + SENT + 1, columns);
    rows_zero(device(), partials);
    rows_zero(device(), back);
    uint16_t *bits = (uint16_t *)x.at, *found = (uint16_t *)back.at;
    for (int64_t r = 0; r < OWN; r++) // all patterns, those that no float rounds to among them
        for (int64_t c = 0; c < columns; c++)
            bits[r * x.stride + c] = (uint16_t)(r * 131 + c * 7);
    memset(found + BEFORE * back.stride, 0xff, (size_t)(SENT * back.stride) * sizeof *found);
    MessageSource source = {.x = x, .partials = partials, .row = on_device(row)};
    unsigned char *packed = test_memory((size_t)(SENT * columns) * 2);
    device()->pack_bf16(on_device(packed), &source, SENT, NULL, NULL);
    device()->unpack_bf16(back, BEFORE, on_device(packed), SENT, NULL);
    for (int64_t k = 0; k < back.count; k++)
        for (int64_t c = 0; c < back.stride; c++) {
            bool here = k >= BEFORE && k < BEFORE + SENT && c < columns;
            int64_t from = here ? listed(k - BEFORE) : OWN;
            uint16_t want = from < OWN ? bits[from * x.stride + c] : 0;
            assert_int_equal(found[k * back.stride + c], want);
        }
}

TEST(rows_of_bf16_go_as_they_lie) {
    for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
        try_as_they_lie(widths[w]);
}

TEST(rows_of_a_list_come_back) {
    for (Way way = {0}; way_next(&way);)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (int kind = 0; kind < 4; kind++)
                try_width(widths[w], kind & 1, kind & 2);
}

// The nearest bf16, halves to even; a NaN keeps its sign and what fits of its payload, and is
// quiet.
static uint32_t true_bf16(uint32_t bits) {
    uint32_t high = bits >> 16, low = bits & 0xffff;
    if ((high & 0x7fff) > 0x7f80 || ((high & 0x7fff) == 0x7f80 && low > 0))
        return high | 0x40;
    return high + (low > 0x8000 || (low == 0x8000 && high % 2 == 1));
}
TEST(a_float_has_its_nearest_bf16_and_a_nan_stays_one) {
    static const uint32_t low[] = {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff};
    for (uint32_t high = 0; high <= 0xffff; high++)
        for (int i = 0; i < 6; i++) {
            uint32_t bits = high << 16 | low[i], got = bf16_rounded(bits), want = true_bf16(bits);
            if (got != want || bf16_is_bad(bits) != ((want & 0x7f80) == 0x7f80))
                fail_msg("bf16 of %08x is %04x, not %04x", bits, got, want);
        }
}
