// A config that a test writes, read back or refused.
#pragma once

#include "support.h"

#include "config/internal.h"

static inline void load(Config *config, const char *text, const char *const *settings, int count) {
    test_write_text(test_path("some.json"), text);
    assert_ok(config_load(config, test_path("some.json"), settings, count, &err));
}

static inline void refused(const char *text, const char *part) {
    Config config;
    test_write_text(test_path("some.json"), text);
    assert_refused(config_load(&config, test_path("some.json"), NULL, 0, &err), EXIT_CONFIG, part);
}
