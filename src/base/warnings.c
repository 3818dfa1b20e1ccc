// Warnings are lines of one text.

#include "fringe/base/warnings.h"
#include "fringe/base/text.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool has_line(const Warnings *warnings, const char *line) {
    size_t length = strlen(line);
    for (const char *at = warnings->text; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strcspn(at, "\n") == length && strncmp(at, line, length) == 0)
            return true;
    }
    return false;
}

void warnings_add(Warnings *warnings, const char *format, ...) {
    char line[WARNINGS_TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (!has_line(warnings, line))
        text_add(warnings->text, WARNINGS_TEXT, "\n", "%s", line);
}

void warnings_add_all(Warnings *to, const Warnings *from) {
    char text[WARNINGS_TEXT], *rest = text;
    snprintf(text, sizeof text, "%s", from->text);
    for (const char *line; (line = strsep(&rest, "\n")) != NULL;)
        if (line[0] != 0)
            warnings_add(to, "%s", line);
}

const char *warnings_join(char out[WARNINGS_TEXT], const Warnings *warnings) {
    size_t used = 0;
    for (const char *at = warnings->text; *at != 0 && used + 1 < WARNINGS_TEXT; at++)
        used += (size_t)snprintf(out + used, WARNINGS_TEXT - used, *at == '\n' ? "; " : "%c", *at);
    out[used < WARNINGS_TEXT ? used : WARNINGS_TEXT - 1] = 0;
    return out;
}
