// Loading a backend's library, and the row of the family that does so when a training names it.
#include "plugin.h"
#include "internal.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const PluginHost host = {.memory_alloc = memory_alloc,
                                .memory_free = memory_free,
                                .clock_seconds = clock_seconds,
                                .error_set = error_set,
                                .check_failed = check_failed,
                                .operation_begin = operation_begin,
                                .operation_end = operation_end};

static bool check_plugin(const Plugin *plugin, const char *path, const char *name, Error *err) {
    if (plugin == NULL)
        return error_set(err, EXIT_UNAVAILABLE, "run.backend '%s': %s is no plug-in of fringe",
                         name, path);
    if (strcmp(plugin->abi, FRINGE_ABI) != 0)
        return error_set(err, EXIT_UNAVAILABLE,
                         "run.backend '%s': %s was built for another version of fringe (its ABI is "
                         "%s, that of this program %s); build and install both together",
                         name, path, plugin->abi, FRINGE_ABI);
    if (strcmp(plugin->name, name) != 0)
        return error_set(err, EXIT_UNAVAILABLE, "run.backend '%s': %s is the backend '%s'", name,
                         path, plugin->name);
    return true;
}

bool plugin_load(Backend *into, const char *path, const char *name, Error *err) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); // stays: its table points into it
    if (library == NULL)
        return error_set(err, EXIT_UNAVAILABLE,
                         "run.backend '%s': the plug-in cannot be loaded: %s; install the CUDA "
                         "libraries that it names or add their folder to LD_LIBRARY_PATH, or set "
                         "run.backend to cpu",
                         name, dlerror());
    const Plugin *plugin = dlsym(library, "fringe_plugin");
    if (!check_plugin(plugin, path, name, err))
        return false;
    *into = *plugin->open(&host);
    return true;
}

const char *plugin_missing(char out[PLUGIN_SENTENCE], const char *built_in, const char *file) {
    char built[PLUGIN_SENTENCE / 2];
    snprintf(built, sizeof built, "%s/%s", built_in, file);
    if (built_in[0] == 0)
        snprintf(
            out, PLUGIN_SENTENCE,
            "fringe was built where no CUDA compiler was found; put nvcc on the PATH or name it "
            "in CUDACXX, and configure and build again");
    else if (strcmp(built_in, "OFF") == 0)
        snprintf(out, PLUGIN_SENTENCE,
                 "fringe was built with FRINGE_CUDA=OFF or FRINGE_SANITIZE=ON; configure and build "
                 "it again without that");
    else if (access(built, F_OK) != 0)
        snprintf(out, PLUGIN_SENTENCE,
                 "it was not built, though a CUDA compiler was found; `cmake --build %s --target "
                 "programs` builds it",
                 built_in);
    else
        snprintf(out, PLUGIN_SENTENCE, "it was built, but not copied; copy %s beside the program",
                 built);
    return out;
}

// ---- the row "cuda"

static const char library_name[] = "libfringe-cuda.so";
static char path[PATH_BYTES + 64]; // of the plug-in, once it was found
static bool is_loaded;
static bool (*start_loaded)(const BackendStart *how, Error *err);

// In the folder of the program, as the build puts it, or in ../lib/fringe, as an installation does.
static bool find_plugin(Error *err) {
    static const char *const folders[] = {"", "../lib/fringe/"};
    char program[PATH_BYTES] = "";
    if (readlink("/proc/self/exe", program, sizeof program - 1) < 0)
        return error_set(err, EXIT_UNAVAILABLE, "run.backend 'cuda': /proc is not mounted");
    char *slash = strrchr(program, '/');
    assert(slash != NULL); // the path is absolute
    *slash = 0;
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s%s", program, folders[i], library_name);
        if (access(path, F_OK) == 0)
            return true;
    }
    char why[PLUGIN_SENTENCE];
    return error_set(err, EXIT_UNAVAILABLE,
                     "run.backend 'cuda': there is no %s in %s or %s/../lib/fringe: %s, or set "
                     "run.backend to cpu",
                     library_name, program, program,
                     plugin_missing(why, FRINGE_CUDA_BUILD, library_name));
}

static const char *say_plugin(void) {
    static char text[sizeof path + sizeof ", ABI " FRINGE_ABI];
    snprintf(text, sizeof text, "%s, ABI %s", path, FRINGE_ABI);
    return text;
}

static bool start_cuda(const BackendStart *how, Error *err) {
    if (!is_loaded) {
        if (!find_plugin(err) || !plugin_load(&backend_cuda, path, "cuda", err))
            return false;
        is_loaded = true;
        start_loaded = backend_cuda.start;
        backend_cuda.start = start_cuda;
        backend_cuda.plugin = say_plugin;
    }
    return start_loaded(how, err);
}

static const char *describe_nothing(void) { return "not loaded"; }

Backend backend_cuda = {
    .name = "cuda", .is_device = true, .start = start_cuda, .describe = describe_nothing};
