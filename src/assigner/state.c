// What an assigner gives away: the widths in use, for reports and replays, and its whole state, a
// section of checkpoints. What is known of messages lies with the ranks that send them.

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

// Finishes a pending assignment before writing, so that no checkpoint has a request to the solver
// that is still open.
static bool decide_first(Assigner *a, Error *err) {
    double begin = clock_seconds();
    bool pending = a->pending == SOLUTION_PENDING;
    bool fine = assigner_decide(a, err);
    if (pending)
        a->assignment.seconds += clock_seconds() - begin;
    for (int i = 0; i < a->lots; i++)
        lot_hidden(a, &a->lot[i]);
    return fine;
}

static void name_of(char out[64], const Lot *lot, int list) {
    snprintf(out, 64, "%s%s", lot->name, lists[list].name);
}

// Numbers come first, where they are aligned in the file.
static bool save(void *owner, StateWriter *writer, Error *err) {
    Assigner *a = owner;
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS] = {a->asked, 0, a->taken};
    Known known = {0};
    char name[64];
    if (!decide_first(a, err))
        return false;
    counters[1] = a->pending;
    for (int i = 0; i < a->lots; i++)
        counters[COUNTERS + i] = channel_ranges(a->lot[i].of.channel)->exchanges;
    known_copy(a, &known, true);
    state_put_copy(writer, "counters", TENSOR_I64, COUNTERS + a->lots, counters);
    state_put_copy(writer, "report.numbers", TENSOR_F64, known_numbers(a), known.number);
    state_put_copy(writer, "report.texts", TENSOR_U8, known_texts(a), known.text);
    for (int i = 0; i < a->lots; i++)
        for (int list = 0; list < LISTS; list++) {
            name_of(name, &a->lot[i], list);
            state_put_by_rank(writer, name, lists[list].type, a->lot[i].rows,
                              list_of(&a->lot[i], list));
        }
    return true;
}

static const Tensor *need(const Assigner *a, const Tensors *file, const Lot *lot, int list,
                          Error *err) {
    int64_t shape[1] = {lot_messages(lot, a->comm)};
    char name[64];
    name_of(name, lot, list);
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
    int64_t numbers = known_numbers(a), texts = known_texts(a);
    return tensors_need(file, "report.numbers", TENSOR_F64, 1, &numbers, err) != NULL &&
           tensors_need(file, "report.texts", TENSOR_U8, 1, &texts, err) != NULL;
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

static bool get(const StateReader *reader, const Lot *lot, int list, void *mine, Error *err) {
    char name[64];
    name_of(name, lot, list);
    return state_get_by_rank(reader, name, lists[list].type, lot->rows, mine, err);
}

// The widths in use are taken at once.
static bool restore_lot(Lot *lot, int64_t exchanges, const StateReader *reader, Error *err) {
    RangeStatistics *ranges = channel_ranges(lot->of.channel);
    if (!get(reader, lot, 0, lot->next, err))
        return false;
    lot_take(lot);
    ranges->exchanges = exchanges;
    return get(reader, lot, 1, lot->next, err) && get(reader, lot, 2, ranges->square, err);
}

// All of the file is checked before anything changes.
static bool restore(void *owner, const StateReader *reader, Error *err) {
    Assigner *a = owner;
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS];
    if (reader->file != NULL)
        check(a, reader->file, err);
    if (!comm_agree(a->comm, err) ||
        !state_get(reader, "counters", TENSOR_I64, COUNTERS + a->lots, counters, err))
        return false;
    a->asked = counters[0];
    a->pending = (Pending)counters[1];
    a->taken = counters[2];
    a->assignment = (Assignment){.asked = a->asked, .parts = a->lots};
    for (int i = 0; i < a->lots; i++) {
        a->assignment.part[i].id = a->lot[i].of.id;
        if (!restore_lot(&a->lot[i], counters[COUNTERS + i], reader, err))
            return false;
    }
    if (reader->file != NULL)
        restore_known(a, reader->file);
    return true;
}

StateSection assigner_section(Assigner *a) {
    return (StateSection){.name = "messages", .save = save, .restore = restore, .owner = a};
}
