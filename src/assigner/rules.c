// The table of rules. uniform is the smallest member: all rows keep quantization.initial_bits.

#include "internal.h"

static bool never(UNUSED const Assigner *a, UNUSED int64_t epoch) { return false; }

static bool nothing(UNUSED Assigner *a, UNUSED Error *err) { return true; }

// Requests an assignment before epochs 1 + period, 1 + 2 period, ...
static bool periodic(const Assigner *a, int64_t epoch) {
    return epoch > 1 && (epoch - 1) % a->config->quantization.period == 0;
}

// ---- random: each row draws one of the widths; the random numbers are keyed like those of
// rounding (ALGORITHMS 0)

static bool random_decide(Assigner *a, UNUSED Error *err) {
    const ConfigInts *widths = &a->config->quantization.bits;
    for (int i = 0; i < a->channels; i++) {
        ChannelAssignment *assigned = &a->assigned[i];
        const HaloPlan *p = assigned->plan;
        RandomKey key = random_key(a->seed, RANDOM_ASSIGN, (uint32_t)a->requested,
                                   assigned->of.id.layer, assigned->of.id.direction);
        if (!assigned->asked)
            continue;
        for (int g = 0; g < a->comm->size - 1; g++) {
            int reader = ring_reader(a->comm->rank, g, a->comm->size);
            for (int64_t k = p->send_offset[g]; k < p->send_offset[g + 1]; k++) {
                int64_t id = p->source_id[p->send_row[k]];
                int peer = id < 0 ? a->comm->rank : reader; // the sender, for a partial aggregate
                double u = random_uniform32(key, id, peer, 0);
                assigned->next[k] = (uint8_t)widths->value[(int)(u * widths->count)];
            }
        }
        snprintf(a->assignment.part[i].by, sizeof a->assignment.part[i].by, "random");
    }
    return true;
}

// ---- replay: the widths of an earlier run, which rank 0 reads

static bool replay_due(const Assigner *a, int64_t epoch) {
    assert(a->replay != NULL);
    for (int64_t i = 0; i < a->replay->assignments; i++)
        if (a->replay->assigned[i] == epoch)
            return true;
    return false;
}

static bool replay_decide(Assigner *a, Error *err) {
    Tensors file = {0};
    const Tensor *tensor[ASSIGNED_CHANNELS] = {NULL};
    bool first = a->comm->rank == 0;
    bool open = first && a->replay->open(a->replay, a->requested, &file, err);
    for (int i = 0; open && i < a->channels && err->code == 0; i++) {
        int64_t shape[1] = {assigned_messages(&a->assigned[i], a->comm)};
        tensor[i] = tensors_need(&file, a->assigned[i].name, TENSOR_U8, 1, shape, err);
        if (tensor[i] != NULL)
            widths_check(tensor[i], file.path, err);
    }
    bool fine = comm_agree(a->comm, err);
    for (int i = 0; fine && i < a->channels; i++) {
        ChannelAssignment *assigned = &a->assigned[i];
        list_scatter(a->comm, first ? tensor[i]->data : NULL, assigned->row_piece, assigned->next,
                     assigned->rows, 1);
        if (assigned->asked)
            snprintf(a->assignment.part[i].by, sizeof a->assignment.part[i].by, "replay");
    }
    if (open)
        tensors_close(&file);
    return fine;
}

static const Rule rules[] = {
    {.name = "uniform", .due = never, .request = nothing, .decide = nothing},
    {.name = "adaptive",
     .periodic = true,
     .due = periodic,
     .request = adaptive_request,
     .decide = adaptive_decide},
    {.name = "random",
     .periodic = true,
     .due = periodic,
     .request = nothing,
     .decide = random_decide},
    {.name = "replay:RUN",
     .at_once = true,
     .due = replay_due,
     .request = nothing,
     .decide = replay_decide},
};
const Family rule_family = FAMILY("quantization.assign", NULL, rules);

const Rule *rule_find(const char *word, Error *err) {
    return family_find(&rule_family, word, NULL, err);
}

int64_t assigner_first_epoch(const Config *config) {
    int64_t period = config->quantization.period, delay = config->quantization.delay;
    const Rule *rule = rule_find(config->quantization.assign, &(Error){0});
    if (rule == NULL || !rule->periodic)
        return 0;
    return 1 + period + (delay < period ? delay : period - 1);
}
