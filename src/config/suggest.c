// "did you mean": the closest known word by edit distance (optimal string alignment: insertions,
// deletions, exchanges and swaps of neighbours count 1 each).

#include "private.h"

#include <stdio.h>
#include <string.h>

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

const char *config_suggest(const char *word, const char *const *names, int count) {
    const char *closest = NULL;
    int closest_distance = 1 + (int)strnlen(word, LONGEST) / 3; // further off is no likeness
    for (int i = 0; i < count; i++) {
        int d = distance(word, names[i]);
        if (d < closest_distance || (closest == NULL && d == closest_distance)) {
            closest = names[i];
            closest_distance = d;
        }
    }
    return closest;
}

static const char *last_word(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL ? dot + 1 : path;
}

// The keys of the section that `path` names, as a sentence; false if there is no such section.
static bool list_section(const char *path, char *out, size_t size) {
    const char *dot = strchr(path, '.');
    size_t prefix = dot != NULL ? (size_t)(dot - path) + 1 : 0, used = 0;
    for (int i = 0; prefix > 0 && i < config_key_count; i++)
        if (strncmp(config_keys[i].path, path, prefix) == 0 && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     config_keys[i].path + prefix);
    return used > 0;
}

void config_unknown(const char *path, Complaints *complaints) {
    const char *names[256], *same = NULL;
    int count = 0;
    assert(config_key_count <= 256);
    for (int i = 0; i < config_key_count; i++) {
        names[count++] = config_keys[i].path;
        if (strcmp(last_word(config_keys[i].path), last_word(path)) == 0)
            same = config_keys[i].path; // the right word in the wrong section
    }
    const char *closest = same != NULL ? same : config_suggest(path, names, count);
    char section[512];
    if (closest != NULL)
        config_complain(complaints, "%s: unknown key; did you mean %s?", path, closest);
    else if (list_section(path, section, sizeof section))
        config_complain(complaints, "%s: unknown key; expected one of %s", path, section);
    else
        config_complain(complaints, "%s: unknown key; fringe config show lists all", path);
}
