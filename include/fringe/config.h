// config: one JSON file (and --set key=value) becomes one checked struct.
//
// Layers: defaults < file < --set. One table (fringe/keys.def) describes every key: path, type,
// range, default, unit, help; the checker, `fringe config show`, the JSON schema and docs/config.md
// come from it. Unknown keys are errors with a suggestion; all errors are reported at once, one per
// line, each with the key's path, what was expected and what was found. Paths resolve against the
// config's folder, then FRINGE_DATA. Values that belong to a family (model.layer, partition.method,
// ...) are names; for a wrong name the error lists all names of the family.
#pragma once

#include "fringe/base.h"

// CONFIG_NUMBERS: one for each layer and one more.
enum {
    CONFIG_TEXT = PATH_BYTES,
    CONFIG_LIST = 16,
    CONFIG_NUMBERS = EXCHANGE_LAYERS + 1,
    CONFIG_PATHS = 3,
    CONFIG_WORD = 64
};

typedef struct ConfigWords { // a list of words
    int count;
    char word[CONFIG_LIST][CONFIG_WORD];
} ConfigWords;
typedef struct ConfigPaths { // a list of names of arrays, or of their files
    int count;
    char word[CONFIG_PATHS][CONFIG_TEXT];
} ConfigPaths;
typedef struct ConfigInts {
    int count;
    int64_t value[CONFIG_NUMBERS];
} ConfigInts;
typedef struct ConfigDoubles {
    int count;
    double value[CONFIG_NUMBERS];
} ConfigDoubles;

// ---- keys

typedef enum KeyKind {
    KEY_WORD,    // char[CONFIG_WORD]
    KEY_TEXT,    // char[CONFIG_TEXT]
    KEY_PATH,    // char[CONFIG_TEXT], of an input file: resolved by config_resolve
    KEY_BOOL,    // bool
    KEY_INT,     // int64_t
    KEY_DOUBLE,  // double
    KEY_WORDS,   // ConfigWords
    KEY_INTS,    // ConfigInts
    KEY_DOUBLES, // ConfigDoubles
    KEY_PATHS,   // ConfigPaths
    KEY_NUMBERS, // char[CONFIG_TEXT], one of the words, or a list of numbers as JSON: "[1,0.5]"
    KEY_MAP, // ConfigWords, each "name=word": an object of words, of numbers or of lists of them
} KeyKind;

typedef struct Key {
    const char *path; // "train.epochs"; only "mode" has no section
    KeyKind kind;
    size_t offset;        // in Config, or in the values of the member that adds the key
    const char *standard; // the default, as JSON
    const char *range;    // numbers: "[0, 1)", also each of a list; NULL: any
    const char *choices;  // words: "layer none", also each of a list; NULL: any, or a family's
    const char *unit;     // "epochs"; NULL: none
    const char *help;
} Key;

enum { CHOICES_MOST = 24 };
typedef char Choices[CHOICES_MOST][CONFIG_WORD];

// The key that names the preset in use, "mode", of the presets that set that key. NULL: none does.
const char *config_preset_of(const char *key);
// True if the preset `word` of those, or else the default, gives the key this value.
bool config_preset_implies(const char *word, const char *key, const char *value);

// For pages that list all keys.
const Key *config_key_at(int i);                                 // NULL: past the last one
int config_choices(const Key *key, Choices out);                 // how many; 0: any word
void config_expectation(const Key *key, char *out, size_t size); // "a whole number in [1, 16]"

// Keys that a member of a family adds to existing sections. Their values form a struct of the
// member, which a Config stores as bytes.
typedef struct MemberKeys {
    const Key *key; // [count]
    int count;
    size_t bytes; // of the struct
} MemberKeys;
// A member's own options, as its configure has read them. Only the member knows what they mean; all
// zero are the options of one that has none.
typedef struct MemberValues {
    _Alignas(max_align_t) unsigned char values[64];
} MemberValues;
#define MEMBER_OPTIONS(Type, of) (*(Type *)memcpy(&(Type){0}, (of)->values, sizeof(Type))) // a copy
// Who set a key. CONFIG_PRESET: nobody or a preset.
enum { CONFIG_PRESET, CONFIG_OF_RUN, CONFIG_OF_FILE, CONFIG_OF_SETTING };
enum { CONFIG_MEMBERS = 1024, CONFIG_KEYS = 192 }; // bytes of all values; keys of everybody

// The member of a key of that kind.
typedef char Member_WORD[CONFIG_WORD], Member_TEXT[CONFIG_TEXT], Member_PATH[CONFIG_TEXT];
typedef char Member_NUMBERS[CONFIG_TEXT];
typedef bool Member_BOOL;
typedef int64_t Member_INT;
typedef double Member_DOUBLE;
typedef ConfigWords Member_WORDS, Member_MAP;
typedef ConfigInts Member_INTS;
typedef ConfigDoubles Member_DOUBLES;
typedef ConfigPaths Member_PATHS;
#define SECTION(name) struct {
#define END(name)                                                                                  \
    }                                                                                              \
    name;
#define ROW(section, name, kind, ...) Member_##kind name;

// A section is a struct of its keys: config.train.epochs. What each means, its range and its unit
// say the rows of keys.def.
typedef struct Config {
    char source[PATH_BYTES]; // path of the file; "" if none
    char mode[CONFIG_WORD];  // "mode": preset of quantization.*, comm.* and lossless.*

#include "fringe/keys.def"
    _Alignas(max_align_t) unsigned char member[CONFIG_MEMBERS]; // values of MemberKeys
    unsigned char origin[CONFIG_KEYS];                          // CONFIG_PRESET, ... of each key
} Config;
#undef SECTION
#undef END
#undef ROW

// Registers the families whose members a config can name, by Family.key. Called once, before the
// first config is loaded, by the module that knows them all; until then such keys accept any word.
// Borrowed.
void config_learn_families(const Family *const *families, int count);

// Registers the keys that members of these families add (MemberKeys, at Family.keys), in the order
// in which they follow the other keys of their section. Called once, before the first config is
// loaded; until then they have their defaults. The families and the keys of their members are
// borrowed.
void config_learn_keys(const Family *const *families, int count);
// Copies the values of a member's keys into its struct.
void config_values(const Config *config, const MemberKeys *member, void *values);

// How run.random and run.random_bits make numbers.
RandomKind config_random(const Config *config);

// Reads the numbers of a KEY_NUMBERS into out [most]; returns how many there are, 0 of a word.
int64_t config_numbers(const char *text, double *out, int64_t most);

// True if the user set that key in the file or by a setting. False for keys that are preset, and
// for those in the config of a run, which has every key.
bool config_is_said(const Config *config, const char *path);
// ---- keys without effect

// Where a key is used: "train.optimizer is sgd". False: everywhere.
enum { CONFIG_CONDITION = 512, CONFIG_HINT = 512 };
bool config_condition(const Key *key, char out[CONFIG_CONDITION]);

// The keys that the user set and that none of the configs of a command uses: a sweep or a
// comparison has one config for each point or mode. Zero before the first.
typedef struct IdleKeys {
    int configs;
    bool idle[CONFIG_KEYS];
} IdleKeys;
void idle_keys_add(IdleKeys *keys, const Config *config);
// Calls `say` with a sentence for each of them, which says by *config, one of the configs, why the
// key has no effect, and where it has one.
void idle_keys_report(const IdleKeys *keys, const Config *config,
                      void (*say)(const char *sentence));

// The key that a name without its section means, or a name that PyG, DGL or AdaQP has for it: "lr",
// "epochs", "hidden_channels". NULL: none is known.
const char *config_guess_key(const char *name);
// The value of a key that a wrong word means in those programs, or is close to; or a sentence that
// says what there is instead. NULL: neither is known. `choice` may hold it.
const char *config_guess_word(const char *path, const char *word, Choices choice);
// What a word means in those programs, in one place: "command", "option", "--NAME", ...
// (synonyms.c): a word of this one, or a sentence. NULL: not known.
const char *config_meaning(const char *place, const char *word);
bool config_is_sentence(const char *meaning);
// What an error says of such a meaning at its end: "; did you mean WORD?", with `quote` around the
// word, or "; SENTENCE"; "" for NULL.
const char *config_hint(char out[CONFIG_HINT], const char *meaning, const char *quote);
#define HINT(meaning) config_hint((char[CONFIG_HINT]){0}, (meaning), "")

// Fills *config from the defaults, the file (NULL: none) and `count` settings "section.key=value"
// (value as JSON, or a bare word). Every error of every layer is in err->text, EXIT_CONFIG
// (EXIT_NO_INPUT if the file does not exist). Presets stand between defaults and file. The
// file may also be the run.json of a run: then its member "config" is loaded. After errors
// *config holds defaults for wrong keys and the values of the others; if the file is no JSON, its
// mode is "". A path that does not exist may name a config that came with the program: "villages"
// is configs/villages.json beside it. The path "-" is standard input, which is read once; paths in
// that config begin in the current folder.
bool config_load(Config *config, const char *path, const char *const *settings, int count,
                 Error *err);

// What messages call it: "standard input" for "-"; other paths are returned as they are.
const char *config_called(const char *path);
// Puts the text of a config that was read from standard input there again, for a process that is
// started in the place of this one or below it. False: none was read.
bool config_give_input_back(void);

// True if the path names a file, or a config that came with the program.
bool config_is_there(const char *path);

// The resolved config as JSON, nested by section (memory_free it); of equal values an equal text.
char *config_to_json(const Config *config);
void config_put_all(JsonWriter *writer, const char *name, const Config *config); // the same

// Writes the keys that change the results of a training, as an object nested by section. Not among
// them are: where it runs, where its files are, its seed, and its length unless train.lr_schedule
// depends on it. also: one more key that changes results for the member that it names, with those
// that this member brings along and uses; NULL: none.
void config_put_learned(JsonWriter *writer, const char *name, const Config *config,
                        const char *also);
// Reports each key whose value in *config differs from that object: "train.lr was 0.01, is 0.02".
void config_report_learned(const Json *object, const Config *config, const char *also,
                           void (*report)(void *context, const char *sentence), void *context);

void config_print(const Sink *out, const Config *config); // value, default, unit, help of each key
void config_print_changed(const Sink *out, const Config *config); // without defaults; who set it
void config_print_schema(const Sink *out);                        // JSON schema, draft 2020-12
void config_print_markdown(const Sink *out);                      // docs/config.md

// "cora.npz" -> the first of <config's folder>/cora.npz, <FRINGE_DATA>/cora.npz that exists, else
// the first.
void config_resolve(const Config *config, const char *path, char *out, size_t size);

// Creates the folder data.cache. If it lies in /tmp, because neither HOME nor XDG_CACHE_HOME is
// set, only this user may enter it; EXIT_CANNOT_WRITE if it belongs to another user.
bool config_make_cache(const Config *config, Error *err);

extern const Family mode_family;            // presets: vanilla, lossless, ...
extern const Family gradient_method_family; // presets: fp32, qsgd, ...

// True if an entry of data.split_keys, or data.weights, is a .npy file, not the name of an array.
bool config_names_file(const char *array);
// True if a path is a part file, or the beginning of the name of one, PATH.part.K.
bool config_is_part_file(const char *path);
// True if data.splits says how to draw the splits: "random:0.6,0.2", "per-class:20,500,1000",
// "shchur:20,30". "./random:x" is a path.
bool config_splits_are_drawn(const Config *config);
bool config_has_word(const ConfigWords *words, const char *word);
// The word that data.columns has for `name` ("source"), the i-th of them from 0; NULL: it has none.
const char *config_column(const Config *config, const char *name, int i);
