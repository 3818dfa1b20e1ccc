// fringe: one program with verbs. A command is a row of this table; adding one is a row and a
// cmd_*.c file. Only this module prints errors, once, after the ranks have agreed
// (docs/architecture.md).

#include "internal.h"

const Command commands[] = {
    {"train", "CONFIG", 1, 1, true, NEEDS_TRAINING, "rMOsneuEqv",
     "train a model on the whole graph, on one or many ranks",
     "Trains as CONFIG says and writes run.json, metrics.jsonl and checkpoints to run.dir. Prints "
     "one line per logged epoch on stderr and the result on stdout. Ctrl-C (INT), TERM, HUP or "
     "USR1 to fringe, or INT, TERM or USR1 to any of its processes: fringe finishes the epoch, "
     "writes a checkpoint and exits with 75. A second Ctrl-C ends it at once. --resume auto "
     "continues from the newest checkpoint, bit for bit. Without it a run starts from the "
     "beginning, and where run.dir holds a run, in run.dir-2, run.dir-3, ...",
     cmd_train},
    {"compare", "CONFIG", 1, 1, true, NEEDS_TRAINING, "rMOsnmuEjqv",
     "train in several modes and compare time and accuracy",
     "Trains CONFIG in each of --modes, one after the other, from the same initial weights, each "
     "in its own folder under run.dir. `alone` is a single-rank baseline with the whole graph: "
     "once with one thread and once with all cores, while the other ranks sleep. Prints tables "
     "and writes them to compare.json. --resume auto continues with the mode that was interrupted.",
     cmd_compare},
    {"evaluate", "CONFIG", 1, 1, true, NEEDS_DATA | NEEDS_WEIGHTS, "rMOswbAEjqv",
     "print loss and metrics of trained weights",
     "Evaluates the newest weights of run.dir, or those of --weights, on the distributed graph. "
     "CONFIG may be the folder of a run: then the config in its run.json is used.",
     cmd_evaluate},
    {"predict", "CONFIG", 1, 1, true, NEEDS_DATA | NEEDS_WEIGHTS | NEEDS_OUTPUT, "rMOswbloDVZEqv",
     "write classes, scores and embeddings of every node",
     "Writes classes.npy (int64 [n, 1]; [n, K] of 0/1 where nodes have several labels; none where "
     "labels are numbers, which scores.npy then predicts), scores.npy (float32 [n, K], before "
     "softmax or sigmoid) and with --layer L also embeddings-L.npy (float32 [n, width]), all in "
     "the order of the original nodes, into --output (default: run.dir/predictions). CONFIG may "
     "be the folder of a run. Where ids are not 0 to n-1 they are written, too: ids.npy, or "
     "ids.txt of ids that are text. --npz FILE: all of it in one archive, id [n], class [n] or "
     "[n, K], scores [n, K] and, if there are any, class_names [K] and embeddings [n, width]; "
     "names are numpy's <U. --data NEW: another graph with the weights of the run; it needs "
     "features, and no labels.",
     cmd_predict},
    {"program", "NAME CONFIG", 2, 2, true, NEEDS_DATA | NEEDS_OUTPUT | NEEDS_TO_FINISH, "rMOsoEjqv",
     "run a learning program: random walks, labels, components, vectors",
     "NAME: components, random-walk (rw), harmonic, label-propagation (lp) or spectral "
     "(docs/programs.md). CONFIG is that of a training, or names a snapshot of `fringe stream`; "
     "section program has the options, and keys of model, train, quantization and gradients have "
     "no effect. Writes arrays in the order of the original nodes, and program.json, to --output "
     "(default: run.dir/NAME). INT or TERM: nothing is written, exit status 75.",
     cmd_program},
    {"partition", "CONFIG", 1, 1, false, NEEDS_DATA, "skjqv",
     "partition the graph and report the communication it needs",
     "Partitions the graph or hypergraph into --parts parts as partition.* says, and stores the "
     "result in data.cache, where training finds it. Prints own, central, marginal and halo rows, "
     "the edge cut, the balance, and how many rows each rank sends to each other rank; of a "
     "hypergraph also replicas, cut hyperedges and the workload of the parts.",
     cmd_partition},
    {"plan", "CONFIG", 1, 1, false, NEEDS_DATA, "sRHcLgGjqv",
     "foresee memory, bytes and time of an epoch on any number of ranks",
     "Says whether training CONFIG fits and what it would take, in every mode: memory of a rank, "
     "bytes and time of an epoch; with --verbose all parts and items. Where the cache has a cut "
     "into that many parts, its sizes are exact; others are extrapolated from cuts into 2, 4 and "
     "8 parts, which are made where the graph is small, and from parts that are cut again. "
     "docs/plan.md has the formulas.",
     cmd_plan},
    {"stream", "SOURCE -o FOLDER", 1, 1, false, 0, "okNSCPKusjqv",
     "partition a hypergraph while it arrives, and take snapshots of it",
     "Reads events (docs/stream.md) from SOURCE, a file, a FIFO or - for standard input, and "
     "gives every node and hyperedge one of --parts parts as it comes. Writes to the folder -o: "
     "snapshots/NAME at each event `= NAME`, every --snapshot-every events, and at the end "
     "(final). Train from one with --set data.path=FOLDER/snapshots/NAME --set "
     "partition.method=file:FOLDER/snapshots/NAME/NAME. INT or TERM: writes a checkpoint and "
     "exits with 75; --resume auto goes on from there, with a file at its place. A FIFO cannot be "
     "rewound: the sender begins with the next event, or sends all again while --skip N is given. "
     "--set stream.KEY=VALUE changes how parts are chosen.",
     cmd_stream},
    {"generate", "NAME", 1, 1, false, 0, "odqv",
     "make a synthetic graph that resembles a public one, or a hypergraph",
     "Writes a dataset directory. Without -o it is stored where configs find it by its name.",
     cmd_generate},
    {"convert", "SRC DST", 2, 2, false, 0, "TFzsqv", "write a dataset in another format",
     "SRC is a file or folder that data.path can name, or a config, whose data.* says what to "
     "read and which steps to apply. DST is written complete or not at all:\n"
     "npz       .npz, one archive of arrays (gnn-benchmark) that numpy, scipy and PyG read\n"
     "metis     .graph of a graph, .hgr of a hypergraph, also .gz; without features and labels\n"
     "ogb       a folder that the ogb package reads, with meta_dict.json\n"
     "fringe    a folder that is mapped, not read (the default for a folder)",
     cmd_convert},
    {"inspect", "PATH", 1, 1, false, 0, "j", "print what a file or folder of fringe holds",
     "PATH is anything that fringe writes or reads: a run or a folder of runs, a comparison, "
     "metrics.jsonl, predictions, a checkpoint, a stream or a snapshot of it, an array, a file of "
     "tensors, a partition, the cache, a dataset, a graph or a config. Where the format allows "
     "it, only headers are read.",
     cmd_inspect},
    {"runs", "[FOLDER]", 0, 1, false, 0, "j", "list runs, with their scores and what differs",
     "Lists the runs at or below FOLDER (default: runs): their state, what differs between their "
     "configs, the best validation with the test score there, time and bytes of an epoch, age.",
     cmd_runs},
    {"report", "RUN...", 1, CLI_ARGUMENTS, false, 0, "oqv",
     "write one HTML page with the curves, times and messages of runs",
     "RUN is the folder of a run, or one that holds several: of compare or of --runs. Runs that "
     "differ only in their seed are drawn as one curve with its spread. The page needs no "
     "network. Writes report.html unless -o names another file.",
     cmd_report},
    {"cache", "[list|prune]", 0, 1, false, 0, "stajqv",
     "list or remove prepared datasets and partitions in data.cache",
     "list      prints what data.cache holds: sizes, and when it was used last (the default)\n"
     "prune     removes what was not used for 30 days, --older or --all, and what killed "
     "commands\n"
     "          left. What a running command uses stays. Nothing is lost: a command that misses "
     "an\n"
     "          entry makes it again.",
     cmd_cache},
    {"config", "show|check|schema|markdown [CONFIG]", 1, 2, false, 0, "sxf",
     "explain and check configs",
     "show      prints every key with value, unit, default and help; with --changed only\n"
     "          those that are not at their default, and who set them\n"
     "check     reports all mistakes of CONFIG at once: wrong names and values; with --files\n"
     "          also missing files and folders that cannot be written\n"
     "schema    prints the JSON schema of a config\n"
     "markdown  prints the page docs/config.md",
     cmd_config},
    {"doctor", "[CONFIG]", 0, 1, false, 0, "rOsj",
     "check that this machine can train, and say how to repair it",
     "Checks MPI, cores, threads, kernels, shared memory and disks; with CONFIG also its files, "
     "and the cores and memory that it takes on --ranks ranks. Exits with 0, or with 69 if "
     "something must be repaired first.",
     cmd_doctor},
    {"help", "[COMMAND|exit-codes|man|bash|zsh]", 0, 1, false, 0, "",
     "explain a command; print the manual or a completion script",
     "COMMAND   prints the same as fringe COMMAND --help\n"
     "exit-codes  prints the page docs/exit-codes.md\n"
     "man       prints the manual page; read it with: fringe help man | man -l -\n"
     "bash, zsh  prints a script that completes command lines in that shell",
     cmd_help},
    {"probe", "", 0, 0, true, 0, "rO", NULL, "Starts and stops MPI; fringe doctor uses it.",
     cmd_probe},
};
const int command_count = sizeof commands / sizeof commands[0];

static const Command *command_named(const char *name) {
    for (int i = 0; i < command_count; i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    return NULL;
}

const Command *command_find(const char *name, Error *err) {
    const char *names[sizeof commands / sizeof commands[0]];
    if (command_named(name) != NULL)
        return command_named(name);
    for (int i = 0; i < command_count; i++)
        names[i] = commands[i].name;
    const char *meaning = config_meaning("command", name);
    const char *closest = meaning != NULL ? meaning : family_closest(name, names, command_count);
    if (closest == NULL && config_is_there(name))
        error_usage(err, "no command '%s', but a config; did you mean fringe train %s?", name,
                    name);
    else
        error_usage(err, "no command '%s'%s", name,
                    closest != NULL ? HINT(closest) : "; fringe --help lists all");
    return NULL;
}

static ExitCode fail(const Error *err) {
    print_error(err);
    return (ExitCode)err->code;
}

// With --ranks above 1 this process starts mpirun and waits for it (the supervisor). It checks the
// config first, so that mistakes are reported early and only once.
static ExitCode launch_command(const Options *options, char **argv) {
    Config config;
    Error err = {0};
    int threads = 0;
    if (!launch_fits(options, &err))
        return fail(&err);
    if (options->arguments > 0) {
        if (!load_config(&config, options, config_named(options), options->ranks, &err))
            return fail(&err);
        threads = (int)config.run.threads;
    }
    return launch(options, threads, argv);
}

// Fails if the output could not be written: the disk is full, or stdout is closed.
static ExitCode check_output(ExitCode code) {
    Error err = {0};
    if ((fflush(stdout) == 0 && !ferror(stdout)) || code != EXIT_OK)
        return code;
    error_set(&err, EXIT_IO, "the output could not be written to stdout; is its disk full?");
    return fail(&err);
}

static ExitCode run(int argc, char **argv) {
    Error err = {0};
    Options options;
    if (argc < 2) {
        error_usage(&err, "a command is missing; fringe --help lists all");
        return fail(&err);
    }
    const char *meaning = config_meaning("command", argv[1]), *first = argv[1];
    if (command_named(argv[1]) == NULL && meaning != NULL && strncmp(meaning, "--", 2) == 0)
        first = meaning; // version, -V, -help, ...
    if (strcmp(first, "--help") == 0 || strcmp(first, "-h") == 0) {
        help_print();
        return EXIT_OK;
    }
    if (strcmp(first, "--version") == 0) {
        report_versions(NULL, &terminal_tables, NULL);
        return EXIT_OK;
    }
    const Command *command = command_find(argv[1], &err);
    if (command == NULL || !options_parse(&options, command, argc - 1, argv + 1, &err))
        return fail(&err);
    if (options.help) {
        options_help(command);
        return EXIT_OK;
    }
    bool has_log = options.events != NULL && !launch_inside_job(); // else rank 0 opens it
    if (has_log && !event_log_open(options.events, &err))
        return fail(&err);
    if (command->ranks && launch_wanted(&options))
        return launch_command(&options, argv);
    options.argc = &argc;
    options.argv = &argv;
    ExitCode code = command->run(&options, &err);
    return err.code != 0 ? fail(&err) : code;
}

int main(int argc, char **argv) {
    families_learn();
    ExitCode code = check_output(run(argc, argv));
    event_log_end(code);
    return (int)code;
}
