// One table of the options of all commands; a command lists the letters of its options.

#include "internal.h"

#include <getopt.h>

#define FLAG(member) OPTION_FLAG, offsetof(Options, member), 0, NULL
#define TEXT(member) OPTION_TEXT, offsetof(Options, member), 0, NULL
#define INT(member, most) OPTION_INT, offsetof(Options, member), most, NULL
#define INT64(member) OPTION_INT64, offsetof(Options, member), 0, NULL
#define SETS(key) OPTION_KEY, 0, 0, key
#define OTHER OPTION_OTHER, 0, 0, NULL

static const Option table[] = {
    {'r', "ranks", "P", "number of ranks; starts mpirun, unless inside an MPI job of that size",
     INT(ranks, 65536)},
    {'M', "hosts", "HOST,...|FILE",
     "start the ranks on these machines: HOST,HOST:RANKS,... or a hostfile of Open MPI",
     TEXT(hosts)},
    {'O', "oversubscribe", NULL, "allow more than 8 ranks for each core", FLAG(oversubscribe)},
    {'s', "set", "KEY=VALUE", "override a key of the config; may be repeated", OTHER},
    {'n', "runs", "N", "N runs with seeds run.seed, run.seed + 1, ...; prints mean and deviation",
     INT(runs, 100000)},
    {'e', "sweep", "KEY=A,B,...", "train with each of these values; several: every combination",
     OTHER},
    {'u', "resume", "auto",
     "continue from the newest valid checkpoint of the folder, if there is one", OTHER},
    {'w', "weights", "WHERE",
     "weights to use: a run, checkpoint or .safetensors file (default: run.dir)", TEXT(weights)},
    {'b', "best", NULL, "use the weights of the best validation instead of the last ones",
     FLAG(best)},
    {'l', "layer", "L",
     "also write the rows that enter layer L, counted from 0: embeddings (1 to layers - 1)",
     INT(layer, MODEL_LAYERS)},
    {'o', "output", "PATH", "where to write: a folder, or the file of a report", TEXT(output)},
    {'k', "parts", "K", "number of parts (default: 2)", INT(parts, 65536)},
    {'d', "seed", "N", "seed of the generator (default: 1)", INT64(seed)},
    {'m', "modes", "A,B,...",
     "modes to compare (default: vanilla,lossless,adaqp-published,adaqp,alone)", TEXT(modes)},
    {'R', "ranks", "P,P,...", "numbers of ranks to plan for, ascending (default: 1,2,4,8)",
     TEXT(plan_ranks)},
    {'H', "ranks-per-host", "N", "ranks that share a machine and its link (default: --cores)",
     INT(ranks_per_host, 65536)},
    {'c', "cores", "C", "cores of a machine, 0.5 where two share one (default: those of this one)",
     TEXT(cores)},
    {'L', "link", "GBIT,LATENCY",
     "a machine's link: Gbit/s, and seconds of latency (default: 10,50e-6)", TEXT(link)},
    {'g', "compute", "GFLOPS,GBS",
     "speed of one core: dense products, and memory (default: measured here)", TEXT(compute)},
    {'G', "svg", "FILE", "also draw time and memory against ranks", TEXT(svg)},
    {'t', "older", "AGE", "remove what was not used for AGE, such as 12h or 30d (default: 30d)",
     TEXT(older)},
    {'a', "all", NULL, "remove everything that no running command uses", FLAG(all)},
    {'N', "nodes", "FILE",
     "features, labels and splits of nodes by their ids: .npz, or random:F for F random features",
     TEXT(nodes)},
    {'S', "snapshot-every", "N", "write a snapshot after every N events",
     SETS("stream.snapshot_every")},
    {'C', "checkpoint-every", "N", "write a checkpoint after every N events",
     SETS("stream.checkpoint_every")},
    {'P', "passes", "N", "place everything N - 1 times again for a snapshot (restreaming)",
     SETS("stream.passes")},
    {'K', "skip", "N", "pass over the first N events of SOURCE", INT64(skip)},
    {'T', "to", "FORMAT", "format to write: npz, metis, ogb or fringe (default: by DST's ending)",
     TEXT(to)},
    {'D', "data", "NEW",
     "another graph, with nodes that training has not seen; --set data.... gives its other files",
     TEXT(data)},
    {'V', "csv", "FILE", "also write id, class and the score of each class, a line for each node",
     TEXT(csv)},
    {'Z', "npz", "FILE",
     "also write one archive of numpy: id, class, scores; class_names, embeddings if there are any",
     TEXT(npz)},
    {'F', "force", NULL, "replace DST if it exists", FLAG(force)},
    {'z', "store", NULL, "do not compress the arrays of an npz", FLAG(store)},
    {'A', "all-metrics", NULL, "also measure areas under curves (roc-auc, average-precision)",
     FLAG(all_metrics)},
    {'E', "events", "FD|FILE",
     "write what happens as JSON, one object a line, to an open descriptor or the end of a file",
     TEXT(events)},
    {'j', "json", NULL, "print JSON", FLAG(json)},
    {'f', "files", NULL, "also check data, weights and output folders on disk", OTHER},
    {'x', "changed", NULL, "show only what is not at its default, and who set it", FLAG(changed)},
    {'q', "quiet", NULL, "print warnings, errors and results only", OTHER},
    {'v', "verbose", NULL, "also print messages, memory, kernels and the parts of each epoch",
     OTHER},
};
enum { OPTIONS = sizeof table / sizeof table[0] };

const Option *option_at(int i) { return i < OPTIONS ? &table[i] : NULL; }

bool option_is_of(const Option *option, const Command *command) {
    return strchr(command->options, option->letter) != NULL;
}

// A whole number in [least, most].
static bool read_number(const char *name, const char *text, int64_t least, int64_t most,
                        int64_t *out, Error *err) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text == 0 || *end != 0 || value < least || value > most)
        return error_usage(err, "--%s: expected a whole number from %ld to %ld, found '%s'", name,
                           least, most, text);
    *out = value;
    return true;
}

static bool add_setting(Options *options, const char *setting, Error *err) {
    if (options->settings == CLI_SETTINGS)
        return error_usage(err, "--set: at most %d settings", CLI_SETTINGS);
    options->setting[options->settings++] = setting;
    return true;
}

static bool store_key(Options *options, const Option *option, const char *text, Error *err) {
    static char settings[CLI_SETTINGS][128];
    static int count;
    if (count == CLI_SETTINGS)
        return error_usage(err, "--%s: at most %d settings", option->name, CLI_SETTINGS);
    snprintf(settings[count], sizeof settings[0], "%s=%s", option->key, text);
    return add_setting(options, settings[count++], err);
}

static bool store_other(Options *options, char letter, const char *text, Error *err) {
    switch (letter) {
    case 'q':
    case 'v':
        options->verbose = letter == 'v';
        terminal_set_level(letter == 'q' ? TERMINAL_QUIET : TERMINAL_VERBOSE);
        return true;
    case 'f':
        options->needs = NEEDS_TRAINING;
        return true;
    case 's':
        return add_setting(options, text, err);
    case 'e':
        if (options->sweeps == CLI_SWEEPS)
            return error_usage(err, "--sweep: at most %d keys", CLI_SWEEPS);
        options->sweep[options->sweeps++] = text;
        return true;
    default: // 'u'
        options->resume = true;
        return strcmp(text, "auto") == 0 ||
               error_usage(err, "--resume: expected auto, found '%s'", text);
    }
}

static bool store(Options *options, const Option *option, const char *text, Error *err) {
    void *member = (char *)options + option->at;
    int64_t number = 0;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)member = true;
        return true;
    case OPTION_TEXT:
        *(const char **)member = text;
        return true;
    case OPTION_INT:
        if (!read_number(option->name, text, 1, option->most, &number, err))
            return false;
        *(int *)member = (int)number;
        return true;
    case OPTION_INT64:
        return read_number(option->name, text, 0, INT64_MAX, member, err);
    case OPTION_KEY:
        return store_key(options, option, text, err);
    default:
        return store_other(options, option->letter, text, err);
    }
}

// The tables of getopt_long for one command. Its return value is 256 + the row of `table`.
static void fill(struct option longs[OPTIONS + 2], char shorts[16], const Command *command) {
    int count = 0;
    snprintf(shorts, 16, "+:h%s", strchr(command->options, 'o') != NULL ? "o:" : "");
    for (int i = 0; i < OPTIONS; i++)
        if (option_is_of(&table[i], command))
            longs[count++] = (struct option){
                table[i].name, table[i].argument != NULL ? required_argument : no_argument, NULL,
                256 + i};
    longs[count++] = (struct option){"help", no_argument, NULL, 'h'};
    longs[count] = (struct option){0};
}

// The option of this command that other programs call by that name: "--ranks". NULL: none.
static const char *meant_option(const Command *command, const char *name) {
    char option[64];
    const char *meaning = NULL;
    for (int i = 0; i < OPTIONS && meaning == NULL; i++) {
        snprintf(option, sizeof option, "--%s", table[i].name);
        if (option_is_of(&table[i], command))
            meaning = config_meaning(option, name);
    }
    return meaning;
}

// "--epochs 3", "--lr=0.1" and "train.epochs=3" mean --set: writes the setting. `next` is the word
// after it, or NULL.
static bool means_setting(const Command *command, const char *word, const char *next,
                          char setting[256]) {
    char name[128];
    const char *bare = strncmp(word, "--", 2) == 0 ? word + 2 : word, *value = strchr(word, '=');
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
    const char *key = config_guess_key(name);
    if (key == NULL || strchr(command->options, 's') == NULL)
        return false;
    value = value != NULL ? value + 1 : next != NULL && next[0] != '-' ? next : "VALUE";
    snprintf(setting, 256, "%s=%s", key, value);
    return true;
}

// The option with the closest name, or for "-q" the first that begins with this letter. NULL: none.
static const char *closest_option(const Command *command, const char *word) {
    const char *names[OPTIONS];
    int count = 0;
    for (int i = 0; i < OPTIONS; i++)
        if (option_is_of(&table[i], command))
            names[count++] = table[i].name;
    if (strncmp(word, "--", 2) == 0)
        return family_closest(word + 2, names, count);
    for (int i = 0; i < count; i++)
        if (word[1] == names[i][0] && word[2] == 0)
            return names[i];
    return NULL;
}

static bool needs_value(const Command *command, const char *word, Error *err) {
    for (int i = 0; i < OPTIONS; i++)
        if (option_is_of(&table[i], command) && strncmp(word, "--", 2) == 0 &&
            strcmp(word + 2, table[i].name) == 0)
            return error_usage(err, "%s: %s needs a value: %s %s", command->name, word, word,
                               table[i].argument);
    return error_usage(err, "%s: %s needs a value; see fringe %s --help", command->name, word,
                       command->name);
}

// What to say about an option that the command does not have, behind the name of the command.
static bool unknown(const Command *command, const char *word, const char *next, Error *err) {
    char name[128], setting[256], hint[CONFIG_HINT] = "";
    const char *bare = word + strspn(word, "-");
    snprintf(name, sizeof name, "%.*s", (int)strcspn(bare, "="), bare);
    const char *option = meant_option(command, name), *closest = closest_option(command, word);
    const char *sentence = config_meaning("option", name);
    if (sentence == NULL && strncmp(word, "--", 2) == 0)
        sentence = config_meaning("key", name);
    if (option != NULL)
        config_hint(hint, option, "");
    else if (sentence != NULL && config_is_sentence(sentence))
        config_hint(hint, sentence, "");
    else if (means_setting(command, word, next, setting))
        snprintf(hint, sizeof hint, "; did you mean --set %s?", setting);
    else if (closest != NULL)
        snprintf(hint, sizeof hint, "; did you mean --%s?", closest);
    else
        snprintf(hint, sizeof hint, "; see fringe %s --help", command->name);
    return error_usage(err, "%s: no option %s%s", command->name, word, hint);
}

static bool check_arguments(const Options *options, const Command *command, Error *err) {
    if (options->help ||
        (options->arguments >= command->least && options->arguments <= command->most))
        return true;
    char setting[256];
    const char *last = options->settings > 0 ? options->setting[options->settings - 1] : "=";
    if (options->arguments > command->most && strchr(last, '=') == NULL)
        return error_usage(err, "--set %s: a setting is one word; did you mean %s=%s?", last, last,
                           options->argument[options->arguments - 1]);
    for (int i = command->most; i < options->arguments; i++)
        if (means_setting(command, options->argument[i], NULL, setting))
            return error_usage(err, "%s: too many arguments; did you mean --set %s?", command->name,
                               setting);
    return error_usage(err, "%s: %s; usage: fringe %s %s; see fringe %s --help", command->name,
                       options->arguments < command->least ? "an argument is missing"
                                                           : "too many arguments",
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
        int at = optind, chosen = getopt_long(argc, argv, shorts, longs, NULL);
        if (chosen == -1 && optind < argc) {
            if (options->arguments == CLI_ARGUMENTS)
                return error_usage(err, "%s: too many arguments", command->name);
            options->argument[options->arguments++] = argv[optind++];
        } else if (chosen == 'h') {
            options->help = true;
        } else if (chosen == 'o') {
            options->output = optarg;
        } else if (chosen == ':') {
            return needs_value(command, argv[at], err);
        } else if (chosen == '?') {
            return unknown(command, argv[at], argv[at + 1], err);
        } else if (chosen >= 256 && !store(options, &table[chosen - 256], optarg, err)) {
            return false;
        }
    }
    return check_arguments(options, command, err);
}
