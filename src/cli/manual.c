// The manual page, and `fringe help`: printed from the tables of commands, options, exit codes,
// modes and keys, so that they cannot disagree with the program.

#include "internal.h"

// --- exit codes

typedef struct Meaning {
    ExitCode code;
    const char *name, *text, *cure; // for --help; for the manual and docs/exit-codes.md
} Meaning;

static const Meaning meanings[] = {
    {EXIT_OK, "ok", "The command did what it was asked to do.", ""},
    {EXIT_USAGE, "usage", "The command line is wrong.",
     "The sentence names the word; see fringe COMMAND --help."},
    {EXIT_DATA, "bad data", "A file is damaged or not in the format that was expected.",
     "The sentence names file and place; docs/data.md has the formats."},
    {EXIT_NO_INPUT, "input missing",
     "A file or folder that is to be read does not exist, or may not be read.",
     "Check the path, or FRINGE_DATA."},
    {EXIT_UNAVAILABLE, "unavailable", "A program, library or device is missing.",
     "fringe doctor says which; without a device, run.backend=cpu."},
    {EXIT_BUG, "our bug", "A mistake in fringe itself.", "Please report it with the sentence."},
    {EXIT_MEMORY, "does not fit in memory",
     "The command needs more memory than run.memory_limit, the machine or the device has.",
     "More ranks or hosts, fewer columns, or a larger run.memory_limit."},
    {EXIT_CANNOT_WRITE, "cannot write", "A file or folder cannot be made or written.",
     "Permissions, or another run.dir or data.cache."},
    {EXIT_IO, "I/O", "A disk, pipe or network failed while it was in use.",
     "Free space; then --resume auto."},
    {EXIT_STOPPED, "stopped on request",
     "The run was asked to stop, in an epoch or before there was anything to save.",
     "--resume auto continues it."},
    {EXIT_CONFIG, "bad config", "A key or value of the config is wrong.",
     "fringe config check CONFIG lists all mistakes."},
    {EXIT_DIVERGED, "diverged", "The loss is no longer a finite number.",
     "A smaller train.lr, train.clip_norm, or a look at the features."},
    {EXIT_HUNG, "a rank is hung", "A rank gave no sign of life for comm.timeout seconds.",
     "The sentence names rank and step; then --resume auto."},
    {EXIT_CUDA, "CUDA", "The CUDA library reported an error.",
     "dmesg and nvidia-smi -q; then --resume auto."},
    {EXIT_INTEGRITY, "integrity", "A message or a checkpoint does not have its checksum.",
     "Check memory and disk; --resume auto takes an older checkpoint."},
    {EXIT_MISMATCH, "ranks disagree", "The ranks hold different data, configs or programs.",
     "The same files and program on every host."},
};
enum { MEANINGS = sizeof meanings / sizeof meanings[0], COLUMNS = 80 };

void exit_codes_print(void) {
    int column = printf("exit codes:");
    for (int i = 0; i < MEANINGS; i++) {
        char text[64];
        int width = snprintf(text, sizeof text, " %d %s%s", meanings[i].code, meanings[i].name,
                             i + 1 < MEANINGS ? "," : "");
        if (column + width > COLUMNS)
            column = printf("\n ") - 1;
        column += printf("%s", text);
    }
    printf("\n");
}

// --- roff

// Prints text with what roff would interpret escaped: backslashes, hyphens of options, and a
// control character at the start of a line.
static void put(const char *text) {
    for (const char *at = text; *at != 0; at++) {
        if ((at == text || at[-1] == '\n') && (*at == '.' || *at == '\''))
            printf("\\&");
        if (*at == '\\')
            printf("\\e");
        else if (*at == '-')
            printf("\\-");
        else
            putchar(*at);
    }
}

static void put_line(const char *macro, const char *text) {
    printf("%s%s", macro, macro[0] != 0 && strchr(macro, '\n') == NULL ? " " : "");
    put(text);
    printf("\n");
}

// The name of a table's entry in bold, then what its argument is in italics.
static void put_tag(const char *before, const char *name, const char *argument) {
    printf(".TP\n\\fB");
    put(before);
    put(name);
    printf("\\fR");
    if (argument != NULL && argument[0] != 0) {
        printf(" \\fI");
        put(argument);
        printf("\\fR");
    }
    printf("\n");
}

// Running text is filled to the width of the reader; a line with two spaces in a row belongs to a
// list and begins a line, and a row that begins with spaces goes on with the one before.
static void put_details(const char *details) {
    char text[2048], *rest = text;
    snprintf(text, sizeof text, "%s", details);
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;)
        put_line(line[0] != ' ' && strstr(line, "  ") != NULL ? ".br\n" : "",
                 line + strspn(line, " "));
}

static void man_command(const Command *command) {
    put_tag("fringe ", command->name, command->arguments);
    put_line("", command->summary);
    printf(".RS\n");
    put_details(command->details);
    printf(".br\nOptions:");
    for (int i = 0; option_at(i) != NULL; i++)
        if (option_is_of(option_at(i), command)) {
            put(" --");
            put(option_at(i)->name);
        }
    printf(" \\-\\-help\n.RE\n");
}

static void man_options(void) {
    put_line(".SH", "OPTIONS");
    const Option *option;
    for (int i = 0; (option = option_at(i)) != NULL; i++) {
        put_tag("--", option->name, option->argument);
        put_line("", option->help);
    }
}

static void man_keys(void) {
    put_line(".SH", "CONFIG");
    put_line("", "One JSON file with an object per section; --set section.key=value overrides it. "
                 "The file - is standard input; its paths begin in the current folder.");
    const Key *key;
    for (int i = 0; (key = config_key_at(i)) != NULL; i++) {
        char expected[1024];
        config_expectation(key, expected, sizeof expected);
        put_tag("", key->path, expected);
        put_line("", key->help);
        printf("Default: ");
        put_line("", key->standard);
    }
}

static void man_exit_codes(void) {
    put_line(".SH", "EXIT STATUS");
    for (int i = 0; i < MEANINGS; i++) {
        char code[16];
        snprintf(code, sizeof code, "%d", meanings[i].code);
        put_tag("", code, meanings[i].name);
        put_line("", meanings[i].text);
        if (meanings[i].cure[0] != 0)
            put_line("", meanings[i].cure);
    }
}

// The page docs/exit-codes.md.
static void print_exit_codes_page(void) {
    printf("# Exit codes\n\nThis page is generated by `fringe help exit-codes`. Whatever is wrong, "
           "one sentence says what, where and what to\ndo; this table has what the code alone "
           "says.\n\n| code | name | what happened | what to do |\n|---|---|---|---|\n");
    for (int i = 0; i < MEANINGS; i++)
        printf("| %d | %s | %s | %s |\n", meanings[i].code, meanings[i].name, meanings[i].text,
               meanings[i].cure);
    printf("| 128 + N | signal | Signal N ended the program at once. | --resume auto continues "
           "from the last checkpoint. |\n");
}

static const char *const environment[][2] = {
    {"FRINGE_DATA", "folder in which the files of a config are looked up after the config's own"},
    {"FRINGE_SOLVER", "path of fringe-solver, if it is not beside fringe"},
    {"FRINGE_METIS", "path of fringe-metis, if it is not beside fringe"},
    {"XDG_CACHE_HOME", "prepared data and partitions are in its folder fringe (default: ~/.cache)"},
    {"NO_COLOR", "print without colours"},
};

static void man_environment(void) {
    put_line(".SH", "ENVIRONMENT");
    for (size_t i = 0; i < sizeof environment / sizeof environment[0]; i++) {
        put_tag("", environment[i][0], NULL);
        put_line("", environment[i][1]);
    }
}

static void man_print(void) {
    printf(".TH FRINGE 1 \"\" \"fringe " FRINGE_VERSION "\"\n.SH NAME\n"
           "fringe \\- train graph neural networks on the whole graph, spread over MPI ranks\n"
           ".SH SYNOPSIS\n.B fringe\n.I COMMAND\n[...]\n"
           ".SH DESCRIPTION\nfringe cuts a graph into one part per MPI rank and trains on all of "
           "it in every epoch. A config that came with the program is found by its name: "
           "\\fBfringe train villages\\fR trains on a small graph that is installed with it.\n"
           ".SH COMMANDS\n");
    for (int i = 0; i < command_count; i++)
        if (commands[i].summary != NULL)
            man_command(&commands[i]);
    man_options();
    man_keys();
    man_exit_codes();
    man_environment();
}

ExitCode cmd_help(const Options *options, Error *err) {
    const char *topic = options->arguments > 0 ? options->argument[0] : "";
    const Command *command;
    if (topic[0] == 0)
        help_print();
    else if (strcmp(topic, "man") == 0)
        man_print();
    else if (strcmp(topic, "bash") == 0)
        completion_print_bash();
    else if (strcmp(topic, "zsh") == 0)
        completion_print_zsh();
    else if (strcmp(topic, "exit-codes") == 0)
        print_exit_codes_page();
    else if ((command = command_find(topic, err)) != NULL)
        options_help(command);
    return (ExitCode)err->code;
}
