// If this failed, run.backend=auto would leave a device idle, or would end a training that the CPU
// can run; or a backend that was asked for by its name would be another one; or a user would be
// told a wrong reason why there is no plug-in.
#include "internal.h"
#include "support.h"

static int tried;
static bool starts;

static bool start_device(const BackendStart *how, Error *err) {
    assert_int_equal(how->node_rank, 3);
    tried++;
    return starts || error_set(err, EXIT_UNAVAILABLE, "no driver");
}

static bool start_cpu(const BackendStart *how, Error *err) {
    (void)how, (void)err;
    return true;
}

static const Backend cpu = {.name = "cpu", .start = start_cpu};
static const Backend other = {.name = "other", .start = start_cpu}; // as fenced, no device
static const Backend device = {.name = "device", .is_device = true, .start = start_device};
static const Backend *const table[] = {&other, &cpu, &device};
static const Family family = FAMILY_OF_POINTERS("run.backend", "auto", table);

static const Backend *opened(const char *name, Error *err) {
    tried = 0;
    return backend_open_in(&family, name, &(BackendStart){.node_rank = 3}, err);
}

TEST(auto_is_the_first_device_that_starts) {
    Error err = {0};
    starts = true;
    assert_ptr_equal(opened("auto", &err), &device);
    starts = false;
    assert_ptr_equal(opened("auto", &err), &cpu);
    assert_int_equal(tried, 1);
    assert_int_equal(err.code, 0); // why the device did not start is for doctor
}

TEST(a_name_is_that_backend_or_an_error) {
    starts = false;
    assert_ptr_equal(assert_ok(opened("cpu", &err)), &cpu);
    assert_int_equal(tried, 0);
    assert_ptr_equal(assert_ok(opened("other", &err)), &other);
    assert_refused(opened("device", &err) != NULL, EXIT_UNAVAILABLE, "no driver");
    assert_refused(opened("abacus", &err) != NULL, EXIT_CONFIG, "one of other, cpu, device, auto");
}

TEST(a_missing_plugin_has_a_true_reason) {
    test_write_text(test_path("there.so"), "built");
    const char *folder = test_folder();
    const struct {
        const char *built_in, *file, *part;
    } cases[] = {
        {"", "there.so", "where no CUDA compiler was found; put nvcc on the PATH"},
        {"OFF", "there.so", "FRINGE_CUDA=OFF or FRINGE_SANITIZE=ON"},
        {folder, "gone.so", "was not built, though a CUDA compiler was found; `cmake --build"},
        {folder, "there.so", "was built, but not copied; copy"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[PLUGIN_SENTENCE];
        if (strstr(plugin_missing(out, cases[i].built_in, cases[i].file), cases[i].part) == NULL)
            fail_msg("case %zu: %s", i, out);
        assert_int_equal(strstr(out, folder) != NULL, cases[i].built_in == folder);
    }
}
