// Making what codes a sum: boxes of messages, and scratch.
//
// What lies where, of chunk c: up, sent: to the reader of round g, message c (P-1) + g; up,
// received: of the sender of round g, likewise; down, sent: c; down, received: of owner r, c P + r.

#include "internal.h"

static const char *const what = "coded gradients";

// The rank whose slice message i of a chunk holds.
static int owner_of(const Coding *c, int way, int flow, int i) {
    if (way == UP && flow == OUTGOING)
        return ring_reader(c->rank, i, c->size);
    return way == DOWN && flow == INCOMING ? i : c->rank;
}

void *alloc_anyway(MemoryForecast *forecast, size_t bytes, const char *name) {
    if (forecast != NULL)
        forecast_add(forecast, name, bytes);
    return memory_alloc(bytes, name);
}

static void alloc_box(Coding *c, const GradSync *sync, int64_t bucket, const Allocator *allocator,
                      int way, int flow) {
    int each = messages_of(c, way, flow), count = sync->chunks * each;
    int64_t *offset = alloc_anyway(allocator->forecast, (size_t)(count + 1) * sizeof *offset, what);
    for (int i = 0; i < count; i++)
        offset[i + 1] =
            offset[i] + slice_units(&sync->chunk[i / each], owner_of(c, way, flow, i % each));
    c->offset[way][flow] = offset;
    c->lengths[way][flow] = alloc_host(allocator, (size_t)count * sizeof **c->lengths[way], what);
    c->box[way][flow] = (MessageBox){.backend = c->cpu,
                                     .options = &c->options[way],
                                     .end = flow == OUTGOING ? RESIDUAL_SENDER : RESIDUAL_READER,
                                     .columns = bucket,
                                     .count = count,
                                     .offset = offset,
                                     .length = c->lengths[way][flow],
                                     .block = &c->block[way][flow]};
    box_alloc(&c->box[way][flow], allocator);
    message_block_alloc(&c->block[way][flow], allocator, box_room(&c->box[way][flow]));
}

static void alloc_scratch(Coding *c, const GradSync *sync, int64_t bucket,
                          const Allocator *allocator) {
    int64_t longest = sync->chunks > 0 ? sync->chunk[0].slice : 0; // only the last is shorter
    const MessageBox *sums = &c->box[DOWN][OUTGOING];
    c->slice = alloc_rows(allocator, longest, bucket, what);
    c->sum = alloc_rows(allocator, sums->offset[sums->count], bucket, what);
    c->length = alloc_host(allocator, (size_t)sync->cut.units * sizeof *c->length, what);
    c->id = alloc_device(allocator, (size_t)sync->cut.units * sizeof *c->id, what);
    c->row = alloc_device(allocator, (size_t)longest * sizeof *c->row, what);
    c->moment = alloc_host(allocator, (size_t)(sync->chunks * c->size) * sizeof *c->moment, what);
    if (c->bits.rule != NULL)
        c->bits.square =
            alloc_host(allocator, (size_t)c->bits.epochs * sizeof *c->bits.square, what);
}

// Sums in full have neither the codec nor its residual.
static void set_options(Coding *c, const GradForm *form) {
    c->options[UP] = c->options[DOWN] = form->options;
    if (form->full_sums)
        c->options[DOWN] = (CodecOptions){.codec = full_precision()};
    c->bits = (GradBits){.rule = form->bits.rule,
                         .epochs = form->bits.epochs,
                         .period = form->bits.period,
                         .first_bits = form->bits.first};
}

static void set_spans(Coding *c, const GradForm *form, MemoryForecast *forecast) {
    c->spans = form_spans(form);
    c->span = alloc_anyway(forecast, (size_t)c->spans * sizeof *c->span, what);
    for (int i = 0; i < c->spans; i++)
        c->span[i] = form_span(form, i);
}

Coding *coding_new(const GradSync *sync, const GradForm *form, MemoryForecast *forecast) {
    Coding *c = alloc_anyway(forecast, sizeof *c, what);
    *c = (Coding){.cpu = backend_find("cpu", &(Error){0}),
                  .size = sync->comm->size,
                  .rank = sync->comm->rank};
    Allocator host = {.backend = c->cpu, .forecast = forecast, .taken = &c->taken};
    set_options(c, form);
    set_spans(c, form, forecast);
    coding_set_bits(c, GRADIENT_BITS_MOST); // room for whatever is chosen
    for (int way = 0; way < WAYS; way++)
        for (int flow = 0; flow < FLOWS; flow++)
            alloc_box(c, sync, form->bucket, &host, way, flow);
    alloc_scratch(c, sync, form->bucket, &host);
    return c;
}

// The bucket at a place of the rows that a box encodes.
typedef struct Places {
    const GradSync *sync;
    int way;
} Places;

static int64_t bucket_at(const void *context, int64_t place) {
    const Places *places = context;
    const Coding *c = places->sync->coding;
    const int64_t *offset = c->offset[places->way][OUTGOING];
    int each = messages_of(c, places->way, OUTGOING), i = 0;
    while (offset[i + 1] <= place)
        i++;
    int owner = owner_of(c, places->way, OUTGOING, i % each);
    return slice_begin(&places->sync->chunk[i / each], owner) + place - offset[i];
}

static void set_lengths(const GradSync *sync, int way, int flow) {
    Coding *c = sync->coding;
    int each = messages_of(c, way, flow);
    for (int i = 0; i < c->box[way][flow].count; i++)
        c->lengths[way][flow][i] =
            c->length + slice_begin(&sync->chunk[i / each], owner_of(c, way, flow, i % each));
}

void coding_open(GradSync *sync) {
    Coding *c = sync->coding;
    bucket_lengths(c->length, &sync->cut);
    for (int64_t i = 0; i < sync->cut.units; i++)
        c->id[i] = i;
    for (int64_t i = 0; i < c->slice.count; i++)
        c->row[i] = (int32_t)i;
    for (int way = 0; way < WAYS; way++) {
        for (int flow = 0; flow < FLOWS; flow++) {
            set_lengths(sync, way, flow);
            box_open(&c->box[way][flow], bucket_at, &(Places){sync, way});
        }
        box_encode_begin(&c->box[way][OUTGOING]);
    }
    coding_set_bits(c, c->bits.first_bits);
}

void coding_free(Coding *c) {
    if (c == NULL)
        return;
    for (int way = 0; way < WAYS; way++)
        for (int flow = 0; flow < FLOWS; flow++) {
            box_clear(&c->box[way][flow]);
            memory_free(c->offset[way][flow]);
        }
    taken_free(&c->taken);
    MEMORY_FREE(c->span, c);
}
