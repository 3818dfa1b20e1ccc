// A config on standard input, which the path `-` names. It is read once, by the first process. What
// that one starts, the same program again or mpirun with its ranks, has the text in a file without
// a name as its own standard input; mpirun hands it on to rank 0, which reads the config for all.

#include "internal.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

static const char shown[] = "standard input";
static struct {
    char *text; // of up to JSON_BYTES + 1 bytes; kept until the process ends
    size_t bytes;
    bool is_read;
} input;

bool config_is_input(const char *path) { return path != NULL && strcmp(path, "-") == 0; }

const char *config_called(const char *path) { return config_is_input(path) ? shown : path; }

// Reads up to one byte more than JSON may have, so that too long a text is seen to be too long.
static bool read_all(Error *err) {
    size_t room = JSON_BYTES + 1;
    input.text = malloc(room); // pages that are not used take no memory
    CHECK(input.text != NULL, EXIT_MEMORY, "no memory for a config on standard input");
    for (ssize_t got = 1; got != 0 && input.bytes < room;) {
        got = read(STDIN_FILENO, input.text + input.bytes, room - input.bytes);
        if (got < 0 && errno != EINTR)
            return error_set(err, EXIT_NO_INPUT, "%s: cannot be read: %s", shown, strerror(errno));
        input.bytes += got > 0 ? (size_t)got : 0;
    }
    input.is_read = true;
    return true;
}

Json *config_read_input(Error *err) {
    if (!input.is_read && !read_all(err))
        return NULL;
    return json_parse(input.text, input.bytes, shown, err);
}

bool config_give_input_back(void) {
    if (!input.is_read)
        return false;
    int file = memfd_create("config", MFD_CLOEXEC);
    size_t written = 0;
    for (ssize_t put = 1; file >= 0 && put > 0 && written < input.bytes; written += (size_t)put)
        put = write(file, input.text + written, input.bytes - written);
    CHECK(written == input.bytes && lseek(file, 0, SEEK_SET) == 0 && dup2(file, STDIN_FILENO) == 0,
          EXIT_UNAVAILABLE, "the config of standard input cannot be handed on: %s",
          strerror(errno));
    close(file);
    return true;
}
