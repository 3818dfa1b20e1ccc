// Inside the config room: the table of keys, and the steps of loading.
#pragma once

#include "fringe/config.h"

// All keys: those of the table (keys.c), and in the same sections those that members add
// (members.c).
extern const Key *config_keys;
extern int config_key_count;
extern const Key config_own_keys[];
extern const int config_own_key_count;

// True if the key may have that word (choices.c). "file:PATH" stands for any path.
bool config_is_choice(const Key *key, const char *word);

// A row of the table of what users of other programs write (synonyms.c).
typedef struct Meaning {
    const char *place, *names, *answer;
} Meaning;
const Meaning *synonym_at(int i); // NULL: i is past the last one
// The word of the key, in other letters, or the answer of the table.
const char *synonym_of_word(const Key *key, const char *word, Choices choice);

// A preset: settings that stand between the defaults and the file (presets.c). Where its name has
// an argument ("powersgd:R"), a setting may have it as its value ("gradients.rank=R").
enum { PRESET_SETTINGS = 8, PRESET_FAMILIES = 2 };
typedef struct Preset {
    const char *name;
    const char *help;
    const char *setting[PRESET_SETTINGS]; // "comm.schedule=overlap"; the rest NULL
} Preset;
// In the order in which they are stored; the key of a family names the preset in use.
extern const Family *const preset_families[PRESET_FAMILIES];
const Family *presets_of(const char *key); // of which one sets that key; NULL: none does
// The value that a preset gives to a key, with that argument; NULL: it gives none.
const char *preset_value(const Preset *preset, const char *argument, const char *key);
// Its i-th setting, likewise. False: it has no more.
bool preset_setting(char out[2 * CONFIG_WORD], const Preset *preset, const char *argument, int i);
const char *preset_word(const Config *config, const Family *presets); // of the one in use

// Errors are collected line by line in one Error; `where` is the file's name or "--set".
typedef struct Complaints {
    Error *err; // NULL: they are only counted
    const char *where;
    int count; // of all layers
} Complaints;
// Where complaints are only counted, counts one and returns true: it needs no sentence.
bool config_count_only(Complaints *complaints);
// Stores the object of a KEY_MAP (map.c). False: it is no such object of words, or too long.
bool config_store_map(ConfigWords *map, const Key *key, const Json *value);
void config_complain(Complaints *complaints, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// The defaults of the table and nothing else: no mode, no path resolved.
void config_set_defaults(Config *config);
// The default of one key, into a Config or a member's struct.
void config_set_default(void *values, const Key *key);
// Equal up to letters' case, '-' and '_'. `b` ends at a blank or its end.
bool config_is_alike(const char *a, const char *b);
const Key *config_key_find(const char *path); // NULL if there is none
// One term of a key's condition (idle.c): the word of another key is one of "A|B", or none of them.
typedef struct Term {
    const Key *key; // NULL: `words` names a command
    bool differs;   // "!="
    char words[CONFIG_CONDITION];
} Term;
// The text of a key's condition, or ""; `member` may hold it.
const char *config_condition_of(const Key *key, char member[CONFIG_CONDITION]);
bool config_is_used(const Key *key, const Config *config); // whether its condition holds
// Reads the next term and moves *at behind it. False: there is none.
bool config_next_term(const char **at, Term *term);
// The member that brings the key along, as a condition: "model.layer=gin". False: none.
bool config_member_of(const Key *key, char out[CONFIG_CONDITION]);
typedef struct Kind {
    const char *expected, *type; // in a message, and in JSON schema: of a list that of an entry
    struct ListKind {
        KeyKind entry;
        int most;            // entries; 0: it is no list
        size_t first, bytes; // where the entries lie, and the bytes of one
    } list;
} Kind;
typedef struct ListKind ListKind;
extern const Kind config_kinds[]; // [KeyKind]
static inline bool config_is_list(KeyKind kind) { return config_kinds[kind].list.most > 0; }
bool config_is_text(KeyKind kind);

// Checks a value and stores it at the key's offset in `values`, a Config or a member's struct;
// complains and stores nothing if it does not fit the key.
void config_store(void *values, const Key *key, const Json *value, Complaints *complaints);
// One object of a file: its members are keys, or sections where `section` is "".
void config_store_object(Config *config, const Json *object, const char *section,
                         Complaints *complaints);
bool config_is_section(const char *name);
bool config_in_section(const Key *key, const char *section);
void config_unknown(const char *path, Complaints *complaints); // complains, with a suggestion
void config_unknown_section(const char *section, Complaints *complaints);
// Checks that involve several keys or several entries of a list.
void config_check_together(const Config *config, Complaints *complaints);

// The cache where data.cache is empty (cache.c).
void config_default_cache(char *out, size_t size);
// Refuses a folder in /tmp that another user may have filled (EXIT_CANNOT_WRITE). Creates nothing.
bool config_check_cache(const Config *config, Error *err);

// The path of a config: `path` itself if it exists, else the config of that name that came with the
// program, else `path`. False if it is too long.
bool config_find(const char *path, char *out, size_t size);
// The document on standard input, which is read at the first call (standard_input.c).
// EXIT_NO_INPUT, or the errors of json_parse.
Json *config_read_input(Error *err);
bool config_is_input(const char *path); // the path `-`
// A config whose name is nearly that of a path that does not exist (nearby.c). False: there is
// none.
bool config_nearby(const char *path, char *out, size_t size);
// Fills run.dir and data.cache where they are empty and resolves every KEY_PATH.
void config_resolve_paths(Config *config, Complaints *complaints);

// Writes one key's value.
void config_put(JsonWriter *writer, const char *name, const Config *config, const Key *key);
// Calls visit for every key that is wanted, inside objects that follow the sections.
void config_walk(
    JsonWriter *writer, const void *context, bool (*wanted)(const Key *key, const void *context),
    void (*open)(JsonWriter *writer, const char *section), void (*close)(JsonWriter *writer),
    void (*visit)(JsonWriter *writer, const char *name, const Key *key, const void *context));
