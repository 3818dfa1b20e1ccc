// fringe: one program with verbs. A command is a row of this table; adding one is a row and a
// cmd_*.c file. Only this room prints errors, once, after the ranks have agreed (DESIGN 11).

#include "internal.h"

#include <string.h>

const Command commands[] = {
    {"train", "CONFIG", 1, 1, true, NEEDS_TRAINING, "rsnu",
     "train a model on the whole graph, on one or many ranks",
     "Trains as CONFIG says and writes run.json, metrics.jsonl and checkpoints into run.dir.\n"
     "Prints one line per logged epoch on stderr and the result on stdout.\n"
     "Ctrl-C (INT), TERM, HUP or USR1 to fringe, or USR1 to any rank: the epoch is finished, a\n"
     "checkpoint is written, and fringe leaves with 75; a second Ctrl-C ends at once.\n"
     "--resume auto goes on from the newest checkpoint, bit for bit. Without it a run begins\n"
     "anew, and what runs before made in run.dir moves to run.dir.1, run.dir.2, ...",
     cmd_train},
    {"compare", "CONFIG", 1, 1, true, NEEDS_TRAINING, "rsnmu",
     "train in several modes and say what each gained",
     "Trains CONFIG in each of --modes, one after the other from the same weights and in folders\n"
     "of their own under run.dir; `alone` is one rank with the whole graph, at one thread and at\n"
     "all cores, while the other ranks sleep. Prints a table and keeps it as compare.json.\n"
     "--resume auto goes on with the mode in which it was stopped.",
     cmd_compare},
    {"evaluate", "CONFIG", 1, 1, true, NEEDS_DATA | NEEDS_WEIGHTS, "rswbj",
     "loss and metrics of trained weights",
     "Evaluates the newest weights of run.dir, or those of --weights, on the distributed graph.\n"
     "CONFIG may be the folder of a run: then the config in its run.json counts.",
     cmd_evaluate},
    {"predict", "CONFIG", 1, 1, true, NEEDS_DATA | NEEDS_WEIGHTS | NEEDS_OUTPUT, "rswblo",
     "classes, scores and embeddings of every node",
     "Writes classes.npy (int64 [n, 1]; [n, K] of 0/1 where nodes have several labels),\n"
     "scores.npy (float32 [n, K], before softmax or sigmoid) and with --layer L also\n"
     "embeddings-L.npy (float32 [n, width]), all in the order of the original nodes, into\n"
     "--output (default: run.dir/predictions). CONFIG may be the folder of a run.",
     cmd_predict},
    {"partition", "CONFIG", 1, 1, false, NEEDS_DATA, "sk",
     "cut the graph and say what the cut costs",
     "Cuts the graph as partition.* says into --parts parts, keeps the result in data.cache,\n"
     "where training finds it, and prints the report: own, central, marginal and halo rows,\n"
     "the edge cut, the balance and who sends how much to whom.",
     cmd_partition},
    {"generate", "NAME", 1, 1, false, 0, "od", "make a look-alike of a public graph",
     "Writes a dataset directory. Without -o it goes where configs find it by its name.",
     cmd_generate},
    {"inspect", "PATH", 1, 1, false, 0, "", "what a dataset, a partition or a checkpoint holds",
     "PATH is a dataset (file or directory), a partition folder, a run, a checkpoint or a\n"
     ".safetensors file. Reads headers, not data, where the format allows it.",
     cmd_inspect},
    {"config", "show|check|upgrade|schema|markdown [CONFIG...]", 1, CLI_ARGUMENTS, false, 0, "sf",
     "explain and check configs",
     "show      every key: value, unit, default, what it is for\n"
     "check     all mistakes of CONFIG at once: of its names and values; with --files also\n"
     "          what is not on disk, or cannot be written there\n"
     "upgrade   gives keys of CONFIG... that have a new name that name; all else stays as it is\n"
     "schema    JSON schema of a config\n"
     "markdown  the page docs/config.md",
     cmd_config},
    {"doctor", "[CONFIG]", 0, 1, false, 0, "s", "is this machine fit to train? and the cure",
     "Looks at MPI, cores, threads, kernels, shared memory and disks. Leaves with 0, or with 69\n"
     "if something must be cured first.",
     cmd_doctor},
    {"probe", "", 0, 0, true, 0, "r", NULL, "Starts and stops MPI; fringe doctor uses it.",
     cmd_probe},
};
const int command_count = sizeof commands / sizeof commands[0];

static void help(void) {
    printf("fringe trains graph neural networks on the whole graph, spread over MPI ranks.\n\n"
           "usage: fringe COMMAND ... | fringe COMMAND --help | fringe --version\n\n");
    for (int i = 0; i < command_count; i++)
        if (commands[i].summary != NULL)
            printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    printf(
        "\nFor a start:\n"
        "  fringe generate reddit-small\n"
        "  fringe train configs/reddit-small-gcn.json --ranks 2 --set train.epochs=10\n\n"
        "exit codes: 0 ok, 64 usage, 65 bad data, 66 input missing, 69 unavailable, 70 our bug,\n"
        "71 does not fit in memory, 73 cannot write, 74 I/O, 75 stopped after a checkpoint,\n"
        "78 bad config, 80 diverged, 81 a rank is silent, 83 integrity, 84 ranks disagree\n");
}

static const Command *command_find(const char *name, Error *err) {
    const char *names[16];
    for (int i = 0; i < command_count; i++) {
        names[i] = commands[i].name;
        if (strcmp(names[i], name) == 0)
            return &commands[i];
    }
    const char *closest = family_closest(name, names, command_count);
    error_set(err, EXIT_USAGE, "no command \"%s\"%s%s%s; fringe --help lists all", name,
              closest != NULL ? "; did you mean " : "", closest != NULL ? closest : "",
              closest != NULL ? "?" : "");
    return NULL;
}

static ExitCode fail(const Error *err) {
    print_error(err);
    return (ExitCode)err->code;
}

// With --ranks above 1 this process becomes the keeper of an mpirun. The config is looked at
// first, so that its mistakes are told at once and once.
static ExitCode launch_command(const Options *options, char **argv) {
    Config config;
    Error err = {0};
    int threads = 0;
    if (options->arguments > 0) {
        if (!load_config(&config, options, options->argument[0], options->ranks, &err))
            return fail(&err);
        threads = (int)config.run.threads;
    }
    return launch(options, threads, argv);
}

// What was printed and cannot be written is lost: a full disk, a closed descriptor.
static ExitCode check_output(ExitCode code) {
    Error err = {0};
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != EXIT_OK)
        return code;
    error_set(&err, EXIT_IO, "what was printed could not be written to stdout; is its disk full?");
    return fail(&err);
}

static ExitCode run(int argc, char **argv) {
    Error err = {0};
    Options options;
    if (argc < 2) {
        help();
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help();
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        report_versions(NULL, NULL);
        return EXIT_OK;
    }
    const Command *command = command_find(argv[1], &err);
    if (command == NULL || !options_parse(&options, command, argc - 1, argv + 1, &err))
        return fail(&err);
    if (options.help) {
        options_help(command);
        return EXIT_OK;
    }
    if (command->ranks && launch_wanted(&options))
        return launch_command(&options, argv);
    return command->run(&options, &argc, &argv);
}

int main(int argc, char **argv) {
    families_learn();
    return (int)check_output(run(argc, argv));
}
