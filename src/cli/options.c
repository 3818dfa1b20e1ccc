// One table of the options of all commands; a command lists the letters of its options.

#include "internal.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

typedef struct Option {
    char letter;          // how commands[].options names it
    const char *name;     // after --
    const char *argument; // NULL: none
    const char *help;
} Option;

static const Option table[] = {
    {'r', "ranks", "P", "number of ranks; starts mpirun, unless inside an MPI job of that size"},
    {'s', "set", "KEY=VALUE", "override a key of the config; may be repeated"},
    {'n', "runs", "N", "N runs with seeds run.seed, run.seed + 1, ...; prints mean and deviation"},
    {'u', "resume", "auto",
     "continue from the newest valid checkpoint of run.dir, if there is one"},
    {'w', "weights", "WHERE",
     "weights to use: a run, checkpoint or .safetensors file (default: run.dir)"},
    {'b', "best", NULL, "use the weights of the best validation instead of the last ones"},
    {'l', "layer", "L", "also write the input rows of layer L (1 ... layers - 1)"},
    {'o', "output", "PATH", "folder of the results; the file of a report"},
    {'k', "parts", "K", "number of parts (default: 2)"},
    {'d', "seed", "N", "seed of the generator (default: 1)"},
    {'m', "modes", "A,B,...",
     "modes to compare (default: vanilla,lossless,adaqp-published,adaqp,\n                     "
     "alone)"},
    {'j', "json", NULL, "print JSON"},
    {'f', "files", NULL, "also check data, weights and output folders on disk"},
    {'q', "quiet", NULL, "print warnings, errors and results only"},
    {'v', "verbose", NULL, "also print messages, memory, kernels and the parts of each epoch"},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

static bool taken(const Command *command, const Option *option) {
    return strchr(command->options, option->letter) != NULL;
}

// A whole number in [least, most].
static bool read_number(const char *name, const char *text, int64_t least, int64_t most,
                        int64_t *out, Error *err) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text == 0 || *end != 0 || value < least || value > most)
        return error_set(err, EXIT_USAGE,
                         "--%s: expected a whole number from %lld to %lld, found \"%s\"", name,
                         (long long)least, (long long)most, text);
    *out = value;
    return true;
}

static bool store_int(const char *name, const char *text, int most, int *out, Error *err) {
    int64_t value = 0;
    bool ok = read_number(name, text, 1, most, &value, err);
    *out = (int)value;
    return ok;
}

static bool store(Options *options, const Option *option, const char *text, Error *err) {
    switch (option->letter) {
    case 'r':
        return store_int("ranks", text, 65536, &options->ranks, err);
    case 'n':
        return store_int("runs", text, 100000, &options->runs, err);
    case 'l':
        return store_int("layer", text, MODEL_LAYERS, &options->layer, err);
    case 'k':
        return store_int("parts", text, 65536, &options->parts, err);
    case 'd':
        return read_number("seed", text, 0, INT64_MAX, &options->seed, err);
    case 's':
        if (options->settings == CLI_SETTINGS)
            return error_set(err, EXIT_USAGE, "--set: at most %d settings", CLI_SETTINGS);
        options->setting[options->settings++] = text;
        return true;
    case 'u':
        options->resume = true;
        return strcmp(text, "auto") == 0 ||
               error_set(err, EXIT_USAGE, "--resume: expected auto, found \"%s\"", text);
    case 'w':
        options->weights = text;
        return true;
    case 'o':
        options->output = text;
        return true;
    case 'm':
        options->modes = text;
        return true;
    case 'q':
        terminal_set_level(TERMINAL_QUIET);
        return true;
    case 'v':
        terminal_set_level(TERMINAL_VERBOSE);
        return true;
    case 'b':
        options->best = true;
        return true;
    case 'f':
        options->needs = NEEDS_TRAINING;
        return true;
    default:
        options->json = true;
        return true;
    }
}

// The tables of getopt_long for one command. Its return value is 256 + the row of `table`.
static void fill(struct option longs[OPTIONS + 2], char shorts[16], const Command *command) {
    int count = 0;
    snprintf(shorts, 16, "+:h%s", strchr(command->options, 'o') != NULL ? "o:" : "");
    for (int i = 0; i < OPTIONS; i++)
        if (taken(command, &table[i]))
            longs[count++] = (struct option){
                table[i].name, table[i].argument != NULL ? required_argument : no_argument, NULL,
                256 + i};
    longs[count++] = (struct option){"help", no_argument, NULL, 'h'};
    longs[count] = (struct option){0};
}

static bool unknown(const Command *command, const char *word, Error *err) {
    const char *names[OPTIONS];
    int count = 0;
    for (int i = 0; i < OPTIONS; i++)
        if (taken(command, &table[i]))
            names[count++] = table[i].name;
    const char *closest =
        strncmp(word, "--", 2) == 0 ? family_closest(word + 2, names, count) : NULL;
    return error_set(err, EXIT_USAGE, "%s: no option %s%s%s%s; see fringe %s --help", command->name,
                     word, closest != NULL ? "; did you mean --" : "",
                     closest != NULL ? closest : "", closest != NULL ? "?" : "", command->name);
}

static bool check_arguments(const Options *options, const Command *command, Error *err) {
    if (options->help ||
        (options->arguments >= command->least && options->arguments <= command->most))
        return true;
    return error_set(
        err, EXIT_USAGE, "%s: %s; usage: fringe %s %s; see fringe %s --help", command->name,
        options->arguments < command->least ? "an argument is missing" : "too many arguments",
        command->name, command->arguments, command->name);
}

bool options_parse(Options *options, const Command *command, int argc, char **argv, Error *err) {
    struct option longs[OPTIONS + 2];
    char shorts[16];
    fill(longs, shorts, command);
    *options = (Options){.runs = 1, .seed = 1, .needs = command->needs};
    opterr = 0;
    optind = 1;
    while (optind < argc) { // arguments and options may stand in any order
        int chosen = getopt_long(argc, argv, shorts, longs, NULL);
        if (chosen == -1 && optind < argc) {
            if (options->arguments == CLI_ARGUMENTS)
                return error_set(err, EXIT_USAGE, "%s: too many arguments", command->name);
            options->argument[options->arguments++] = argv[optind++];
        } else if (chosen == 'h') {
            options->help = true;
        } else if (chosen == 'o') {
            options->output = optarg;
        } else if (chosen == ':') {
            return error_set(err, EXIT_USAGE, "%s: %s needs a value; see fringe %s --help",
                             command->name, argv[optind - 1], command->name);
        } else if (chosen == '?') {
            return unknown(command, argv[optind - 1], err);
        } else if (chosen >= 256 && !store(options, &table[chosen - 256], optarg, err)) {
            return false;
        }
    }
    return check_arguments(options, command, err);
}

void options_help(const Command *command) {
    printf("usage: fringe %s %s%s\n\n%s\n", command->name, command->arguments,
           command->options[0] != 0 ? " [OPTIONS]" : "", command->details);
    printf("\n");
    for (int i = 0; i < OPTIONS; i++) {
        char left[32];
        if (!taken(command, &table[i]))
            continue;
        snprintf(left, sizeof left, "--%s %s", table[i].name,
                 table[i].argument != NULL ? table[i].argument : "");
        printf("  %-18s %s\n", left, table[i].help);
    }
    printf("  %-18s %s\n", "--help", "print this text");
    if (strcmp(command->name, "generate") == 0)
        printf("\nNAME is one of %s.\n", dataset_generator_list());
}
