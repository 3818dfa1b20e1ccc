// If this failed, the files that a config names would be looked for in another place than its page
// says, or a cache would be made where others can write into it.
#include "load.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

TEST(paths_are_looked_for_beside_the_config_then_in_the_data_folder) {
    Config config;
    char expected[2048];
    const char *data = test_text("%s/data", test_folder());
    assert_ok(file_make_folder(data, &err));
    setenv("FRINGE_DATA", data, 1);
    path_join(expected, sizeof expected, data, "g.npz");
    test_write_text(expected, "x");
    load(&config, "{\"data\": {\"path\": \"g.npz\", \"labels\": \"none.npy\"}}", NULL, 0);
    assert_string_equal(config.data.path, expected);
    path_join(expected, sizeof expected, test_folder(), "none.npy"); // found nowhere: beside it
    assert_string_equal(config.data.labels, expected);
    test_write_text(test_path("g.npz"), "nearer");
    load(&config, "{\"data\": {\"path\": \"g.npz\"}}", NULL, 0);
    assert_string_equal(config.data.path, test_path("g.npz"));
    path_join(expected, sizeof expected, data, "v.npy");
    test_write_text(expected, "x");
    load(&config, "{\"data\": {\"split_keys\": [\"train_idx\", \"v.npy\", \"t.npy\"]}}", NULL, 0);
    assert_string_equal(config.data.split_keys.word[0], "train_idx"); // an array's name
    assert_string_equal(config.data.split_keys.word[1], expected);
    assert_string_equal(config.data.split_keys.word[2], test_path("t.npy"));
    unsetenv("FRINGE_DATA");
}

TEST(caches_lie_where_the_desktop_says) {
    Config config;
    setenv("XDG_CACHE_HOME", "/somewhere", 1);
    load(&config, "{}", NULL, 0);
    assert_string_equal(config.data.cache, "/somewhere/fringe");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/home/me", 1);
    load(&config, "{}", NULL, 0);
    assert_string_equal(config.data.cache, "/home/me/.cache/fringe");
}

// As another user whose number nobody has, so that the folder in /tmp is none that is in use.
static uid_t become_nobody(void) {
    uid_t number = 1000000000 + (uid_t)getpid();
    if (geteuid() == 0 && setresuid(number, number, 0) != 0)
        return 0;
    unsetenv("HOME");
    unsetenv("XDG_CACHE_HOME");
    return geteuid();
}

static int made(const char *path, bool expected) { // 0: as expected
    Config config;
    struct stat status;
    Error err = {0}, late = {0};
    bool loaded = config_load(&config, NULL, NULL, 0, &err);
    snprintf(config.data.cache, sizeof config.data.cache, "%s", path);
    bool right = config_make_cache(&config, &late) == expected;
    if (expected)
        return !(right && loaded && stat(path, &status) == 0 && (status.st_mode & 07777) == 0700);
    return !(right && !loaded && err.code == EXIT_CANNOT_WRITE && late.code == EXIT_CANNOT_WRITE &&
             strstr(err.text, path) != NULL && strstr(err.text, "data.cache") != NULL);
}

static int cache_of_nobody(void) { // 0: all as expected
    char path[64];
    snprintf(path, sizeof path, "/tmp/fringe-cache-%ld", (long)become_nobody());
    if (access(path, F_OK) == 0)
        return 77;
    umask(0);
    int wrong = made(path, true) || made(path, true);
    wrong = wrong || chmod(path, 0755) != 0 || made(path, false);
    wrong = wrong || rmdir(path) != 0 || symlink("/tmp", path) != 0 || made(path, false);
    wrong = wrong || unlink(path) != 0;
    // another user's, closed or open
    for (int mode = 0700; geteuid() != 0 && mode <= 0777 && seteuid(0) == 0; mode += 077) {
        wrong = wrong || mkdir(path, (mode_t)mode) != 0;
        wrong = wrong || seteuid(getuid()) != 0 || made(path, false) || seteuid(0) != 0;
        wrong = wrong || rmdir(path) != 0 || seteuid(getuid()) != 0;
    }
    return wrong;
}

TEST(a_cache_in_a_shared_place_is_ours_alone) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        _exit(cache_of_nobody());
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}
