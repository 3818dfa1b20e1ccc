// If this failed, a crash while a file is replaced could leave neither the old nor the new one.

#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static bool holds(const char *path, const char *text) {
    size_t bytes;
    char *data = test_read(path, &bytes);
    return bytes == strlen(text) && memcmp(data, text, bytes) == 0;
}

typedef bool Replace(const char *path, const void *data, size_t bytes, Error *err);

// What must not be done: for the test of the test.
static bool overwrite_in_place(const char *path, const void *data, size_t bytes, Error *err) {
    FileWriter writer;
    return file_writer_open(&writer, path, err) && file_writer_put(&writer, data, 1, err) &&
           file_writer_put(&writer, (const char *)data + 1, bytes - 1, err) &&
           file_writer_close(&writer, true, err);
}

// Runs a replacement in a child that dies after its n-th step; true if it lived to the end.
static bool survives(Replace *replace, const char *path, const char *text, int n) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        setenv("FRINGE_TEST_STOP_STEP", test_text("%d", n), 1);
        _exit(replace(path, text, strlen(text), &(Error){0}) ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    assert_true((WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ||
                (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    return WIFEXITED(status);
}

// True if after a death at every step the file holds the old text or the new one, whole.
static bool always_whole(Replace *replace) {
    const char *path = test_path("state");
    for (int n = 1; n < 100; n++) {
        test_write_text(path, "the old text");
        bool lived = survives(replace, path, "the new and longer text", n);
        if (!holds(path, "the new and longer text") && (lived || !holds(path, "the old text")))
            return false;
        if (lived)
            return n > 4; // it has a write, a sync, a rename and a sync of the folder
    }
    return false;
}

TEST(a_file_is_whole_after_a_death_at_any_step) {
    assert_true(always_whole(file_replace));
    assert_false(always_whole(overwrite_in_place));
}

TEST(replacing_keeps_the_folder_clean) {
    const char *folder = test_path("clean");
    assert_ok(file_make_folder(folder, &err));
    assert_ok(file_replace(test_path("clean/x"), "abc", 3, &err));
    assert_ok(file_replace(test_path("clean/x"), "", 0, &err));
    assert_int_equal(file_size(test_path("clean/x")), 0);
    assert_int_equal(unlink(test_path("clean/x")), 0);
    assert_int_equal(rmdir(folder), 0); // nothing else was in it
}

// The disk is full, as far as this process can see: files end at 1000 bytes.
TEST(a_write_that_stops_is_said_and_leaves_the_old_file) {
    Error err = {0};
    const char *path = test_path("full");
    test_write_text(path, "old");
    char *large = TEST_ARRAY(char, 5000);
    test_file_limit(1000);
    bool replaced = file_replace(path, large, 5000, &err);
    test_file_limit(-1);
    assert_false(replaced);
    assert_error(&err, EXIT_IO, "cannot write: File too large");
    assert_true(holds(path, "old"));
}

// Whoever can guess the next names has put links there, to a file that must stay as it is.
TEST(a_temporary_is_nobody_elses) {
    char name[1200], plain[1300];
    const char *victim = test_path("victim");
    test_write_text(victim, "precious");
    assert_ok(file_temporary(name, sizeof name, test_path("guessed"), &err));
    int next = atoi(strrchr(name, '-') + 1) + 1;
    *strrchr(name, '-') = 0;
    for (int i = 0; i < 5; i++) {
        snprintf(plain, sizeof plain, "%s-%d", name, next + i);
        assert_int_equal(symlink(victim, plain), 0);
    }
    snprintf(plain, sizeof plain, "%s.tmp.%d", test_path("guessed"), (int)getpid());
    assert_int_equal(symlink(victim, plain), 0);
    assert_ok(file_replace(test_path("guessed"), "new", 3, &err));
    assert_true(holds(test_path("guessed"), "new") && holds(victim, "precious"));
}

// As the writer of them would have been killed: on this machine, or on another a long time ago.
TEST(what_the_dead_left_is_swept) {
    static const char *theirs[] = {"thesis.tmp-2026-01-15", "a.fringe-tmp-v-1-2",
                                   "a.fringe-tmp-h.1-2-3x", "a.fringe-tmp-h.1-2",
                                   "a.fringe-tmp-2026-01-15"};
    enum { DEAD, DEAD_FOLDER, OLD, MINE, YOUNG, THEIRS, FILES = THEIRS + 5 };
    char path[FILES][1200];
    struct timespec long_ago[2] = {{.tv_sec = 1000000}, {.tv_sec = 1000000}};
    int dead = test_dead_process();
    assert_ok(file_make_folder(test_path("left"), &err));
    test_temporary(path[DEAD], test_path("left/run.json"), dead);
    test_temporary(path[DEAD_FOLDER], test_path("left/.writing"), dead);
    snprintf(path[OLD], sizeof path[0], "%s",
             test_path("left/run.json.fringe-tmp-a-machine.7-1-0"));
    test_temporary(path[MINE], test_path("left/run.json"), getpid());
    snprintf(path[YOUNG], sizeof path[0], "%s",
             test_path("left/run.json.fringe-tmp-a-machine.7-2-0"));
    for (int i = THEIRS; i < FILES; i++)
        snprintf(path[i], sizeof path[0], "%s/%s", test_path("left"), theirs[i - THEIRS]);
    for (int i = 0; i < FILES; i++)
        if (i != DEAD_FOLDER)
            test_write_text(path[i], "x");
    assert_ok(file_make_folder(path[DEAD_FOLDER], &err));
    assert_int_equal(utimensat(AT_FDCWD, path[OLD], long_ago, 0), 0);
    for (int i = THEIRS; i < FILES; i++)
        assert_int_equal(utimensat(AT_FDCWD, path[i], long_ago, 0), 0);
    file_sweep(test_path("left"));
    for (int i = 0; i < FILES; i++)
        if (file_exists(path[i]) != (i >= MINE))
            fail_msg("%s %s", path[i], i >= MINE ? "is gone" : "is there");
}

TEST(two_change_places) {
    bool done = false;
    test_write_text(test_path("one"), "one");
    test_write_text(test_path("other"), "other");
    assert_ok(file_exchange(test_path("one"), test_path("other"), &done, &err));
    if (!done)
        skip(); // not every filesystem can
    assert_true(holds(test_path("one"), "other") && holds(test_path("other"), "one"));
    assert_ok(file_exchange(test_path("one"), test_path("nobody"), &done, &err));
    assert_false(done);
}

TEST(reading_is_bounded) {
    size_t bytes;
    test_write_text(test_path("ten"), "0123456789");
    char *data = assert_ok(file_read(test_path("ten"), 10, &bytes, &err));
    assert_int_equal(bytes, 10);
    assert_string_equal(data, "0123456789");
    memory_free(data);
    assert_refused(file_read(test_path("ten"), 9, &bytes, &err), EXIT_DATA, "10 bytes");
    assert_refused(file_read(test_path("nine"), 9, &bytes, &err), EXIT_NO_INPUT,
                   "nine: cannot open: No such file");
    assert_refused(file_read(test_folder(), 9, &bytes, &err), EXIT_DATA,
                   "is not a regular file but a folder");
}

// The test would wait for a writer that never comes, and die of the alarm.
TEST(what_is_no_file_is_refused_at_once) {
    size_t bytes;
    char text[33];
    assert_int_equal(mkfifo(test_path("pipe"), 0600), 0);
    alarm(20);
    assert_refused(file_read(test_path("pipe"), 9, &bytes, &err), EXIT_DATA,
                   "pipe: is not a regular file but a pipe");
    assert_refused(hash_file(test_path("pipe"), text, &err), EXIT_DATA, "but a pipe");
    assert_refused(file_read("/dev/zero", 9, &bytes, &err), EXIT_DATA, "but a device");
    assert_refused(hash_file("/dev/ptmx", text, &err), EXIT_DATA, "but a device");
    alarm(0);
}

TEST(folders_come_and_go) {
    assert_ok(file_make_folder(test_path("a/b/c"), &err));
    assert_ok(file_make_folder(test_path("a/b/c/"), &err));
    test_write_text(test_path("a/b/file"), "x");
    test_write_text(test_path("outside"), "x");
    assert_int_equal(symlink(test_folder(), test_path("a/link")), 0);
    assert_refused(file_make_folder(test_path("a/b/file/d"), &err), EXIT_CANNOT_WRITE,
                   "is a file, not a folder");
    Error blocked = {0}; // nobody makes folders there
    assert_false(file_make_folder("/sys/fringe", &blocked));
    assert_error(&blocked, EXIT_CANNOT_WRITE, "cannot make the folder");
    assert_null(strstr(blocked.text, strerror(ENOENT)));
    assert_true(file_is_folder(test_path("a/b")) && !file_is_folder(test_path("a/b/file")));
    assert_ok(file_remove(test_path("a"), &err));
    assert_ok(file_remove(test_path("a"), &err));
    assert_false(file_exists(test_path("a")));
    assert_true(file_exists(test_path("outside"))); // behind the link
    assert_int_equal(file_size(test_path("a")), -1);
}

TEST(paths_are_cut_and_joined) {
    char out[64];
    static const char *const joined[][3] = {
        {"a", "b", "a/b"}, {"a/", "b", "a/b"}, {"a", "/b", "/b"}, {"", "b", "b"}, {"/", "b", "/b"}};
    for (size_t i = 0; i < sizeof joined / sizeof joined[0]; i++) {
        path_join(out, sizeof out, joined[i][0], joined[i][1]);
        assert_string_equal(out, joined[i][2]);
    }
    static const char *const cut[][3] = {
        {"a/b", "a", "b"}, {"b", ".", "b"}, {"/b", "/", "b"}, {"/a/b.c", "/a", "b.c"}};
    for (size_t i = 0; i < sizeof cut / sizeof cut[0]; i++) {
        path_folder(out, sizeof out, cut[i][0]);
        assert_string_equal(out, cut[i][1]);
        assert_string_equal(path_name(cut[i][0]), cut[i][2]);
    }
}

// XXH3 of the empty text with seed 0, from the xxHash test vectors.
TEST(hashes_are_xxh3) {
    char text[33], pieces[33], file[33];
    Hash *hash = hash_new();
    hash_end(hash, text);
    assert_string_equal(text, "99aa06d3014798d86001c324468d497f");
    assert_true(hash_bytes("", 0) == 0x2d06800538d394c2u);
    hash = hash_new();
    hash_add(hash, "0123", 4);
    hash_add(hash, "", 0);
    hash_add(hash, "456789", 6);
    hash_end(hash, pieces);
    test_write_text(test_path("digits"), "0123456789");
    assert_ok(hash_file(test_path("digits"), file, &err));
    assert_string_equal(pieces, file);
    assert_string_not_equal(text, file);
    assert_refused(hash_file(test_path("absent"), file, &err), EXIT_NO_INPUT, "absent");
}

// Long enough for vectors; the values are those of the library's plain C.
TEST(hashes_do_not_depend_on_vectors) {
    enum { BYTES = 5000 };
    unsigned char data[BYTES];
    char text[33];
    for (int i = 0; i < BYTES; i++)
        data[i] = (unsigned char)(i * 7);
    Hash *hash = hash_new();
    hash_add(hash, data, 1999);
    hash_add(hash, data + 1999, BYTES - 1999);
    hash_end(hash, text);
    assert_string_equal(text, "a4ba2a60fb07e0166abe8be5abcb2760");
    assert_true(hash_bytes(data, BYTES) == 0x6abe8be5abcb2760u);
}
