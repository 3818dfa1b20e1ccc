// Crash-safe files. The idea: nothing is overwritten in place. A new file is written beside the old
// one, synced and renamed over it, and the folder is synced (TRAPS 16). Every write, sync and
// rename calls step(), so a test can kill the process after any of them.

#include "fringe/base/file.h"
#include "testing.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <unistd.h>

// FRINGE_TEST_STOP_STEP=n or file_test_stop_after: the process kills itself right after its n-th
// step, in any thread. 0: never; -1: the environment has not been read yet.
static atomic_llong steps_left = -1;

void file_test_stop_after(int64_t steps) { steps_left = steps; }

static void step(void) {
    if (atomic_load(&steps_left) < 0) {
        const char *wanted = getenv("FRINGE_TEST_STOP_STEP");
        long long unknown = -1;
        atomic_compare_exchange_strong(&steps_left, &unknown, wanted != NULL ? atoll(wanted) : 0);
    }
    if (atomic_load(&steps_left) > 0 && atomic_fetch_sub(&steps_left, 1) == 1)
        raise(SIGKILL);
}

// --- reading

bool file_exists(const char *path) { return access(path, F_OK) == 0; }
static mode_t mode_of(const char *path) { // 0: it does not exist
    struct stat status;
    return stat(path, &status) == 0 ? status.st_mode : 0;
}

bool file_is_folder(const char *path) { return S_ISDIR(mode_of(path)); }
bool file_is_regular(const char *path) { return S_ISREG(mode_of(path)); }

int64_t file_size(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 ? (int64_t)status.st_size : -1;
}

// Reads exactly `bytes`; a file that became shorter meanwhile is an error.
static bool read_all(int descriptor, char *data, size_t bytes, const char *path, Error *err) {
    for (size_t done = 0; done < bytes;) {
        size_t piece = bytes - done < (size_t)1 << 30 ? bytes - done : (size_t)1 << 30;
        ssize_t got = read(descriptor, data + done, piece);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_cannot(err, EXIT_IO, "read", path);
        if (got == 0)
            return error_set(err, EXIT_IO, "%s: ends after %zu of %zu bytes", path, done, bytes);
        done += (size_t)got;
    }
    return true;
}

static const char *kind_of(mode_t mode) {
    return S_ISDIR(mode)    ? "folder"
           : S_ISFIFO(mode) ? "pipe"
           : S_ISSOCK(mode) ? "socket"
                            : "device";
}

static bool is_regular(const struct stat *status, const char *path, Error *err) {
    return S_ISREG(status->st_mode) ||
           error_data(err, "%s: is not a regular file but a %s", path, kind_of(status->st_mode));
}

// Opening a pipe waits for its writer, and a device may wait as well. O_NONBLOCK avoids that and
// has no effect on regular files.
int file_open(const char *path, int64_t *bytes, Error *err) {
    struct stat status;
    *bytes = 0;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (descriptor < 0 && errno == ENXIO && stat(path, &status) == 0) // sockets, some devices
        is_regular(&status, path, err);
    else if (descriptor < 0)
        error_cannot(err, errno == ENOENT || errno == ENOTDIR ? EXIT_NO_INPUT : EXIT_IO, "open",
                     path);
    else if (fstat(descriptor, &status) != 0)
        error_cannot(err, EXIT_IO, "look at", path);
    else if (is_regular(&status, path, err)) {
        *bytes = (int64_t)status.st_size;
        return descriptor;
    }
    if (descriptor >= 0)
        close(descriptor);
    return -1;
}

void descriptor_drop(int *descriptor) {
    if (*descriptor >= 0)
        close(*descriptor);
}

FILE *file_stream(const char *path, int64_t *bytes, Error *err) {
    int descriptor = file_open(path, bytes, err);
    FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "r");
    if (descriptor >= 0 && file == NULL) {
        error_cannot(err, EXIT_MEMORY, "read", path);
        close(descriptor);
    }
    return file;
}

size_t file_head(const char *path, char *head, size_t size) {
    int64_t ignored;
    CLEARED(descriptor_drop) int descriptor = file_open(path, &ignored, &(Error){0});
    ssize_t got = descriptor < 0 ? 0 : read(descriptor, head, size - 1);
    got = got > 0 ? got : 0;
    head[got] = 0;
    return (size_t)got;
}

// The nearest folder above `path` that may not be entered, if that hides the path.
static void locked_folder(char *out, size_t size, const char *path) {
    struct stat status;
    snprintf(out, size, "%s", path);
    do {
        snprintf(out, size, "%s", FOLDER_OF(out));
    } while (stat(out, &status) != 0 && errno == EACCES && strcmp(out, "/") != 0);
}

bool file_is_denied(const char *path, Error *err) {
    char folder[PATH_BYTES];
    struct stat status;
    if (strlen(path) >= sizeof folder || faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) == 0 ||
        errno != EACCES)
        return false;
    if (stat(path, &status) == 0) {
        error_set(err, EXIT_NO_INPUT, "%s cannot be opened: permission denied", path);
        return true;
    }
    locked_folder(folder, sizeof folder, path);
    error_set(err, EXIT_NO_INPUT, "%s cannot be opened: no permission to enter the folder %s", path,
              folder);
    return true;
}

char *file_read(const char *path, size_t limit, size_t *bytes, Error *err) {
    int64_t size;
    char *data;
    CLEARED(descriptor_drop) int descriptor = file_open(path, &size, err);
    *bytes = (size_t)size;
    if (descriptor < 0)
        return NULL;
    if (*bytes > limit)
        error_data(err, "%s: has %zu bytes, more than the %zu that are read", path, *bytes, limit);
    else if ((data = memory_try(*bytes + 1, "file in memory", err)) == NULL)
        error_prefix(err, "%s", path);
    else if (read_all(descriptor, data, *bytes, path, err))
        return data;
    else
        memory_free(data);
    *bytes = 0;
    return NULL;
}

// --- writing

static bool set_path(FileWriter *writer, const char *path, Error *err) {
    *writer = (FileWriter){.descriptor = -1};
    int used = snprintf(writer->path, sizeof writer->path, "%s", path);
    return (used >= 0 && (size_t)used < sizeof writer->path) ||
           error_set(err, EXIT_CANNOT_WRITE, "%s: the path is longer than %zu bytes", path,
                     sizeof writer->path - 1);
}

bool file_writer_open(FileWriter *writer, const char *path, Error *err) {
    if (!set_path(writer, path, err))
        return false;
    writer->descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return writer->descriptor >= 0 || error_cannot(err, EXIT_CANNOT_WRITE, "create", path);
}

// If the name exists, a dead process with our number left it: try the next one.
bool file_writer_replace(FileWriter *writer, const char *path, Error *err) {
    const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    if (!set_path(writer, path, err))
        return false;
    for (int attempt = 0; writer->descriptor < 0 && attempt < 100; attempt++) {
        if (!file_temporary(writer->temporary, sizeof writer->temporary, path, err))
            return false;
        writer->descriptor = open(writer->temporary, flags, 0666);
        if (writer->descriptor < 0 && errno != EEXIST)
            break;
    }
    return writer->descriptor >= 0 || error_cannot(err, EXIT_CANNOT_WRITE, "create", path);
}

bool file_writer_put(FileWriter *writer, const void *data, size_t bytes, Error *err) {
    const char *at = data;
    while (bytes > 0) {
        size_t piece = bytes < (size_t)1 << 30 ? bytes : (size_t)1 << 30;
        ssize_t put = write(writer->descriptor, at, piece);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return error_cannot(err, EXIT_IO, "write", writer->path);
        step();
        at += put;
        bytes -= (size_t)put;
        writer->bytes += put;
    }
    return true;
}

bool file_writer_close(FileWriter *writer, bool sync, Error *err) {
    if (writer->descriptor < 0)
        return err->code == 0;
    bool ok = true;
    if (sync) {
        ok = fsync(writer->descriptor) == 0 || error_cannot(err, EXIT_IO, "flush", writer->path);
        step();
    } else {
        sync_file_range(writer->descriptor, 0, 0, SYNC_FILE_RANGE_WRITE);
    }
    if (close(writer->descriptor) != 0)
        ok = error_cannot(err, EXIT_IO, "close", writer->path);
    writer->descriptor = -1;
    return ok;
}

bool file_sync(const char *path, Error *err) {
    CLEARED(descriptor_drop) int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return error_cannot(err, EXIT_IO, "open", path);
    bool ok = fsync(descriptor) == 0 || error_cannot(err, EXIT_IO, "flush", path);
    step();
    return ok;
}

bool file_rename(const char *from, const char *to, Error *err) {
    if (rename(from, to) != 0)
        return error_set(err, EXIT_CANNOT_WRITE, "%s: cannot rename to %s: %s", from, to,
                         strerror(errno));
    step();
    return file_sync(FOLDER_OF(to), err);
}

bool file_exchange(const char *one, const char *other, bool *done, Error *err) {
    *done = renameat2(AT_FDCWD, one, AT_FDCWD, other, RENAME_EXCHANGE) == 0;
    if (!*done)
        return true;
    step();
    return file_sync(FOLDER_OF(other), err);
}

bool file_writer_take_place(FileWriter *writer, bool whole, Error *err) {
    whole = file_writer_close(writer, whole, err) && whole &&
            file_rename(writer->temporary, writer->path, err);
    if (!whole)
        unlink(writer->temporary);
    return whole;
}

bool file_replace(const char *path, const void *data, size_t bytes, Error *err) {
    FileWriter writer;
    if (!file_writer_replace(&writer, path, err))
        return false;
    bool whole = file_writer_put(&writer, data, bytes, err);
    return file_writer_take_place(&writer, whole, err);
}

// --- folders

static bool no_folder(Error *err, const char *path) {
    struct stat status;
    bool regular = stat(path, &status) == 0 && S_ISREG(status.st_mode);
    return error_set(err, EXIT_CANNOT_WRITE,
                     regular ? "%s is a file, not a folder" : "%s is not a folder", path);
}

// Makes one level and flushes the folder that holds it, unless that folder cannot be read: then it
// cannot be opened for the flush.
static bool make_level(const char *path, Error *err) {
    if (mkdir(path, 0777) != 0) {
        int reason = errno;
        if (file_is_folder(path))
            return true;
        errno = reason;
        return errno == EEXIST ? no_folder(err, path)
                               : error_cannot(err, EXIT_CANNOT_WRITE, "make the folder", path);
    }
    step();
    const char *parent = FOLDER_OF(path);
    return access(parent, R_OK) != 0 || file_sync(parent, err);
}

bool file_make_folder(const char *path, Error *err) {
    char partial[PATH_BYTES];
    int used = snprintf(partial, sizeof partial, "%s", path);
    if (used <= 0 || (size_t)used >= sizeof partial)
        return error_set(err, EXIT_CANNOT_WRITE, "'%s' cannot be the name of a folder", path);
    for (char *end = partial + 1;; end++) {
        if (*end != '/' && *end != 0)
            continue;
        char kept = *end;
        *end = 0;
        if (!make_level(partial, err))
            return false;
        *end = kept;
        if (kept == 0)
            return true;
    }
}

// The path itself if it exists, else the nearest existing folder above it.
static void nearest(char *out, size_t size, const char *path) {
    struct stat status;
    snprintf(out, size, "%s", path);
    while (lstat(out, &status) != 0 && (errno == ENOENT || errno == ENOTDIR))
        snprintf(out, size, "%s", FOLDER_OF(out));
}

bool file_check_folder(const char *path, Error *err) {
    char there[PATH_BYTES];
    if (path[0] == 0 || strlen(path) >= sizeof there)
        return error_set(err, EXIT_CANNOT_WRITE, "'%s' cannot be the name of a folder", path);
    nearest(there, sizeof there, path);
    if (!file_is_folder(there))
        return no_folder(err, there);
    char *probe = PATH_IN(there, ".fringe-XXXXXX");
    if (mkdtemp(probe) == NULL)
        return strcmp(there, path) == 0
                   ? error_cannot(err, EXIT_CANNOT_WRITE, "write in it", path)
                   : error_set(err, EXIT_CANNOT_WRITE, "%s: cannot make the folder in %s: %s", path,
                               there, strerror(errno));
    rmdir(probe);
    return true;
}

FileNames file_names(const char *folder) { return (FileNames){.folder = opendir(folder)}; }

bool file_next(FileNames *names, bool more) {
    struct dirent *entry;
    while (names->folder != NULL && more && (entry = readdir(names->folder)) != NULL) {
        names->name = entry->d_name;
        if (strcmp(names->name, ".") != 0 && strcmp(names->name, "..") != 0)
            return true;
    }
    if (names->folder != NULL)
        closedir(names->folder);
    names->folder = NULL;
    return false;
}

static bool remove_contents(const char *path, Error *err) {
    bool ok = true;
    FileNames in = file_names(path);
    if (in.folder == NULL)
        return error_cannot(err, EXIT_IO, "open the folder", path);
    while (file_next(&in, ok))
        ok = file_remove(PATH_IN(path, in.name), err);
    return ok;
}

bool file_remove(const char *path, Error *err) {
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT || errno == ENOTDIR || error_cannot(err, EXIT_IO, "look at", path);
    bool folder = S_ISDIR(status.st_mode); // a link to a folder is removed, not followed
    if (folder && !remove_contents(path, err))
        return false;
    if ((folder ? rmdir(path) : unlink(path)) != 0 && errno != ENOENT)
        return error_cannot(err, EXIT_CANNOT_WRITE, "remove", path);
    return true;
}

void file_sweep(const char *folder) {
    for (FileNames in = file_names(folder); file_next(&in, true);) {
        const char *path = PATH_IN(folder, in.name);
        if (file_is_left_over(path))
            file_remove(path, &(Error){0});
    }
}
