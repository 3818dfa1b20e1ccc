// The options from a config.
#include "fringe/srp.h"

SrpOptions srp_options(const Config *config, int parts) {
    const char *refine = config->stream.refine;
    bool both = strcmp(refine, "both") == 0;
    return (SrpOptions){.parts = parts,
                        .score = config->stream.score,
                        .during = both || strcmp(refine, "during") == 0,
                        .after = both || strcmp(refine, "after") == 0,
                        .window = config->stream.window,
                        .iterations = (int)config->stream.iterations,
                        .epsilon = config->stream.epsilon,
                        .capacity = config->stream.capacity,
                        .window_votes = strcmp(config->stream.votes, "window") == 0,
                        .window_balance = strcmp(config->stream.balance, "window") == 0,
                        .passes = (int)config->stream.passes,
                        .seed = (uint64_t)config->partition.seed};
}
