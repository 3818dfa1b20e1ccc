// The life of an assignment: it is requested before one epoch, decided while training continues,
// applied before a later epoch, and measured after that epoch.

#include "internal.h"

static void assigned_new(Assigner *a, ChannelAssignment *assigned, const AssignedChannel *of) {
    *assigned = (ChannelAssignment){.of = *of, .plan = channel_halo_plan(of->channel)};
    assert(assigned->plan == &of->block->pattern->plan);
    exchange_name(of->id, assigned->name);
    groups_init(assigned, a->comm, a->group_size);
    groups_coefficients(assigned, strcmp(a->config->quantization.sensitivity, "safe") == 0);
    if (assigned->rows > 0)
        memcpy(assigned->next, channel_widths(of->channel, true), (size_t)assigned->rows);
}

Assigner *assigner_new(const Config *config, const Comm *comm, uint64_t seed, const Replay *replay,
                       const AssignedChannel *channels, int count, Error *err) {
    assert(count <= ASSIGNED_CHANNELS);
    Assigner *a = ALLOC(Assigner, 1, "assigner");
    int64_t pairs = comm->rank == 0 ? (int64_t)comm->size * (comm->size - 1) : 0;
    *a = (Assigner){.config = config,
                    .comm = comm,
                    .rule = rule_find(config->quantization.assign, err),
                    .seed = seed,
                    .group_size = config->quantization.group_size,
                    .channels = count,
                    .replay = replay};
    a->theta = ALLOC(double, pairs, "link model");
    a->gamma = ALLOC(double, pairs, "link model");
    if (a->rule == NULL) {
        assigner_free(a);
        return NULL;
    }
    for (int i = 0; i < count; i++)
        assigned_new(a, &a->assigned[i], &channels[i]);
    memories_init(a);
    return a;
}

void assigner_free(Assigner *a) {
    if (a == NULL)
        return;
    for (int i = 0; i < a->channels; i++) {
        solver_stop(&a->assigned[i].solver);
        memory_free(a->assigned[i].place);
        solution_clear(&a->assigned[i].solution);
        problem_clear(&a->assigned[i].problem);
        taken_free(&a->assigned[i].taken);
    }
    MEMORY_FREE(a->gamma, a->theta, a);
}

// ---- request, decision, application

// Exact exchanges have no widths, so they are not asked for; a rule is not asked at all if all are
// exact.
static bool request(Assigner *a, int64_t epoch, Error *err) {
    bool some = false;
    a->requested = epoch;
    a->assignment = (Assignment){.requested = epoch, .parts = a->channels};
    for (int i = 0; i < a->channels; i++) {
        ChannelAssignment *assigned = &a->assigned[i];
        AssignmentPart *part = &a->assignment.part[i];
        assigned->asked = !channel_is_full_precision(assigned->of.channel);
        *part = (AssignmentPart){.id = assigned->of.id};
        if (!assigned->asked)
            snprintf(part->by, sizeof part->by, "fp32");
        some = some || assigned->asked;
    }
    a->pending = some ? SOLUTION_PENDING : NOTHING_PENDING;
    return !some || a->rule->request(a, err);
}

bool assigner_decide(Assigner *a, Error *err) {
    if (a->pending != SOLUTION_PENDING)
        return true;
    a->pending = WIDTHS_DECIDED;
    return a->rule->decide(a, err);
}

void assigned_apply(ChannelAssignment *assigned) {
    const HaloPlan *p = assigned->plan;
    FREED uint8_t *received = ALLOC(uint8_t, p->halo_count, "widths of messages");
    ring_to_readers(p, assigned->next, received, 1);
    channel_set_widths(assigned->of.channel, assigned->next, received);
}

static void count_widths(const Assigner *a, const ChannelAssignment *assigned,
                         AssignmentPart *part) {
    for (int64_t k = 0; k < assigned->rows; k++)
        part->rows[assigned->next[k]]++;
    comm_sum_int64(a->comm, part->rows, WIDTH_MOST + 1);
}

static void apply(Assigner *a, int64_t epoch) {
    a->pending = NOTHING_PENDING;
    a->applied = a->assignment.applied = epoch;
    for (int i = 0; i < a->channels; i++) {
        ChannelAssignment *assigned = &a->assigned[i];
        assigned_apply(assigned);
        if (!channel_is_full_precision(assigned->of.channel))
            count_widths(a, assigned, &a->assignment.part[i]);
        assigned->transfer = channel_seconds(assigned->of.channel).transfer;
        assigned->covered = channel_seconds(assigned->of.channel).covered;
        assigned->exchanges = 0;
    }
}

bool assigner_before(Assigner *a, int64_t epoch, Error *err) {
    double begin = clock_seconds();
    memories_before(a, epoch);
    if (a->pending == NOTHING_PENDING && a->rule->due(a, epoch) && !request(a, epoch, err))
        return false;
    int64_t delay = a->rule->at_once ? 0 : a->config->quantization.delay;
    bool due =
        epoch >= a->requested + delay || epoch + 1 >= a->requested + a->config->quantization.period;
    if (a->pending != NOTHING_PENDING && due) {
        if (!assigner_decide(a, err))
            return false;
        apply(a, epoch);
    }
    a->assignment.seconds += clock_seconds() - begin;
    return true;
}

// Seconds of the exchange in the epoch. One that stays in flight has them of an epoch.
static double seconds_of(const Assigner *a, const ChannelAssignment *assigned) {
    const Schedule *schedule = schedule_find(a->config->comm.schedule, &(Error){0});
    if (schedule != NULL && schedule->keeps_in_flight)
        return NAN;
    return comm_max_double(a->comm,
                           channel_seconds(assigned->of.channel).transfer - assigned->transfer);
}

const Assignment *assigner_after(Assigner *a, int64_t epoch) {
    for (int i = 0; i < a->channels; i++)
        a->assigned[i].exchanges++;
    memories_after(a, epoch);
    if (a->applied != epoch)
        return NULL;
    for (int i = 0; i < a->channels; i++)
        a->assignment.part[i].measured = seconds_of(a, &a->assigned[i]);
    a->assignment.seconds = comm_max_double(a->comm, a->assignment.seconds);
    return &a->assignment;
}
