// Errors as sentences, and the line that a failed CHECK prints. The idea: the first error wins, so
// a caller may go on and clean up without losing the cause.

#include "fringe/base/error.h"
#include "fringe/base/text.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

bool error_set(Error *err, ExitCode code, const char *format, ...) {
    if (err->code != 0)
        return false;
    va_list arguments;
    va_start(arguments, format);
    text_fit(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    err->code = code;
    return false;
}

static void fit(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    text_fit(out, size, format, arguments);
    va_end(arguments);
}

bool error_cannot(Error *err, ExitCode code, const char *do_what, const char *path) {
    return error_set(err, code, "%s: cannot %s: %s", path, do_what, strerror(errno));
}

bool error_prefix(Error *err, const char *format, ...) {
    if (err->code == 0)
        return false;
    char sentence[sizeof err->text];
    memcpy(sentence, err->text, sizeof sentence);
    va_list arguments;
    va_start(arguments, format);
    int used = vsnprintf(err->text, sizeof err->text, format, arguments);
    va_end(arguments);
    if (used < 0 || (size_t)used >= sizeof err->text)
        used = (int)strlen(err->text);
    if (sizeof err->text - (size_t)used > 64)
        fit(err->text + used, sizeof err->text - (size_t)used, ": %s", sentence);
    return false;
}

bool error_join(Error *err, ExitCode code, const char *format, ...) {
    static const char more[] = "\n... and more";
    char sentence[sizeof err->text / 2]; // so that more than one finds room
    va_list arguments;
    va_start(arguments, format);
    text_fit(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    size_t used = strlen(err->text), room = sizeof err->text - used;
    bool cut = strstr(err->text, more) != NULL; // what comes now is shorter, but comes later
    if (!cut && strlen(sentence) + sizeof more + 1 < room)
        snprintf(err->text + used, room, "%s%s", used > 0 ? "\n" : "", sentence);
    else if (!cut && room > sizeof more)
        snprintf(err->text + used, room, "%s", more);
    err->code = err->code == 0 || err->code == (int)code ? (int)code : EXIT_CONFIG;
    return false;
}

static void (*end_all)(ExitCode code, const char *sentence);

void check_ends_with(void (*end)(ExitCode code, const char *sentence)) { end_all = end; }

_Noreturn void check_failed(const char *file, int line, ExitCode code, const char *format, ...) {
    char sentence[2048];
    int used = snprintf(sentence, sizeof sentence, "%s:%d: ", file, line);
    va_list arguments;
    va_start(arguments, format);
    text_fit(sentence + used, sizeof sentence - (size_t)used, format, arguments);
    va_end(arguments);
    if (end_all != NULL)
        end_all(code, sentence);
    fflush(stdout);
    fprintf(stderr, "%s\n", SHOWN(sentence));
    _exit((int)code);
}

bool error_is_damage(const Error *err) {
    return err->code == EXIT_DATA || err->code == EXIT_NO_INPUT;
}
