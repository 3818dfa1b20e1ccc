// Which exchanges send differences from remembered rows (quantization.memory=auto). Every period
// ends with a trial of all of them:
//
//   ... | rows | differences ... differences | ...
//         direct noise          noise of the last one
//
// After it an exchange sends differences if these had less than half the noise of the rows: (1 + w)
// d^2 < 1/2 of ALGORITHMS E, with the ranges that the rows really have. Until the first trial is
// over, rows go as they are.

#include "internal.h"

enum { TRIAL = 10 }; // differences in a trial, at most; what is remembered settles meanwhile

bool memories_are_chosen(const Assigner *a) {
    return strcmp(a->config->quantization.memory, "auto") == 0;
}

// Epochs of the trial that are left after this one; the rows themselves go where as many are left
// as the trial has.
static int64_t left_of_period(const Assigner *a, int64_t epoch) {
    int64_t period = a->config->quantization.period;
    return period - 1 - (epoch - 1) % period;
}

static int64_t trial_of(const Assigner *a) {
    int64_t half = a->config->quantization.period / 2;
    return half < TRIAL ? half : TRIAL;
}

static void set_all(Assigner *a, bool direct) {
    for (int i = 0; i < a->channels; i++)
        channel_set_direct(a->assigned[i].of.channel, direct);
}

// Of the last exchange, added over ranks.
static void measure(const Assigner *a, double noise[ASSIGNED_CHANNELS]) {
    for (int i = 0; i < a->channels; i++)
        noise[i] = channel_noise(a->assigned[i].of.channel);
    comm_sum_double(a->comm, noise, a->channels);
}

// Exact exchanges have measured nothing.
static void choose(Assigner *a) {
    double noise[ASSIGNED_CHANNELS];
    measure(a, noise);
    for (int i = 0; i < a->channels; i++)
        channel_set_direct(a->assigned[i].of.channel,
                           channel_is_full_precision(a->assigned[i].of.channel) ||
                               !(noise[i] < 0.5 * a->direct_noise[i]));
}

void memories_init(Assigner *a) {
    if (memories_are_chosen(a))
        set_all(a, true);
}

void memories_before(Assigner *a, int64_t epoch) {
    int64_t left = left_of_period(a, epoch), trial = trial_of(a);
    if (memories_are_chosen(a) && left <= trial)
        set_all(a, left == trial);
}

void memories_after(Assigner *a, int64_t epoch) {
    int64_t left = left_of_period(a, epoch);
    if (memories_are_chosen(a) && left == trial_of(a))
        measure(a, a->direct_noise);
    else if (memories_are_chosen(a) && left == 0)
        choose(a);
}
