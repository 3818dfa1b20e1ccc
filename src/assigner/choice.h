// Which exchanges of training are in full precision (quantization.exchanges): the object, for its
// two files.
#pragma once

#include "fringe/assigner.h"

// Trials take turns: epoch 2 uses the codec, epoch 3 fp32, epoch 4 the codec, and so on. Epoch 1 is
// not measured, because it touches memory and connections for the first time.
enum { CHOICE_WARM = 1, CHOICE_TURNS = 3, CHOICE_TRIALS = 2 * CHOICE_TURNS };
enum { WITH_CODEC, WITH_FP32 };

typedef struct Candidate { // an exchange, the same on all ranks but for the channel
    ExchangeId id;
    Channel *channel;                // borrowed
    int64_t turns[2];                // epochs measured with the codec and with fp32
    double seconds[2][CHOICE_TURNS]; // [turns] of these, means over ranks
    double least_fp32; // seconds that fp32 takes at least, as the first turn of the codec shows
    int64_t out;       // not 0: fp32 is so much slower that it is not tried (again)
    ChannelSeconds before;
    int64_t bytes_before; // channel_count of what is sent
} Candidate;

struct Chooser {
    const Config *config; // borrowed
    const Comm *comm;     // borrowed
    const struct ChoiceRule *rule;
    int count;
    Candidate candidate[ASSIGNED_CHANNELS]; // [count]
    CodecChoice choice;                     // epoch 0: not made yet
    const Replay *replay;                   // borrowed; of the rule replay:RUN
};

// Rules are a table (choice.c).
typedef struct ChoiceRule {
    const char *name;
    ExchangeSet (*before)(Chooser *chooser,
                          int64_t epoch);           // the exchanges in full precision of the epoch
    void (*after)(Chooser *chooser, int64_t epoch); // NULL: it measures nothing. Collective
} ChoiceRule;

// ---- trials.c: the rule `measured`
ExchangeSet trials_before(Chooser *chooser, int64_t epoch);
void trials_after(Chooser *chooser, int64_t epoch);
// Fills in the choice that the measured seconds lead to.
void trials_judge(Chooser *chooser);
