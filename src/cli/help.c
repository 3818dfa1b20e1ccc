// fringe --help and fringe COMMAND --help, filled to 80 columns.

#include "internal.h"

enum { COLUMNS = 80, TEXT = 4096, OPTION = 21 }; // OPTION: columns of an option

void print_broken(const char *text) {
    while (*text != 0) {
        size_t bytes = strcspn(text, "\n");
        FREED char *out = ALLOC(char, SCREEN_BROKEN(bytes), "a line to print");
        fwrite(out, 1, screen_break(out, text, bytes, COLUMNS), stdout);
        text += bytes + (text[bytes] == '\n');
    }
}

// Lines of running text are filled; a row of a list, which has two spaces between its columns,
// begins a line, and a row that begins with spaces goes on with the one before.
static void print_filled(const char *details) {
    char text[TEXT], filled[TEXT] = "", *rest = text;
    assert(strlen(details) < TEXT);
    snprintf(text, sizeof text, "%s", details);
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;) {
        bool goes_on = line[0] == ' ' || strstr(line, "  ") == NULL;
        line += strspn(line, " ");
        if (!goes_on && filled[0] != 0) {
            print_broken(filled);
            filled[0] = 0;
        }
        text_add(filled, TEXT, " ", "%s", line);
    }
    print_broken(filled);
}

static void print_option(const char *name, const char *argument, const char *help) {
    char line[TEXT], left[64];
    snprintf(left, sizeof left, "  --%s %s", name, argument != NULL ? argument : "");
    bool fits = strlen(left) <= OPTION;
    if (!fits)
        printf("%s\n", left);
    snprintf(line, sizeof line, "%-*s  %s", OPTION, fits ? left : "", help);
    print_broken(line);
}

void options_help(const Command *command) {
    char usage[TEXT];
    snprintf(usage, sizeof usage, "usage: fringe %s %s%s", command->name, command->arguments,
             command->options[0] != 0 ? " [OPTIONS]" : "");
    print_broken(usage);
    printf("\n");
    print_filled(command->details);
    printf("\n");
    const Option *option;
    for (int i = 0; (option = option_at(i)) != NULL; i++)
        if (option_is_of(option, command))
            print_option(option->name, option->argument, option->help);
    print_option("help", NULL, "print this text");
    if (strcmp(command->name, "generate") != 0)
        return;
    snprintf(usage, sizeof usage, "NAME is one of %s.", dataset_generator_list());
    printf("\n");
    print_broken(usage);
}

void help_print(void) {
    printf("fringe trains graph neural networks on the whole graph, spread over MPI ranks.\n\n"
           "usage: fringe COMMAND ... | fringe COMMAND --help | fringe --version\n\n");
    for (int i = 0; i < command_count; i++)
        if (commands[i].summary != NULL)
            printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    printf("\nTo begin:\n"
           "  fringe train villages\n"
           "  fringe generate reddit-small\n"
           "  fringe train configs/reddit-small-gcn.json --ranks 2 --set train.epochs=10\n\n");
    exit_codes_print();
}
