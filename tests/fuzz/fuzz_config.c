// The reader of configs and of runs, which hold one. Mistakes are reported together, one a line.

#include "fuzz.h"

#include "config/internal.h"
#include "fringe/dataset_events.h"

// Each line is a mistake, and none is the rest of one, after a line break that the file holds.
static void check_lines(const char *path, const Error *err) {
    for (const char *line = err->text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        FUZZ_CHECK(strncmp(line, path, strlen(path)) == 0 || strcmp(line, "... and more") == 0);
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

FUZZER {
    static Config config;
    learn();
    char path[32];
    int file = fuzz_file(path, bytes, count);
    bool ok = config_load(&config, path, NULL, 0, &err);
    FUZZ_CHECK(ok == (err.code == 0) && ok == (err.text[0] == '\0'));
    if (!ok)
        check_lines(path, &err);
    close(file);
}
