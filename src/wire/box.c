// Making a MessageBox: the places of its messages, the widths of their rows, and the memory in
// which messages lie. The buffers of messages, with their padding, are always written completely,
// so owners whose exchanges run one after the other can share one.

#include "internal.h"

static bool device_memory; // wire_use_device_memory

void wire_use_device_memory(bool use) { device_memory = use; }

bool wire_uses_device_memory(const Backend *backend) {
    return device_memory && !backend->host_is_device;
}

// ---- blocks

void message_block_alloc(MessageBlock *block, const Allocator *allocator, size_t bytes) {
    const char *what = "messages";
    DeviceByte *device = alloc_device(allocator, bytes, what);
    bool stays = wire_uses_device_memory(allocator->backend);
    *block = (MessageBlock){.bytes = bytes,
                            .device = device,
                            .host = stays ? (void *)device
                                          : alloc_pinned_mirror(allocator, device, bytes, what)};
}

// ---- the codec at hand

const Codec *full_precision(void) { return codec_find("fp32", &(Error){0}); }

// In an exchange that is not coded. The reader of sampled rows multiplies them by 1/P.
static RowsType exact_rows(const CodecOptions *options) {
    return options->sample.probability == 0 ? options->rows : ROWS_FP32;
}

RowsType box_rows_are(const CodecOptions *options) {
    bool as_they_are = options->codec == full_precision() && !box_remembers(options);
    return as_they_are ? exact_rows(options) : ROWS_FP32;
}

BoxStep box_step(const CodecOptions *options, int64_t exchange) {
    BoxStep step = {
        .codec = options->codec, .exchange = exchange, .rows_are = box_rows_are(options)};
    if (exchange == 0)
        return (BoxStep){.codec = full_precision(), .rows_are = exact_rows(options)};
    for (int r = 0; r < RESIDUALS; r++) {
        const Residual *residual = options->residual[r].of;
        if (residual != NULL && residual->refreshes != NULL &&
            residual->refreshes(&options->residual[r].values, exchange))
            step.codec = full_precision();
    }
    return step;
}

size_t message_room(const CodecOptions *options, int64_t rows, int64_t columns) {
    MessageLayout layout = {.rows = rows,
                            .columns = columns,
                            .rows_are = box_rows_are(options),
                            .values = options->values};
    size_t most = options->codec->bytes_most(&layout), full = full_precision()->bytes(&layout);
    return aligned(most > full ? most : full);
}

// ---- making

int64_t box_rows(const MessageBox *box, int i) { return box->offset[i + 1] - box->offset[i]; }

int64_t box_longest(const MessageBox *box) {
    int64_t most = 0;
    for (int i = 0; i < box->count; i++)
        most = box_rows(box, i) > most ? box_rows(box, i) : most;
    return most;
}

static int64_t all_rows(const MessageBox *box) { return box->offset[box->count]; }

static void alloc_widths(MessageBox *box, const Allocator *allocator) {
    const char *what = "widths of messages";
    box->bits = alloc_host(allocator, (size_t)all_rows(box), what);
    box->widths = alloc_host(allocator, memory_product(box->count, sizeof *box->widths), what);
    for (int i = 0; i < box->count; i++)
        widths_alloc(box->widths != NULL ? &box->widths[i] : &(Widths){0}, allocator,
                     box_rows(box, i));
}

static void alloc_numbers(MessageBox *box, const Allocator *allocator) {
    const char *what = "messages";
    size_t bytes = (size_t)box->count * sizeof(int64_t);
    if (box->end == RESIDUAL_SENDER)
        box->bad = alloc_mirrored(allocator, &box->device_bad, bytes, what);
    if (box->end == RESIDUAL_SENDER && box->options->skips)
        box->distance = alloc_mirrored(allocator, &box->device_distance,
                                       (size_t)box->count * 2 * sizeof(double), what);
    if (wire_uses_device_memory(allocator->backend))
        box->checksum = alloc_mirrored(allocator, &box->device_checksum, bytes, what);
}

static void alloc_scratch(MessageBox *box, const Allocator *allocator) {
    const Codec *codec = box->options->codec;
    MessageLayout longest = {
        .rows = box_longest(box), .columns = box->columns, .values = box->options->values};
    if (codec->scratch != NULL)
        box->scratch = alloc_device(allocator, codec->scratch(&longest), "messages");
}

void box_alloc(MessageBox *box, const Allocator *allocator) {
    bool has_widths = box->options->codec->has_widths;
    box->place = alloc_host(allocator, (size_t)(box->count + 1) * sizeof *box->place, "messages");
    if (has_widths)
        alloc_widths(box, allocator);
    if (has_widths && box->end == RESIDUAL_SENDER)
        box->range = alloc_mirrored(allocator, &box->device_range,
                                    (size_t)all_rows(box) * sizeof(float), "ranges of messages");
    alloc_numbers(box, allocator);
    alloc_scratch(box, allocator);
    box_alloc_residuals(box, allocator);
}

static void fill_widths(MessageBox *box) {
    memset(box->bits, box->options->width, (size_t)all_rows(box));
    for (int i = 0; i < box->count; i++)
        widths_fill(&box->widths[i], box->options->width);
}

void box_open(MessageBox *box, int64_t (*id)(const void *context, int64_t place),
              const void *context) {
    for (int i = 0; i < box->count; i++)
        box->place[i + 1] =
            box->place[i] + message_room(box->options, box_rows(box, i), box->columns);
    if (box->widths != NULL)
        fill_widths(box);
    for (int i = 0; i < 2; i++)
        box->made[i] = box->backend->event_new();
    box_open_residuals(box, id, context);
}

void box_clear(MessageBox *box) {
    for (int i = 0; i < 2; i++)
        box->backend->event_free(box->made[i]);
}

size_t box_room(const MessageBox *box) {
    size_t room = 0;
    for (int i = 0; i < box->count; i++)
        room += message_room(box->options, box_rows(box, i), box->columns);
    return room;
}

// ---- layouts

void box_set_widths(MessageBox *box, const uint8_t *bits) {
    memmove(box->bits, bits, (size_t)all_rows(box));
    box_hold(box, box->offset, box->bits);
    box_set_follows(box);
}

void box_hold(MessageBox *box, const int64_t *offset, const uint8_t *bits) {
    box->offset = offset;
    for (int i = 0; box->widths != NULL && i < box->count; i++) {
        box->widths[i].count = box_rows(box, i);
        widths_set(&box->widths[i], bits + offset[i]);
    }
}

MessageLayout box_layout(const MessageBox *box, int i) {
    return (MessageLayout){.rows = box_rows(box, i),
                           .columns = box->columns,
                           .length = box->length != NULL ? box->length[i] : NULL,
                           .values = box->options->values,
                           .scratch = box->scratch,
                           .widths = box->widths != NULL ? &box->widths[i] : NULL};
}

int64_t box_bytes(const MessageBox *box, BoxStep step, int i) {
    MessageLayout layout = box_layout(box, i);
    layout.rows_are = step.rows_are;
    return (int64_t)step.codec->bytes(&layout);
}

DeviceByte *box_device_message(const MessageBox *box, int i) {
    return byte_at(box->block->device, (int64_t)box->place[i]);
}

unsigned char *box_host_message(const MessageBox *box, int i) {
    return box->block->host + box->place[i];
}
