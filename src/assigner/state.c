// Two exports of the assigner: the widths in use, for reports and replays; and its state, a section
// of checkpoints. The sender of a row holds the row's widths and ranges.

#include "internal.h"

int assigner_widths(Assigner *a, Tensor tensor[ASSIGNED_CHANNELS]) {
    for (int i = 0; i < a->channels; i++) {
        const ChannelAssignment *assigned = &a->assigned[i];
        int64_t count = assigned_messages(assigned, a->comm);
        uint8_t *all = ALLOC(uint8_t, count, "state of the assigner");
        assigned_gather_rows(assigned, a->comm, channel_widths(assigned->of.channel, true), all, 1);
        tensor[i] = tensor_vector(TENSOR_U8, count, all, "%s", assigned->name);
    }
    return a->channels;
}

void assigner_widths_free(Tensor tensor[ASSIGNED_CHANNELS], int count) {
    for (int i = 0; i < count; i++)
        memory_free((void *)tensor[i].data);
}

// ---- the section of checkpoints: counters, numbers and texts of the report, then three lists of
// each channel

enum { LISTS = 3, COUNTERS = 3 };
static const struct {
    const char *name;
    TensorType type;
} lists[LISTS] = {{".widths", TENSOR_U8}, {".next", TENSOR_U8}, {".ranges", TENSOR_F32}};

static void *list_of(const ChannelAssignment *assigned, int list) {
    return list == 0   ? (void *)(uintptr_t)channel_widths(assigned->of.channel, true)
           : list == 1 ? (void *)assigned->next
                       : channel_ranges(assigned->of.channel)->square;
}

// The fields of an assignment that the report needs and that are known before it is applied, except
// times of this process. Rank 0 holds it.
enum { NUMBERS = 6, PART_NUMBERS = 6, TEXTS = 256, PART_TEXTS = 16 };
typedef struct Known {
    double number[NUMBERS + PART_NUMBERS * ASSIGNED_CHANNELS];
    char text[TEXTS + PART_TEXTS * ASSIGNED_CHANNELS];
} Known;
static int64_t known_numbers(const Assigner *a) { return NUMBERS + PART_NUMBERS * a->channels; }
static int64_t known_texts(const Assigner *a) { return TEXTS + PART_TEXTS * a->channels; }

// Copies the fields from the assigner to a Known (`store`), or back: numbers of the link model,
// then of each channel, and likewise texts.
static void known_copy(Assigner *a, Known *known, bool store) {
    Assignment *of = &a->assignment;
    double *number[NUMBERS + PART_NUMBERS * ASSIGNED_CHANNELS];
    static_assert(sizeof of->warning == TEXTS && sizeof of->part[0].by == PART_TEXTS, "");
    for (int i = 0; i < 3; i++) {
        number[i] = &of->byte_seconds[i];
        number[3 + i] = &of->message_seconds[i];
    }
    memcpy(store ? known->text : of->warning, store ? of->warning : known->text, TEXTS);
    for (int i = 0; i < a->channels; i++) {
        AssignmentPart *part = &of->part[i];
        double *numbers[PART_NUMBERS] = {&part->objective, &part->bound,  &part->lp_bound,
                                         &part->predicted, &part->hidden, &a->assigned[i].hidden};
        char *text = known->text + TEXTS + PART_TEXTS * i;
        memcpy(number + NUMBERS + PART_NUMBERS * i, numbers, sizeof numbers);
        memcpy(store ? text : part->by, store ? part->by : text, PART_TEXTS);
    }
    for (int64_t i = 0; i < known_numbers(a); i++)
        *(store ? &known->number[i] : number[i]) = *(store ? number[i] : &known->number[i]);
}

// Finishes a pending assignment before writing, so that a checkpoint never contains an outstanding
// solver request.
static bool decide_first(Assigner *a, Error *err) {
    double begin = clock_seconds();
    bool pending = a->pending == SOLUTION_PENDING;
    bool fine = assigner_decide(a, err);
    if (pending)
        a->assignment.seconds += clock_seconds() - begin;
    for (int i = 0; i < a->channels; i++)
        assigned_hidden(a, &a->assigned[i]);
    return fine;
}

static void name_of(char out[64], const ChannelAssignment *assigned, int list) {
    snprintf(out, 64, "%s%s", assigned->name, lists[list].name);
}

static bool walk_list(StateWalk *walk, const ChannelAssignment *assigned, int list, void *mine,
                      Error *err) {
    char name[64];
    name_of(name, assigned, list);
    return state_distributed(walk, name, lists[list].type, assigned->rows, mine, err);
}

// Wider types come first, so that they are aligned in the file.
static bool save(Assigner *a, StateWalk *walk, Error *err) {
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS] = {a->requested, 0, a->applied};
    Known known = {0};
    if (!decide_first(a, err))
        return false;
    counters[1] = a->pending;
    for (int i = 0; i < a->channels; i++)
        counters[COUNTERS + i] = channel_ranges(a->assigned[i].of.channel)->exchanges;
    known_copy(a, &known, true);
    state_replicated(walk, "counters", TENSOR_I64, COUNTERS + a->channels, counters, err);
    if (memories_are_chosen(a))
        state_replicated(walk, "direct.noise", TENSOR_F64, a->channels, a->direct_noise, err);
    state_replicated(walk, "report.numbers", TENSOR_F64, known_numbers(a), known.number, err);
    state_replicated(walk, "report.texts", TENSOR_U8, known_texts(a), known.text, err);
    for (int i = 0; i < a->channels; i++)
        for (int list = 0; list < LISTS; list++)
            walk_list(walk, &a->assigned[i], list, list_of(&a->assigned[i], list), err);
    return true;
}

static const Tensor *need(const Assigner *a, const Tensors *file, const ChannelAssignment *assigned,
                          int list, Error *err) {
    int64_t shape[1] = {assigned_messages(assigned, a->comm)};
    char name[64];
    name_of(name, assigned, list);
    return tensors_need(file, name, lists[list].type, 1, shape, err);
}

static bool check_lists(const Assigner *a, const Tensors *file, const ChannelAssignment *assigned,
                        Error *err) {
    for (int list = 0; list < LISTS; list++) {
        const Tensor *tensor = need(a, file, assigned, list, err);
        if (tensor == NULL || (tensor->type == TENSOR_U8 && !widths_check(tensor, file->path, err)))
            return false;
    }
    return true;
}

static bool check(const Assigner *a, const Tensors *file, Error *err) {
    int64_t shape[1] = {COUNTERS + a->channels};
    const Tensor *counters = tensors_need(file, "counters", TENSOR_I64, 1, shape, err);
    if (counters == NULL)
        return false;
    int64_t pending = ((const int64_t *)counters->data)[1];
    if (pending != NOTHING_PENDING && pending != WIDTHS_DECIDED)
        return error_data(err, "%s: counters has the unknown state %ld", file->path, pending);
    for (int i = 0; i < a->channels; i++)
        if (!check_lists(a, file, &a->assigned[i], err))
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
    for (int i = 1; i <= a->channels; i++)
        known.text[TEXTS + PART_TEXTS * i - 1] = 0;
    known_copy(a, &known, false);
}

// Restores the lists of one channel: applies the widths in use, then reads the next widths and the
// ranges.
static bool restore_lists(ChannelAssignment *assigned, int64_t exchanges, StateWalk *walk,
                          Error *err) {
    RangeStatistics *ranges = channel_ranges(assigned->of.channel);
    if (!walk_list(walk, assigned, 0, assigned->next, err))
        return false;
    assigned_apply(assigned);
    ranges->exchanges = exchanges;
    return walk_list(walk, assigned, 1, assigned->next, err) &&
           walk_list(walk, assigned, 2, ranges->square, err);
}

// Checks the whole file before it changes anything.
static bool restore(Assigner *a, StateWalk *walk, Error *err) {
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS];
    if (walk->from != NULL)
        check(a, walk->from, err);
    if (!comm_agree(a->comm, err) ||
        !state_replicated(walk, "counters", TENSOR_I64, COUNTERS + a->channels, counters, err))
        return false;
    a->requested = counters[0];
    a->pending = (Pending)counters[1];
    a->applied = counters[2];
    a->assignment = (Assignment){.requested = a->requested, .parts = a->channels};
    for (int i = 0; i < a->channels; i++) {
        a->assignment.part[i].id = a->assigned[i].of.id;
        if (!restore_lists(&a->assigned[i], counters[COUNTERS + i], walk, err))
            return false;
    }
    if (walk->from != NULL)
        restore_known(a, walk->from);
    return !memories_are_chosen(a) ||
           state_replicated(walk, "direct.noise", TENSOR_F64, a->channels, a->direct_noise, err);
}

static bool walk_state(void *owner, StateWalk *walk, Error *err) {
    return (walk->restores ? restore : save)(owner, walk, err);
}

StateSection assigner_section(Assigner *a) {
    return (StateSection){.name = "messages", .walk = walk_state, .owner = a};
}
