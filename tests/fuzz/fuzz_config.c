// The reader of configs, as a run's own config is read again (old names are taken, too). Mistakes
// are reported together, one a line.

#include "fuzz.h"

#include "config/internal.h"
#include "fringe/dataset_events.h"

// Each line is a mistake, and none is the rest of one, after a line break that the file holds.
static void check_lines(const Error *err) {
    for (const char *line = err->text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        FUZZ_CHECK(strncmp(line, "fuzz:", 5) == 0 || strcmp(line, "... and more") == 0);
    }
}

// Words of some families are checked; the others are of modules above those that are fuzzed.
static void learn(void) {
    static const Family *const families[] = {&format_family, &step_family, &replay_family};
    static bool learnt;
    if (!learnt)
        config_learn_families(families, FAMILY_COUNT(families));
    learnt = true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    static Config config;
    Error err = {0};
    learn();
    fuzz_begin();
    char *text = fuzz_text(bytes, count);
    bool ok = config_from_json(&config, text, "fuzz", &err);
    FUZZ_CHECK(ok == (err.code == 0) && ok == (err.text[0] == '\0'));
    if (!ok)
        check_lines(&err);
    free(text);
    fuzz_end();
    return 0;
}
