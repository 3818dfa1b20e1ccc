// Families: constant tables of implementations that are chosen by name (codecs, schedules,
// partitioners, layers, ...). A member is a struct whose first field is its `const char *name`. If
// a word in capitals follows a colon or an equals sign in the name, as in "file:PATH", the member
// takes an argument: the text in its place, which may not be empty.
#pragma once

#include "fringe/base/error.h"

typedef struct Family {
    const char *key;       // config key that names a member, for messages: "quantization.codec"
    const char *automatic; // one more word, which the owner replaces with a member: "auto"; or NULL
    const void *table;     // [count], of members or of pointers to members
    int count;
    size_t stride; // bytes from one member to the next; 0: the table holds pointers
    size_t keys; // where in a member the config keys are that it adds (config.h); 0: none adds any
} Family;
#define FAMILY_COUNT(table) ((int)(sizeof(table) / sizeof *(table)))
#define FAMILY(key, automatic, table)                                                              \
    { key, automatic, table, FAMILY_COUNT(table), sizeof *(table), 0 }
#define FAMILY_OF_POINTERS(key, automatic, table)                                                  \
    { key, automatic, table, FAMILY_COUNT(table), 0, 0 }
#define FAMILY_WITH_KEYS(key, table, Type)                                                         \
    { key, NULL, table, FAMILY_COUNT(table), 0, offsetof(Type, keys) }

const void *family_member(const Family *family, int i); // [0, count)
// The words that a config may use: those of the members, then the automatic one.
const char *family_word(const Family *family, int i); // NULL if i is past the last
enum { FAMILY_WORDS = 512 };
const char *family_words(const Family *family, char out[FAMILY_WORDS]); // "npz, metis, auto"
// The place of the argument in a name, "PATH"; NULL: the member takes none.
const char *family_argument(const char *name);
// The member that `word` names, and the text in the place of the argument ("" if it takes no
// argument; `argument` may be NULL). NULL with EXIT_CONFIG and the list of words if there is no
// such member.
const void *family_find(const Family *family, const char *word, const char **argument, Error *err);
// True if `word` is one of the words; else false with EXIT_CONFIG and their list.
bool family_knows(const Family *family, const char *word, Error *err);

// The one of `words` that is closest to a wrong one, or NULL; for "did you mean".
const char *family_closest(const char *word, const char *const *words, int count);
