// One run per folder. An open-file-description write lock on `.lock` decides; it ends with the
// process in any case. The file's text only tells others who holds it.
//
// On a file system without locks the file itself is the lock: it is made exclusively, and a thread
// renews it every renew_seconds. A file is stale if it was not renewed for stale_seconds, or if its
// process ran on this machine and has ended.

#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const int renew_seconds = 10, stale_seconds = 60;

struct RunLock {
    int file;
    char path[PATH_BYTES];
    bool renewed; // the file itself is the lock
    bool ended;
    pthread_t renewer;
    pthread_mutex_t mutex;
    pthread_cond_t end;
};

static LockAnswer cannot(const char *path, Error *err) {
    error_cannot(err, EXIT_CANNOT_WRITE, "lock the folder", path);
    return LOCK_FAILED;
}

// ---- the text: "pid 12 on host-a since 2026-11-22 18:40:12", and in the second line the process
// as file_process names it

static bool write_holder(int file) {
    char host[64] = "", since[32], process[128], text[320];
    time_t now = time(NULL);
    struct tm parts;
    gethostname(host, sizeof host - 1);
    strftime(since, sizeof since, "%Y-%m-%d %H:%M:%S", localtime_r(&now, &parts));
    file_process(process, sizeof process);
    int bytes = snprintf(text, sizeof text, "pid %ld on %s since %s\n%s\n", (long)getpid(), host,
                         since, process);
    return ftruncate(file, 0) == 0 && pwrite(file, text, (size_t)bytes, 0) == bytes;
}

static void read_text(const char *path, char *text, size_t size) {
    CLEARED(descriptor_drop) int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t bytes = file >= 0 ? read(file, text, size - 1) : 0;
    text[bytes > 0 ? bytes : 0] = 0;
}

static void read_holder(const char *path, char *holder, size_t size) {
    read_text(path, holder, size);
    holder[strcspn(holder, "\n")] = 0;
    for (char *c = holder; *c != 0; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
    if (holder[0] == 0)
        snprintf(holder, size, "an unknown process");
}

bool lock_is_ours(const char *path) {
    char text[5];
    read_text(path, text, sizeof text);
    return text[0] == 0 || strcmp(text, "pid ") == 0;
}

// True if the process that wrote the text has ended. A line without a newline is still being
// written.
static bool holder_is_gone(const char *path) {
    char text[320];
    read_text(path, text, sizeof text);
    char *process = strchr(text, '\n'), *end = process != NULL ? strchr(process + 1, '\n') : NULL;
    if (end == NULL)
        return false;
    *end = 0;
    return file_process_is_gone(process + 1);
}

// ---- file systems without locks

static bool is_stale(const char *path, time_t now) {
    struct stat status;
    return stat(path, &status) == 0 &&
           (now - status.st_mtime > stale_seconds || holder_is_gone(path));
}

// The file server's clock, read from a file just written there.
static time_t server_time(const char *path) {
    char beside[PATH_BYTES + 64];
    struct stat status = {.st_mtime = time(NULL)};
    int file = file_temporary(beside, sizeof beside, path, &(Error){0})
                   ? open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666)
                   : -1;
    if (file >= 0) {
        (void)!write(file, "", 1);
        fstat(file, &status);
        close(file);
        unlink(beside);
    }
    return status.st_mtime;
}

static void *renew(void *context) {
    RunLock *lock = context;
    pthread_mutex_lock(&lock->mutex);
    while (!lock->ended) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += renew_seconds;
        pthread_cond_timedwait(&lock->end, &lock->mutex, &until);
        if (!lock->ended)
            futimens(lock->file, NULL);
    }
    pthread_mutex_unlock(&lock->mutex);
    return NULL;
}

static bool start_renewing(RunLock *lock) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_cond_init(&lock->end, NULL);
    pthread_sigmask(SIG_SETMASK, &all, &before); // other threads handle signals
    int status = pthread_create(&lock->renewer, NULL, renew, lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = status;
    return status == 0;
}

// Moves a stale lock away. If two processes try, the second finds it gone, or puts back the new
// lock of the first.
static bool take_over(const char *path, time_t now, const Sink *sink) {
    char away[PATH_BYTES + 64];
    if (!file_temporary(away, sizeof away, path, &(Error){0}) || rename(path, away) != 0)
        return false;
    bool stale = is_stale(away, now);
    if (!stale)
        (void)!link(away, path);
    else
        sink_warn(sink, "%s was left by a run that has ended", SHOWN(path));
    unlink(away);
    return stale;
}

static LockAnswer start_renewed(RunLock *lock) {
    lock->renewed = lock->file >= 0 && start_renewing(lock);
    return lock->renewed ? LOCK_TAKEN : errno == EEXIST ? LOCK_BUSY : LOCK_FAILED;
}

static LockAnswer try_renewed(RunLock *lock, bool made, const Sink *sink) {
    if (made)
        return start_renewed(lock);
    time_t now = server_time(lock->path);
    if (!is_stale(lock->path, now) || !take_over(lock->path, now, sink))
        return LOCK_BUSY;
    close(lock->file);
    lock->file = open(lock->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    return start_renewed(lock);
}

// ---- both kinds

static bool has_no_locks(int reason) {
    return reason == ENOLCK || reason == EOPNOTSUPP || reason == ENOSYS || reason == EINVAL;
}

static LockAnswer try_lock(RunLock *lock, bool made, const Sink *sink) {
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(lock->file, F_OFD_SETLK, &whole) == 0)
        return LOCK_TAKEN;
    if (errno == EAGAIN || errno == EACCES)
        return LOCK_BUSY;
    return has_no_locks(errno) ? try_renewed(lock, made, sink) : LOCK_FAILED;
}

// Opens the file; *made: it is new. EAGAIN: the file has just vanished because the run that held it
// ended.
static int open_lock(const char *path, bool *made) {
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    *made = file >= 0;
    if (*made || errno != EEXIST)
        return file;
    file = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0 && errno == ENOENT)
        errno = EAGAIN;
    return file;
}

LockAnswer lock_try(RunLock **out, const char *folder, char *holder, size_t size, const Sink *sink,
                    Error *err) {
    RunLock *lock = ALLOC(RunLock, 1, "lock of a run's folder");
    bool made;
    path_join(lock->path, sizeof lock->path, folder, LOCK_NAME);
    lock->file = open_lock(lock->path, &made);
    LockAnswer answer = lock->file >= 0   ? try_lock(lock, made, sink)
                        : errno == EAGAIN ? LOCK_BUSY
                                          : LOCK_FAILED;
    if (answer == LOCK_TAKEN && !write_holder(lock->file))
        answer = LOCK_FAILED;
    if (answer == LOCK_TAKEN) {
        *out = lock;
        return answer;
    }
    if (answer == LOCK_FAILED)
        cannot(lock->path, err);
    else
        read_holder(lock->path, holder, size);
    lock_release(lock);
    return answer;
}

// Asks without taking the lock. A file system without locks has the file only while a run holds it.
bool runfolder_is_locked(const char *path) {
    struct flock whole = {.l_type = F_RDLCK, .l_whence = SEEK_SET};
    const char *file_path = PATH_IN(path, LOCK_NAME);
    CLEARED(descriptor_drop)
    int file = open(file_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (file < 0)
        return false;
    return fcntl(file, F_OFD_GETLK, &whole) == 0 ? whole.l_type != F_UNLCK
                                                 : !is_stale(file_path, time(NULL));
}

void lock_release(RunLock *lock) {
    if (lock == NULL)
        return;
    if (lock->renewed) {
        pthread_mutex_lock(&lock->mutex);
        lock->ended = true;
        pthread_cond_signal(&lock->end);
        pthread_mutex_unlock(&lock->mutex);
        pthread_join(lock->renewer, NULL);
        unlink(lock->path);
    }
    if (lock->file >= 0)
        close(lock->file);
    memory_free(lock);
}
