// The life of an assignment: asked before one epoch, decided while training goes on, taken before a
// later one, measured after that.

#include "internal.h"

#include <stdio.h>
#include <string.h>

static void lot_new(Assigner *a, Lot *lot, const AssignedChannel *of) {
    *lot = (Lot){.of = *of, .plan = channel_halo_plan(of->channel)};
    assert(lot->plan == &of->block->pattern->plan);
    exchange_name(of->id, lot->name);
    groups_take(lot, a->comm, a->group_size);
    groups_coefficients(lot, strcmp(a->config->quantization.sensitivity, "safe") == 0);
    if (lot->rows > 0)
        memcpy(lot->next, channel_widths(of->channel, true), (size_t)lot->rows);
}

Assigner *assigner_new(const Config *config, const Comm *comm, uint64_t seed,
                       const AssignedChannel *channels, int count, Error *err) {
    assert(count <= ASSIGNED_CHANNELS);
    Assigner *a = TAKE(Assigner, 1, "assigner");
    int64_t pairs = comm->rank == 0 ? (int64_t)comm->size * (comm->size - 1) : 0;
    *a = (Assigner){.config = config,
                    .comm = comm,
                    .rule = rule_find(config->quantization.assign, err),
                    .seed = seed,
                    .group_size = config->quantization.group_size,
                    .lots = count};
    a->theta = TAKE(double, pairs, "link model");
    a->gamma = TAKE(double, pairs, "link model");
    if (a->rule != NULL)
        for (int i = 0; i < count; i++)
            lot_new(a, &a->lot[i], &channels[i]);
    bool fine = a->rule != NULL && (a->rule->open == NULL || a->rule->open(a, err));
    if (!fine) {
        assigner_free(a);
        return NULL;
    }
    return a;
}

void assigner_free(Assigner *a) {
    if (a == NULL)
        return;
    for (int i = 0; i < a->lots; i++) {
        solver_stop(&a->lot[i].solver);
        memory_give(a->lot[i].place);
        solution_clear(&a->lot[i].solution);
        problem_clear(&a->lot[i].problem);
        groups_clear(&a->lot[i]);
    }
    memory_give(a->replay);
    memory_give(a->gamma);
    memory_give(a->theta);
    memory_give(a);
}

// ---- asking, deciding, taking

static bool ask(Assigner *a, int64_t epoch, Error *err) {
    a->asked = epoch;
    a->pending = SOLUTION_PENDING;
    a->assignment = (Assignment){.asked = epoch, .parts = a->lots};
    for (int i = 0; i < a->lots; i++)
        a->assignment.part[i].id = a->lot[i].of.id;
    return a->rule->ask(a, err);
}

bool assigner_decide(Assigner *a, Error *err) {
    if (a->pending != SOLUTION_PENDING)
        return true;
    a->pending = WIDTHS_DECIDED;
    return a->rule->decide(a, err);
}

void lot_take(Lot *lot) {
    const HaloPlan *p = lot->plan;
    uint8_t *received = TAKE(uint8_t, p->halo_count, "widths of messages");
    ring_to_readers(p, lot->next, received, 1);
    channel_set_widths(lot->of.channel, lot->next, received);
    memory_give(received);
}

static void count_widths(const Assigner *a, const Lot *lot, AssignmentPart *part) {
    for (int64_t k = 0; k < lot->rows; k++)
        part->rows[lot->next[k]]++;
    comm_sum_int64(a->comm, part->rows, WIDTH_MOST + 1);
}

static void take(Assigner *a, int64_t epoch) {
    a->pending = NOTHING_PENDING;
    a->taken = a->assignment.taken = epoch;
    for (int i = 0; i < a->lots; i++) {
        Lot *lot = &a->lot[i];
        lot_take(lot);
        count_widths(a, lot, &a->assignment.part[i]);
        lot->transfer = channel_seconds(lot->of.channel).transfer;
        lot->covered = channel_seconds(lot->of.channel).covered;
        lot->exchanges = 0;
    }
}

bool assigner_before(Assigner *a, int64_t epoch, Error *err) {
    double begin = clock_seconds();
    if (a->pending == NOTHING_PENDING && a->rule->due(a, epoch) && !ask(a, epoch, err))
        return false;
    int64_t delay = a->rule->at_once ? 0 : a->config->quantization.delay;
    bool due = epoch >= a->asked + delay || epoch + 1 >= a->asked + a->config->quantization.period;
    if (a->pending != NOTHING_PENDING && due) {
        if (!assigner_decide(a, err))
            return false;
        take(a, epoch);
    }
    a->assignment.seconds += clock_seconds() - begin;
    return true;
}

const Assignment *assigner_after(Assigner *a, int64_t epoch) {
    for (int i = 0; i < a->lots; i++)
        a->lot[i].exchanges++;
    if (a->taken != epoch)
        return NULL;
    for (int i = 0; i < a->lots; i++) {
        double transfer = channel_seconds(a->lot[i].of.channel).transfer - a->lot[i].transfer;
        a->assignment.part[i].measured = comm_max_double(a->comm, transfer);
    }
    a->assignment.seconds = comm_max_double(a->comm, a->assignment.seconds);
    return &a->assignment;
}
