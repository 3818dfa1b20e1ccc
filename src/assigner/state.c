// Two exports of the assigner: the widths in use, for reports and replays; and its state, a section
// of checkpoints. The sender of a row holds the row's widths and ranges.

#include "internal.h"

int assigner_widths(Assigner *a, Tensor tensor[ASSIGNED_CHANNELS]) {
    for (int i = 0; i < a->channels; i++) {
        const ChannelAssignment *assigned = &a->assigned[i];
        int64_t count = assigned_messages(assigned, a->comm);
        uint8_t *all = ALLOC(uint8_t, count, "state of the assigner");
        list_gather(a->comm, channel_widths(assigned->of.channel, true), assigned->rows, all,
                    assigned->row_piece, 1);
        tensor[i] = tensor_vector(TENSOR_U8, count, all, "%s", assigned->name);
    }
    return a->channels;
}

void assigner_widths_free(Tensor tensor[ASSIGNED_CHANNELS], int count) {
    for (int i = 0; i < count; i++)
        MEMORY_FREE(tensor[i].data);
}

// ---- the section of checkpoints: counters, numbers and texts of the report, then three lists of
// each channel

// The fields of an assignment that the report needs and that are known before it is applied, except
// times of this process. Rank 0 alone knows them, until a restore tells all.
enum { COUNTERS = 3, NUMBERS = 6, PART_NUMBERS = 6, TEXTS = 256, PART_TEXTS = 16 };
typedef struct Known {
    double number[NUMBERS + PART_NUMBERS * ASSIGNED_CHANNELS];
    char text[TEXTS + PART_TEXTS * ASSIGNED_CHANNELS];
} Known;

// Copies the fields from the assigner to a Known (`store`), or back: numbers of the link model,
// then of each channel, and likewise texts.
static void known_copy(Assigner *a, Known *known, bool store) {
    Assignment *of = &a->assignment;
    static_assert(sizeof of->warning == TEXTS && sizeof of->part[0].by == PART_TEXTS, "");
    state_copy(known->number, of->byte_seconds, sizeof of->byte_seconds, store);
    state_copy(known->number + 3, of->message_seconds, sizeof of->message_seconds, store);
    state_copy(known->text, of->warning, TEXTS, store);
    for (int i = 0; i < a->channels; i++) {
        AssignmentPart *part = &of->part[i];
        double *number[PART_NUMBERS] = {&part->objective, &part->bound,  &part->lp_bound,
                                        &part->predicted, &part->hidden, &a->assigned[i].hidden};
        for (int k = 0; k < PART_NUMBERS; k++)
            state_copy(&known->number[NUMBERS + PART_NUMBERS * i + k], number[k], sizeof(double),
                       store);
        state_copy(known->text + TEXTS + PART_TEXTS * i, part->by, PART_TEXTS, store);
    }
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

static bool walk_counters(Assigner *a, StateWalk *walk, Error *err) {
    int64_t counters[COUNTERS + ASSIGNED_CHANNELS] = {a->requested, a->pending, a->applied};
    for (int i = 0; i < a->channels; i++)
        counters[COUNTERS + i] = channel_ranges(a->assigned[i].of.channel)->exchanges;
    if (!state_replicated(walk, "counters", TENSOR_I64, COUNTERS + a->channels, counters, err))
        return false;
    a->requested = counters[0];
    a->pending = (Pending)counters[1];
    a->applied = counters[2];
    for (int i = 0; i < a->channels; i++)
        channel_ranges(a->assigned[i].of.channel)->exchanges = counters[COUNTERS + i];
    if (walk->from != NULL && counters[1] != NOTHING_PENDING && counters[1] != WIDTHS_DECIDED)
        error_data(err, "%s: counters has the unknown state %ld", walk->from->path, counters[1]);
    return !walk->restores || comm_agree(walk->comm, err);
}

static bool walk_known(Assigner *a, StateWalk *walk, Error *err) {
    int64_t numbers = NUMBERS + PART_NUMBERS * a->channels;
    int64_t texts = TEXTS + PART_TEXTS * a->channels;
    Known known = {0};
    known_copy(a, &known, true);
    if (!state_replicated(walk, "report.numbers", TENSOR_F64, numbers, known.number, err) ||
        !state_replicated(walk, "report.texts", TENSOR_U8, texts, known.text, err))
        return false;
    known.text[TEXTS - 1] = 0;
    for (int i = 1; i <= a->channels; i++)
        known.text[TEXTS + PART_TEXTS * i - 1] = 0;
    known_copy(a, &known, false);
    return true;
}

static bool walk_list(const ChannelAssignment *assigned, const char *list, TensorType type,
                      void *mine, StateWalk *walk, Error *err) {
    char name[64];
    snprintf(name, sizeof name, "%s.%s", assigned->name, list);
    if (!state_distributed(walk, name, type, assigned->rows, mine, err))
        return false;
    if (walk->from != NULL && type == TENSOR_U8)
        widths_check(tensors_find(walk->from, name), walk->from->path, err);
    return !walk->restores || comm_agree(walk->comm, err);
}

// Applies the widths in use where it restores, before it reads the next ones.
static bool walk_lists(ChannelAssignment *assigned, StateWalk *walk, Error *err) {
    void *in_use = walk->restores ? assigned->next
                                  : (void *)(uintptr_t)channel_widths(assigned->of.channel, true);
    if (!walk_list(assigned, "widths", TENSOR_U8, in_use, walk, err))
        return false;
    if (walk->restores)
        assigned_apply(assigned);
    return walk_list(assigned, "next", TENSOR_U8, assigned->next, walk, err) &&
           walk_list(assigned, "ranges", TENSOR_F32, channel_ranges(assigned->of.channel)->square,
                     walk, err);
}

// Wider types come first, so that they are aligned in the file.
static bool walk_state(void *owner, StateWalk *walk, Error *err) {
    Assigner *a = owner;
    if ((!walk->restores && !decide_first(a, err)) || !walk_counters(a, walk, err))
        return false;
    if (walk->restores)
        a->assignment = (Assignment){.requested = a->requested, .parts = a->channels};
    for (int i = 0; walk->restores && i < a->channels; i++)
        a->assignment.part[i].id = a->assigned[i].of.id;
    if ((memories_are_chosen(a) &&
         !state_replicated(walk, "direct.noise", TENSOR_F64, a->channels, a->direct_noise, err)) ||
        !walk_known(a, walk, err))
        return false;
    for (int i = 0; i < a->channels; i++)
        if (!walk_lists(&a->assigned[i], walk, err))
            return false;
    return true;
}

StateSection assigner_section(Assigner *a) {
    return (StateSection){.name = "messages", .walk = walk_state, .owner = a};
}
