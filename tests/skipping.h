// The options of channels under the schedule skip, as a config with that rule gives them.
#pragma once

#include "fringe/exchange.h"
#include "support.h"

static inline void skip_by(CodecOptions *options, const char *rule) {
    Config config;
    char setting[CONFIG_WORD + 16];
    const char *settings[] = {setting, "model.dropout=0", "lossless.cover=sources",
                              "quantization.assign=uniform"};
    const FamilyKeys keys = schedule_keys();
    snprintf(setting, sizeof setting, "comm.skip=%s", rule);
    config_learn_keys(&keys, 1);
    assert_ok(config_load(&config, NULL, settings, 4, &err));
    const Schedule *skip = assert_ok(schedule_find("skip", &err));
    assert_ok(schedule_configure(skip, &config, options, &err));
    config_learn_keys(NULL, 0);
}
