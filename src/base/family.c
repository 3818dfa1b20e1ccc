// Finds a member of a family by its name, and suggests the closest name if there is none.

#include "fringe/base/family.h"
#include "fringe/base/text.h"

// ---- the closest word by edit distance (optimal string alignment: insertions, deletions,
// exchanges and swaps of neighbours count 1 each)

enum { LONGEST = 63 };

static int least(int a, int b) { return a < b ? a : b; }

static int distance(const char *a, const char *b) {
    int n = (int)strnlen(a, LONGEST), m = (int)strnlen(b, LONGEST);
    int d[LONGEST + 1][LONGEST + 1]; // d[i][j]: the first i of a and the first j of b
    for (int i = 0; i <= n; i++)
        d[i][0] = i;
    for (int j = 0; j <= m; j++)
        d[0][j] = j;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int changed = a[i - 1] != b[j - 1];
            d[i][j] = least(d[i - 1][j - 1] + changed, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[n][m];
}

// The slips of the pen that a word of that length may have: in more, another word is meant.
static int slips(const char *word) {
    int length = (int)strnlen(word, LONGEST);
    return length < 3 ? 0 : length < 7 ? 1 : length < 12 ? 2 : 3;
}

const char *family_closest(const char *word, const char *const *words, int count) {
    const char *closest = NULL;
    int least_distance = slips(word) + 1;
    for (int i = 0; i < count; i++) {
        int d = distance(word, words[i]);
        if (d < least_distance) {
            closest = words[i];
            least_distance = d;
        }
    }
    return closest;
}

// ---- members

const void *family_member(const Family *family, int i) {
    assert(i >= 0 && i < family->count);
    if (family->stride == 0)
        return ((const void *const *)family->table)[i];
    return (const char *)family->table + (size_t)i * family->stride;
}

const char *family_word(const Family *family, int i) {
    if (i < family->count)
        return *(const char *const *)family_member(family, i); // the first field
    return i == family->count ? family->automatic : NULL;
}

const char *family_argument(const char *name) {
    for (const char *sign = name; (sign = strpbrk(sign, ":=")) != NULL; sign++)
        if (sign[1] >= 'A' && sign[1] <= 'Z')
            return sign + 1;
    return NULL;
}

// The text in the place of the argument; "" if the name has none. NULL: `word` does not match the
// name.
static const char *argument_of(const char *name, const char *word) {
    const char *argument = family_argument(name);
    if (argument == NULL)
        return strcmp(name, word) == 0 ? "" : NULL;
    size_t head = (size_t)(argument - name);
    return strncmp(name, word, head) == 0 && word[head] != 0 ? word + head : NULL;
}

const char *family_words(const Family *family, char out[FAMILY_WORDS]) {
    out[0] = 0;
    for (int i = 0; family_word(family, i) != NULL; i++)
        text_add(out, FAMILY_WORDS, ", ", "%s", family_word(family, i));
    return out;
}

static void refuse(const Family *family, const char *word, Error *err) {
    enum { WORDS_MOST = 32 };
    const char *words[WORDS_MOST];
    char list[FAMILY_WORDS];
    int count = 0;
    for (; count < WORDS_MOST && family_word(family, count) != NULL; count++)
        words[count] = family_word(family, count);
    const char *closest = family_closest(word, words, count);
    error_config(err, "%s: expected one of %s, found '%.80s'%s%s%s", family->key,
                 family_words(family, list), SHOWN(word), closest != NULL ? "; did you mean '" : "",
                 closest != NULL ? closest : "", closest != NULL ? "'?" : "");
}

const void *family_find(const Family *family, const char *word, const char **argument, Error *err) {
    for (int i = 0; i < family->count; i++) {
        const char *found = argument_of(family_word(family, i), word);
        if (found == NULL)
            continue;
        if (argument != NULL)
            *argument = found;
        return family_member(family, i);
    }
    refuse(family, word, err);
    return NULL;
}

bool family_knows(const Family *family, const char *word, Error *err) {
    if (family->automatic != NULL && strcmp(family->automatic, word) == 0)
        return true;
    return family_find(family, word, NULL, err) != NULL;
}
