// What an assigner leaves in files: the widths in use, for reports and replays, and its whole
// state, for checkpoints. Rank 0 writes and reads what all ranks hold, by rank.

#include "internal.h"

#include <stdio.h>
#include <string.h>

int64_t lot_messages(const Lot *lot, const Comm *comm) {
    return comm->rank == 0 ? lot->row_piece[comm->size] : 0;
}

void lot_gather_rows(const Lot *lot, const Comm *comm, const void *mine, void *all, size_t bytes) {
    list_gather(comm, mine, lot->rows, all, lot->row_piece, bytes);
}

void lot_scatter_rows(const Lot *lot, const Comm *comm, const void *all, void *mine, size_t bytes) {
    list_scatter(comm, all, lot->row_piece, mine, lot->rows, bytes);
}

bool widths_check(const Tensor *tensor, const char *path, Error *err) {
    const uint8_t *bits = tensor->data;
    for (int64_t i = 0; i < tensor->shape[0]; i++)
        if (!width_known(bits[i]))
            return error_set(err, EXIT_DATA, "%s: message %lld of %s has a width of %d bits", path,
                             (long long)i, tensor->name, bits[i]);
    return true;
}

static Tensor tensor_of(const Lot *lot, const char *what, TensorType type, int64_t count,
                        const void *data) {
    Tensor tensor = {.type = type, .rank = 1, .shape = {count}, .data = data};
    snprintf(tensor.name, sizeof tensor.name, "%s%s", lot->name, what);
    return tensor;
}

// Gathers one list of a lot on rank 0; memory_give((void *)tensor.data).
static Tensor gathered(const Assigner *a, const Lot *lot, const char *what, TensorType type,
                       const void *mine) {
    int64_t count = lot_messages(lot, a->comm);
    size_t bytes = tensor_type_bytes[type];
    void *all = memory_take(memory_product(count, bytes), "state of the assigner");
    lot_gather_rows(lot, a->comm, mine, all, bytes);
    return tensor_of(lot, what, type, count, all);
}

int assigner_widths(Assigner *a, Tensor tensor[ASSIGNED_CHANNELS]) {
    for (int i = 0; i < a->lots; i++)
        tensor[i] =
            gathered(a, &a->lot[i], "", TENSOR_U8, channel_widths(a->lot[i].of.channel, true));
    return a->lots;
}

void assigner_widths_give(Tensor tensor[ASSIGNED_CHANNELS], int count) {
    for (int i = 0; i < count; i++)
        memory_give((void *)tensor[i].data);
}

// ---- checkpoints

enum { LISTS = 3, COUNTERS = 3 };
static const struct {
    const char *name;
    TensorType type;
} lists[LISTS] = {{".widths", TENSOR_U8}, {".next", TENSOR_U8}, {".ranges", TENSOR_F32}};

static const void *list_of(const Lot *lot, int list) {
    return list == 0   ? (const void *)channel_widths(lot->of.channel, true)
           : list == 1 ? (const void *)lot->next
                       : channel_ranges(lot->of.channel)->square;
}

// What is known of an assignment before it is taken, for the report, but times of this process.
// Rank 0 holds it.
enum { NUMBERS = 6, PART_NUMBERS = 6, TEXTS = 256, PART_TEXTS = 16 };
typedef struct Known {
    double number[NUMBERS + PART_NUMBERS * ASSIGNED_CHANNELS];
    char text[TEXTS + PART_TEXTS * ASSIGNED_CHANNELS];
} Known;
static int64_t known_numbers(const Assigner *a) { return NUMBERS + PART_NUMBERS * a->lots; }
static int64_t known_texts(const Assigner *a) { return TEXTS + PART_TEXTS * a->lots; }

// The members of a Known, from or to the assigner.
static void known_copy(Assigner *a, Known *known, bool store) {
    Assignment *of = &a->assignment;
    double *number[NUMBERS + PART_NUMBERS * ASSIGNED_CHANNELS];
    static_assert(sizeof of->remark == TEXTS && sizeof of->part[0].by == PART_TEXTS, "");
    for (int i = 0; i < 3; i++) {
        number[i] = &of->byte_seconds[i];
        number[3 + i] = &of->message_seconds[i];
    }
    memcpy(store ? known->text : of->remark, store ? of->remark : known->text, TEXTS);
    for (int i = 0; i < a->lots; i++) {
        AssignmentPart *part = &of->part[i];
        double *numbers[PART_NUMBERS] = {&part->objective, &part->bound,  &part->lp_bound,
                                         &part->predicted, &part->hidden, &a->lot[i].hidden};
        char *text = known->text + TEXTS + PART_TEXTS * i;
        memcpy(number + NUMBERS + PART_NUMBERS * i, numbers, sizeof numbers);
        memcpy(store ? text : part->by, store ? part->by : text, PART_TEXTS);
    }
    for (int64_t i = 0; i < known_numbers(a); i++)
        *(store ? &known->number[i] : number[i]) = *(store ? number[i] : &known->number[i]);
}

enum { KNOWN_TENSORS = 2 };
static void known_tensors(const Assigner *a, const Known *known, Tensor tensor[KNOWN_TENSORS]) {
    tensor[0] = (Tensor){.name = "report.numbers",
                         .type = TENSOR_F64,
                         .rank = 1,
                         .shape = {known_numbers(a)},
                         .data = known->number};
    tensor[1] = (Tensor){.name = "report.texts",
                         .type = TENSOR_U8,
                         .rank = 1,
                         .shape = {known_texts(a)},
                         .data = known->text};
}

// Whatever is asked is decided first, so that a resumed run needs no solver's answer.
static bool decide_first(Assigner *a, Error *err) {
    double begin = clock_seconds();
    bool pending = a->pending == ANSWER_PENDING;
    bool fine = assigner_decide(a, err);
    if (pending)
        a->assignment.seconds += clock_seconds() - begin;
    for (int i = 0; i < a->lots; i++)
        lot_hidden(a, &a->lot[i]);
    return fine;
}

typedef struct Writing {
    const char *path;
    const Tensor *tensor;
    int count;
    Error *err;
} Writing;

static void write_aside(void *context) {
    const Writing *w = context;
    tensors_write(w->path, w->tensor, w->count, NULL, true, w->err);
}

// Numbers come first, where they are aligned in the file.
bool assigner_write(Assigner *a, const char *path, Error *err) {
    enum { FIXED = 1 + KNOWN_TENSORS };
    Tensor tensor[FIXED + LISTS * ASSIGNED_CHANNELS];
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS] = {a->asked, 0, a->taken};
    Known known = {0};
    int count = FIXED;
    if (!decide_first(a, err))
        return false;
    counters[1] = a->pending;
    tensor[0] = (Tensor){.name = "counters",
                         .type = TENSOR_I64,
                         .rank = 1,
                         .shape = {COUNTERS + a->lots},
                         .data = counters};
    known_copy(a, &known, true);
    known_tensors(a, &known, tensor + 1);
    for (int i = 0; i < a->lots; i++) {
        counters[COUNTERS + i] = channel_ranges(a->lot[i].of.channel)->exchanges;
        for (int list = 0; list < LISTS; list++)
            tensor[count++] = gathered(a, &a->lot[i], lists[list].name, lists[list].type,
                                       list_of(&a->lot[i], list));
    }
    if (path != NULL && a->comm->rank == 0)
        comm_aside(a->comm, write_aside, &(Writing){path, tensor, count, err});
    for (int i = FIXED; i < count; i++)
        memory_give((void *)tensor[i].data);
    return comm_agree(a->comm, err);
}

static const Tensor *need(const Assigner *a, const Tensors *file, const Lot *lot, int list,
                          Error *err) {
    int64_t shape[1] = {lot_messages(lot, a->comm)};
    char name[64];
    snprintf(name, sizeof name, "%s%s", lot->name, lists[list].name);
    return tensors_need(file, name, lists[list].type, 1, shape, err);
}

static bool check_lot(const Assigner *a, const Tensors *file, const Lot *lot, Error *err) {
    for (int list = 0; list < LISTS; list++) {
        const Tensor *tensor = need(a, file, lot, list, err);
        if (tensor == NULL || (tensor->type == TENSOR_U8 && !widths_check(tensor, file->path, err)))
            return false;
    }
    return true;
}

static bool check(const Assigner *a, const Tensors *file, Error *err) {
    int64_t shape[1] = {COUNTERS + a->lots};
    const Tensor *counters = tensors_need(file, "counters", TENSOR_I64, 1, shape, err);
    if (counters == NULL)
        return false;
    int64_t pending = ((const int64_t *)counters->data)[1];
    if (pending != NOTHING_PENDING && pending != WIDTHS_DECIDED)
        return error_set(err, EXIT_DATA, "%s: counters has a state %lld that is not known",
                         file->path, (long long)pending);
    for (int i = 0; i < a->lots; i++)
        if (!check_lot(a, file, &a->lot[i], err))
            return false;
    Tensor want[KNOWN_TENSORS];
    known_tensors(a, &(Known){0}, want);
    for (int i = 0; i < KNOWN_TENSORS; i++)
        if (tensors_need(file, want[i].name, want[i].type, 1, want[i].shape, err) == NULL)
            return false;
    return true;
}

static void restore_known(Assigner *a, const Tensors *file) {
    Known known = {0};
    memcpy(known.number, tensors_find(file, "report.numbers")->data,
           (size_t)known_numbers(a) * sizeof *known.number);
    memcpy(known.text, tensors_find(file, "report.texts")->data, (size_t)known_texts(a));
    known.text[TEXTS - 1] = 0;
    for (int i = 1; i <= a->lots; i++)
        known.text[TEXTS + PART_TEXTS * i - 1] = 0;
    known_copy(a, &known, false);
}

static void restore(Assigner *a, const Tensors *file, Error *err) {
    bool first = a->comm->rank == 0;
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS];
    if (first)
        memcpy(counters, tensors_find(file, "counters")->data,
               (size_t)(COUNTERS + a->lots) * sizeof *counters);
    comm_broadcast(a->comm, counters, sizeof counters, 0);
    a->asked = counters[0];
    a->pending = (Pending)counters[1];
    a->taken = counters[2];
    a->assignment = (Assignment){.asked = a->asked, .parts = a->lots};
    for (int i = 0; i < a->lots; i++) {
        Lot *lot = &a->lot[i];
        RangeStatistics *ranges = channel_ranges(lot->of.channel);
        const void *data[LISTS];
        for (int list = 0; list < LISTS; list++)
            data[list] = first ? need(a, file, lot, list, err)->data : NULL;
        lot_scatter_rows(lot, a->comm, data[0], lot->next, 1); // in use, and taken at once
        lot_take(lot);
        lot_scatter_rows(lot, a->comm, data[1], lot->next, 1);
        lot_scatter_rows(lot, a->comm, data[2], ranges->square, sizeof *ranges->square);
        ranges->exchanges = counters[COUNTERS + i];
        a->assignment.part[i].id = lot->of.id;
    }
    if (first)
        restore_known(a, file);
}

bool assigner_read(Assigner *a, const char *path, Error *err) {
    Tensors file = {0};
    bool open = a->comm->rank == 0 && tensors_open(&file, path, err);
    if (open)
        check(a, &file, err);
    bool fine = comm_agree(a->comm, err);
    if (fine)
        restore(a, &file, err);
    if (open)
        tensors_close(&file);
    return fine;
}
