// Which columns of a table are what, by the names in its first line or by data.columns.

#include "table.h"

#include <ctype.h>

// Letters and digits in lower case, without bracketed parts: ":START_ID(Person)" -> "startid".
static void plain_of(char out[TABLE_NAME], const char *name, const char *end) {
    size_t used = 0;
    int depth = 0;
    for (; name < end && used + 1 < TABLE_NAME; name++) {
        depth += strchr("([{", *name) != NULL;
        if (depth == 0 && (isalnum((unsigned char)*name) || (unsigned char)*name >= 0x80))
            out[used++] = (char)tolower((unsigned char)*name);
        depth -= depth > 0 && strchr(")]}", *name) != NULL;
    }
    out[used] = '\0';
}

// The same, without the types of Neo4j: "age:int" -> "age", "person:ID(Person)" -> "id".
static void column_plain(char out[TABLE_NAME], const char *name) {
    const char *end = name + strlen(name), *colon = strchr(name, ':');
    if (colon != NULL && colon > name) {
        plain_of(out, colon + 1, end);
        if (strcmp(out, "id") == 0)
            return;
        if (text_lists("int long float double boolean byte short char string", out))
            end = colon;
    }
    plain_of(out, name, end);
}

bool column_is_word(const char *name, const char *words) {
    char plain[TABLE_NAME], word[TABLE_NAME];
    column_plain(plain, name);
    if (plain[0] == '\0')
        return false;
    if (strchr(words, ' ') == NULL) { // a name that a user says
        column_plain(word, words);
        return strcmp(plain, word) == 0;
    }
    return text_lists(words, plain);
}

bool column_is_index(const Table *table, int column) {
    char plain[TABLE_NAME];
    column_plain(plain, table->name[column]);
    return table->header && column == 0 &&
           (table->name[column][0] == '\0' || strcmp(plain, "unnamed0") == 0);
}

const char *column_shown(const Table *table, int column, char out[TABLE_NAME]) {
    if (table->header)
        snprintf(out, TABLE_NAME, "%s", table->name[column]);
    else
        snprintf(out, TABLE_NAME, "%d", column + 1);
    return out;
}

// All names, for messages.
static const char *list_names(const Table *table, char out[512]) {
    out[0] = '\0';
    for (int c = 0; c < table->columns && strlen(out) < 400; c++)
        text_add(out, 512, ", ", "%.40s", SHOWN(table->name[c]));
    return out;
}

// As it stands there, or else by letters and digits.
static int column_named(const Table *table, const char *name) {
    for (int c = 0; table->header && c < table->columns; c++)
        if (strcmp(table->name[c], name) == 0)
            return c;
    for (int c = 0; table->header && c < table->columns; c++)
        if (column_is_word(table->name[c], name))
            return c;
    return -1;
}

bool columns_numbered(const Table *table, int two[2]) {
    char plain[TABLE_NAME];
    int pairs = 0;
    for (int c = 0; c < table->columns; c++) {
        column_plain(plain, table->name[c]);
        size_t last = strlen(plain) > 1 ? strlen(plain) - 1 : 0;
        if (last == 0 || plain[last] != '1' || isdigit((unsigned char)plain[last - 1]))
            continue;
        plain[last] = '3';
        bool third = column_named(table, plain) >= 0;
        plain[last] = '2';
        int other = column_named(table, plain);
        if (other < 0 || third)
            continue;
        two[0] = c;
        two[1] = other;
        pairs++;
    }
    return pairs == 1;
}

bool column_said(int *column, const Table *table, const char *what, const char *name, Error *err) {
    char names[512], *end;
    long number = strtol(name, &end, 10);
    *column = column_named(table, name);
    if (*column < 0 && *end == '\0' && number >= 1 && number <= table->columns)
        *column = (int)number - 1;
    if (*column >= 0)
        return true;
    if (*end == '\0')
        return error_config(err,
                            "%s: data.columns: %s=%s, but there are %d columns, counted from 1",
                            table->path, what, name, table->columns);
    return error_config(err, "%s: data.columns: %s='%s' is none of its columns: %s%s", table->path,
                        what, SHOWN(name), list_names(table, names),
                        table->header ? "" : " (a line without names; give numbers from 1)");
}

int column_of_words(const Table *table, const char *words) {
    char word[TABLE_NAME];
    int column = -1;
    while (*words != '\0' && column < 0) {
        size_t length = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        column = column_named(table, word);
        words += length + (words[length] == ' ');
    }
    return column;
}

bool column_find(int *column, const Table *table, const Config *config, const char *what,
                 const char *words, Error *err) {
    const char *said = config_column(config, what, 0);
    *column = said != NULL ? -1 : column_of_words(table, words);
    return said == NULL || column_said(column, table, what, said, err);
}
