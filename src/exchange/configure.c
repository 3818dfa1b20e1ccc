// What the config says of exchanges in training.

#include "fringe/exchange.h"

bool exchange_configure(const Config *config, const Schedule **schedule, CodecOptions *options,
                        Error *err) {
    *schedule = schedule_find(config->comm.schedule, err);
    *options = (CodecOptions){.codec = codec_find(config->quantization.codec, err),
                              .width = (int)config->quantization.initial_bits,
                              .chunk = config->comm.chunk};
    return err->code == 0 && codec_configure(options->codec, config, &options->values, err) &&
           residual_configure(config, &options->residual[CODING_MEMORY].of,
                              &options->residual[CODING_MEMORY].values, err) &&
           schedule_configure(*schedule, config, options, err) &&
           sample_configure(config, *schedule, options, err);
}
