// Scripts that complete command lines in bash and zsh, printed from the tables of commands, options
// and keys. `--set` is completed with the keys of a config, and after "=" with the words of the
// key.

#include "internal.h"

#include <ctype.h>

// Words of a list like "show|check [CONFIG...]": the letters that a name consists of.
static void put_names(const char *list) {
    for (const char *at = list; *at != 0; at++) {
        bool name = isalnum((unsigned char)*at) || strchr("-_", *at) != NULL;
        if (name && !isupper((unsigned char)*at))
            putchar(*at);
        else if (at > list && at[-1] != ' ')
            putchar(' ');
    }
}

// What may follow a command: names (of verbs, generators or topics), or else files.
static void put_arguments(const Command *command) {
    for (int i = 0; strcmp(command->name, "generate") == 0 && dataset_generator_name(i) != NULL;
         i++)
        printf(" %s", dataset_generator_name(i));
    if (text_lists("config help cache", command->name))
        put_names(command->arguments);
    for (int i = 0; i < command_count && strcmp(command->name, "help") == 0; i++)
        if (commands[i].summary != NULL)
            printf(" %s", commands[i].name);
}

// Shell functions that both scripts use; each prints words.
static void put_tables(void) {
    printf("_fringe_commands() { echo '");
    for (int i = 0; i < command_count; i++)
        if (commands[i].summary != NULL)
            printf(" %s", commands[i].name);
    printf("'; }\n_fringe_options() {\n    case $1 in\n");
    for (int i = 0; i < command_count; i++) {
        printf("    %s) echo '--help", commands[i].name);
        for (int k = 0; option_at(k) != NULL; k++)
            if (option_is_of(option_at(k), &commands[i]))
                printf(" --%s", option_at(k)->name);
        printf("' ;;\n");
    }
    printf("    esac\n}\n_fringe_arguments() {\n    case $1 in\n");
    for (int i = 0; i < command_count; i++) {
        printf("    %s) echo '", commands[i].name);
        put_arguments(&commands[i]);
        printf("' ;;\n");
    }
    printf("    esac\n}\n");
}

static void put_keys(void) {
    const Key *key;
    printf("_fringe_keys() { echo '");
    for (int i = 0; (key = config_key_at(i)) != NULL; i++)
        printf(" %s=", key->path);
    printf("'; }\n_fringe_values() {\n    case $1 in\n");
    for (int i = 0; (key = config_key_at(i)) != NULL; i++) {
        Choices choice;
        int count = config_choices(key, choice);
        if (count == 0 && key->kind != KEY_BOOL)
            continue;
        printf("    %s) echo '%s", key->path, key->kind == KEY_BOOL ? "true false" : "");
        for (int k = 0; k < count; k++) // "file:PATH" is completed up to its argument
            printf(" %.*s", (int)strcspn(choice[k], "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), choice[k]);
        printf("' ;;\n");
    }
    printf("    esac\n}\n");
}

// What the value of an option is: words, or none for a number. Files are the default.
static void put_option_values(void) {
    printf("_fringe_option_values() {\n    case $1 in\n"
           "    --resume) echo auto ;;\n    --modes) _fringe_values mode ;;\n    --to) echo");
    for (int i = 0; i < writer_family.count; i++)
        printf(" %s", family_word(&writer_family, i));
    printf(" ;;\n    esac\n}\n");
    printf("_fringe_takes_value() {\n    case $1 in\n    ");
    const char *between = "";
    for (int i = 0; option_at(i) != NULL; i++)
        if (option_at(i)->argument != NULL) {
            printf("%s--%s", between, option_at(i)->name);
            between = " | ";
        }
    printf(") return 0 ;;\n    esac\n    return 1\n}\n");
}

static void put_shared(void) {
    put_tables();
    put_keys();
    put_option_values();
}

void completion_print_bash(void) {
    printf("# bash completion of fringe; printed by: fringe help bash\n");
    put_shared();
    printf(
        "%s",
        "_fringe() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} words= key=\n"
        "    local command=${COMP_WORDS[1]}\n"
        "    # bash takes \"=\" for a word of its own: --set key = value\n"
        "    if [ \"$word\" = '=' ]; then key=$before word=\n"
        "    elif [ \"$before\" = '=' ]; then key=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
        "    if [ \"$COMP_CWORD\" -eq 1 ]; then words=\"$(_fringe_commands) --help --version\"\n"
        "    elif [ -n \"$key\" ]; then words=$(_fringe_values \"$key\")\n"
        "    elif [ \"$before\" = --set ]; then words=$(_fringe_keys); compopt -o nospace\n"
        "    elif _fringe_takes_value \"$before\"; then words=$(_fringe_option_values "
        "\"$before\")\n"
        "    elif [ \"${word#-}\" != \"$word\" ]; then words=$(_fringe_options \"$command\")\n"
        "    else words=$(_fringe_arguments \"$command\"); fi 2>/dev/null\n"
        "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "}\n"
        "complete -o default -F _fringe fringe\n");
}

void completion_print_zsh(void) {
    printf("#compdef fringe\n# zsh completion of fringe; printed by: fringe help zsh\n");
    put_shared();
    printf("%s",
           "_fringe() {\n"
           "    local word=$words[CURRENT] before=$words[CURRENT-1] command=$words[2]\n"
           "    if (( CURRENT == 2 )); then compadd -- $(_fringe_commands) --help --version\n"
           "    elif [[ $before == --set && $word == *=* ]]; then\n"
           "        compset -P '*='; compadd -- $(_fringe_values ${word%%=*})\n"
           "    elif [[ $before == --set ]]; then compadd -S '' -- $(_fringe_keys)\n"
           "    elif _fringe_takes_value $before; then\n"
           "        compadd -- $(_fringe_option_values $before) || _files\n"
           "    elif [[ $word == -* ]]; then compadd -- $(_fringe_options $command)\n"
           "    else compadd -- $(_fringe_arguments $command) || _files; fi\n"
           "}\n"
           "if [ \"$funcstack[1]\" = _fringe ]; then _fringe; else compdef _fringe fringe; fi\n");
}
