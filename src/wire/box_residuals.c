// The residuals of a MessageBox: a block of memory for each of its messages, and rows for what is
// encoded in the place of the rows to send. A box without residuals allocates none of it.

#include "internal.h"

const Residual *box_residual(const CodecOptions *options, int r) {
    const Residual *residual = options->residual[r].of;
    return residual != NULL && residual->bytes != NULL ? residual : NULL;
}

bool box_remembers(const CodecOptions *options) {
    for (int r = 0; r < RESIDUALS; r++)
        if (box_residual(options, r) != NULL)
            return true;
    return false;
}

// Whether a sender puts other rows in the place of those to send, or decodes its own messages.
static bool replaces_rows(const MessageBox *box) {
    for (int r = 0; box->end == RESIDUAL_SENDER && r < RESIDUALS; r++) {
        const Residual *residual = box_residual(box->options, r);
        if (residual != NULL && (residual->before_encode != NULL || residual->after_encode != NULL))
            return true;
    }
    return false;
}

// ---- making

static const char *const what = "residuals";

static size_t follows_bytes(const MessageBox *box) {
    return (size_t)box->offset[box->count] * sizeof(float);
}

static void alloc_memory(MessageBox *box, const Allocator *allocator, int r) {
    const Residual *residual = box_residual(box->options, r);
    BoxResidual *of = &box->residual[r];
    size_t end = 0;
    of->place = alloc_host(allocator, (size_t)(box->count + 1) * sizeof end, what);
    for (int i = 0; i < box->count; i++) {
        end += aligned(residual->bytes(box_rows(box, i), box->columns, box->end));
        if (of->place != NULL)
            of->place[i + 1] = end;
    }
    of->memory = alloc_device(allocator, end, what);
    if (residual->follows != NULL)
        of->follows = alloc_mirrored(allocator, &of->device_follows, follows_bytes(box), what);
}

static size_t row_bytes(const MessageBox *box) {
    return (size_t)box_longest(box) * sizeof(int32_t);
}

static size_t gid_bytes(const MessageBox *box) {
    return (size_t)box->offset[box->count] * sizeof(int64_t);
}

void box_alloc_residuals(MessageBox *box, const Allocator *allocator) {
    for (int r = 0; r < RESIDUALS; r++)
        if (box_residual(box->options, r) != NULL)
            alloc_memory(box, allocator, r);
    if (!replaces_rows(box))
        return;
    box->rows = alloc_rows(allocator, box_longest(box), box->columns, what);
    box->row = alloc_mirrored(allocator, &box->device_row, row_bytes(box), what);
    box->gid = alloc_mirrored(allocator, &box->device_gid, gid_bytes(box), what);
}

// Encoding and decoding read them.
void box_set_follows(MessageBox *box) {
    for (int r = 0; r < RESIDUALS; r++) {
        const Residual *residual = box_residual(box->options, r);
        BoxResidual *of = &box->residual[r];
        if (residual == NULL || residual->follows == NULL)
            continue;
        float of_width[WIDTH_MOST + 1];
        for (int bits = 0; bits <= WIDTH_MOST; bits++)
            of_width[bits] =
                residual->follows(&box->options->residual[r].values, bits, box->columns);
        box->backend->finish(NULL); // the last upload may not have run yet
        for (int64_t k = 0; k < box->offset[box->count]; k++)
            of->follows[k] = of_width[box->bits != NULL ? box->bits[k] : 0];
        box->backend->message_upload(of->device_follows, of->follows, follows_bytes(box));
    }
}

void box_open_residuals(MessageBox *box, int64_t (*id)(const void *context, int64_t place),
                        const void *context) {
    const Backend *b = box->backend;
    for (int r = 0; r < RESIDUALS; r++)
        if (box_residual(box->options, r) != NULL)
            b->message_zero(box->residual[r].memory, box->residual[r].place[box->count]);
    box_set_follows(box);
    if (!replaces_rows(box))
        return;
    for (int64_t k = 0; k < box_longest(box); k++)
        box->row[k] = (int32_t)k;
    for (int64_t k = 0; k < box->offset[box->count]; k++)
        box->gid[k] = id(context, k);
    b->message_upload(box->device_row, box->row, row_bytes(box));
    b->message_upload(box->device_gid, box->gid, gid_bytes(box));
}

// ---- the hooks

// The residual, if it takes part in this exchange.
static const Residual *active(const MessageBox *box, int r, BoxStep step) {
    return step.exchange > 0 ? box_residual(box->options, r) : NULL;
}

static DeviceByte *memory_of(const MessageBox *box, int r, int i) {
    const BoxResidual *of = &box->residual[r];
    return byte_at(of->memory, (int64_t)of->place[i]);
}

static ResidualStep step_of(const MessageBox *box, int r, int i, BoxStep step) {
    const DeviceFloat *all = box->residual[r].device_follows;
    return (ResidualStep){.exchange = step.exchange,
                          .values = &box->options->residual[r].values,
                          .follows = all != NULL ? flat_at(all, box->offset[i]) : NULL,
                          .direct = step.direct};
}

// The rows of the message, as its source says.
static Rows gather(MessageBox *box, int i, const MessageSource *source, const Poll *poll) {
    DeviceByte *scratch = box_device_message(box, i); // the message is not there yet
    int64_t count = box_rows(box, i);
    box->backend->pack_fp32(scratch, source, count, poll);
    box->backend->unpack_fp32(box->rows, 0, scratch, count, poll);
    return rows_first(box->rows, count);
}

void box_measure(MessageBox *box, int i, MessageSource source, const Poll *poll) {
    assert(box_residual(box->options, 0) != NULL && box->end == RESIDUAL_SENDER);
    Rows rows = gather(box, i, &source, poll);
    const DeviceFloat *last = (const DeviceFloat *)(void *)memory_of(box, 0, i);
    box->backend->message_distance(double_at(box->device_distance, 2 * (int64_t)i), rows.at, last,
                                   rows.count * rows.stride, poll);
}

// A refresh, which has another codec, sends all there is.
static bool keeps_top(const CodecOptions *options, BoxStep step) {
    return options->top > 0 && options->top < 1 && step.codec == options->codec;
}

void box_before_encode(MessageBox *box, int i, BoxStep step, MessageSource *source, int64_t own,
                       const Poll *poll) {
    if (step.exchange == 0 || !replaces_rows(box))
        return;
    Rows rows = gather(box, i, source, poll);
    for (int r = 0; r < RESIDUALS; r++) {
        const Residual *residual = active(box, r, step);
        if (residual != NULL && residual->before_encode != NULL)
            residual->before_encode(box->backend, memory_of(box, r, i), rows,
                                    step_of(box, r, i, step), poll);
    }
    if (keeps_top(box->options, step))
        top_keep(box->backend, rows, box->length != NULL ? box->length[i] : NULL,
                 box->options->top);
    source->x = rows_first(box->rows, own);
    source->scale = NULL;
    source->partials = rows_range(box->rows, (Range){own, rows.count});
    source->row = box->device_row;
    source->gid = int64_at(box->device_gid, box->offset[i]);
}

// The rows of one residual are what the one behind it has made of them, as at the reader.
void box_after_encode(MessageBox *box, int i, BoxStep step, const MessageLayout *layout,
                      const Poll *poll) {
    bool decoded = false;
    for (int r = RESIDUALS - 1; r >= 0; r--) {
        const Residual *residual = active(box, r, step);
        if (residual == NULL || residual->after_encode == NULL)
            continue;
        if (!decoded)
            step.codec->decode(box->backend, box->rows, 0, layout, box_device_message(box, i),
                               poll);
        decoded = true;
        residual->after_encode(box->backend, memory_of(box, r, i),
                               rows_first(box->rows, layout->rows), step_of(box, r, i, step), poll);
    }
}

void box_after_decode(MessageBox *box, int i, BoxStep step, Rows rows, const Poll *poll) {
    for (int r = RESIDUALS - 1; r >= 0; r--) {
        const Residual *residual = active(box, r, step);
        if (residual != NULL && residual->after_decode != NULL)
            residual->after_decode(box->backend, memory_of(box, r, i), rows,
                                   step_of(box, r, i, step), poll);
    }
}

// ---- the state of a checkpoint

enum { NAME = 96 };

bool box_state(MessageBox *box, const char *name, StateWalk *walk, Error *err) {
    bool ok = true;
    for (int r = 0; ok && r < RESIDUALS; r++) {
        char tensor[NAME];
        if (box_residual(box->options, r) == NULL)
            continue;
        size_t bytes = box->residual[r].place[box->count];
        FREED unsigned char *memory = memory_alloc(bytes, what);
        if (!walk->restores)
            box->backend->download(memory, box->residual[r].memory, bytes);
        box->backend->finish(NULL);
        snprintf(tensor, NAME, "%s.%d.%s.%s", name, r, box->options->residual[r].of->name,
                 box->end == RESIDUAL_SENDER ? "sent" : "received");
        ok = state_distributed(walk, tensor, TENSOR_U8, (int64_t)bytes, memory, err);
        if (ok && walk->restores)
            box->backend->upload(box->residual[r].memory, memory, bytes);
        box->backend->finish(NULL);
    }
    return ok;
}
