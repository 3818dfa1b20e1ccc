// fringe doctor: tries what a training needs from a machine, and prints how to repair what fails. A
// check is a row of the table. With a CONFIG the checks of doctor_config.c follow: whether this
// machine can run that very config.

#include "internal.h"

#include <net/if.h>
#include <sys/statvfs.h>
#include <unistd.h>

static double gibibytes(double bytes) { return bytes / (1 << 30); }

// Starts two ranks, which exchange a message and stop.
static Health check_mpi(Finding *finding) {
    char version[COMM_LIBRARY], program[PATH_BYTES];
    comm_library(version);
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = 0;
    char *command[] = {program, "probe", "--ranks", "2", NULL};
    int code = launch_quietly(command, 30);
    SAY("%s; 2 ranks %s", version, code == 0 ? "start, talk and stop" : "do not run");
    if (code == EXIT_UNAVAILABLE)
        CURE("install mpirun: apt install openmpi-bin");
    else if (code != 0)
        CURE("run \"fringe probe --ranks 2\" and read the messages of mpirun");
    return code == 0 ? HEALTH_OK : HEALTH_FAIL;
}

// Open MPI counts one slot for each core, or as many as a hostfile says.
static Health check_slots(Finding *finding) {
    const char *tasks = getenv("SLURM_NTASKS");
    if (tasks != NULL)
        SAY("Slurm gives %s tasks", tasks);
    else
        SAY("%d cores; more ranks than that share them\nYour own mpirun wants --oversubscribe for "
            "more ranks than slots%s.",
            threads_on_node(), geteuid() == 0 ? ", and --allow-run-as-root from root" : "");
    return HEALTH_OK;
}

// Bridges have the same addresses on every host, so Open MPI may try to reach another host through
// its own.
static Health check_network(Finding *finding) {
    struct if_nameindex *all = if_nameindex();
    const char *other = "NAME", *bridge = NULL;
    for (int i = 0; all != NULL && all[i].if_index != 0; i++)
        if (text_begins("docker br- virbr podman cni lxcbr", all[i].if_name))
            bridge = all[i].if_name;
        else if (strcmp(all[i].if_name, "lo") != 0 && strncmp(all[i].if_name, "veth", 4) != 0)
            other = all[i].if_name;
    SAY("no bridge of containers");
    if (bridge != NULL) {
        SAY("%s is a bridge of containers, which leads to no other host", bridge);
        CURE("between hosts: mpirun --mca btl_tcp_if_include %s --mca oob_tcp_if_include %s", other,
             other);
    }
    if_freenameindex(all);
    return HEALTH_OK;
}

static Health check_affinity(Finding *finding) {
    int allowed = threads_allowed(), cores = threads_on_node();
    SAY("this process may use %d of %d cores", allowed, cores);
    if (allowed < cores)
        CURE("under your own mpirun add --bind-to none; elsewhere see taskset, cgroups");
    return allowed < cores ? HEALTH_WARN : HEALTH_OK;
}

static Health check_threads(Finding *finding) {
    const char *wanted = getenv("OMP_NUM_THREADS");
    int threads = threads_set((int)finding->config->run.threads, 1);
    SAY("1 rank would use %d threads; OMP_NUM_THREADS is %s", threads,
        wanted != NULL ? wanted : "not set");
    if (threads > threads_allowed())
        CURE("set run.threads to at most %d, or leave it 0", threads_allowed());
    return threads > threads_allowed() ? HEALTH_WARN : HEALTH_OK;
}

static Health check_kernels(Finding *finding) {
    const Config *config = finding->config;
    Error err = {0};
    bool measured = strcmp(config->run.precision, "auto") == 0; // then what starts is taken
    const BackendStart how = {.vectors = config->run.simd,
                              .spmm = config->run.spmm,
                              .precision = measured ? "fp32" : config->run.precision,
                              .sums = config->run.bf16_sums};
    const Backend *backend = backend_open(config->run.backend, &how, &err);
    if (backend == NULL) {
        SAY("%.400s", err.text);
        CURE("set run.backend to cpu, run.simd to auto, and run.precision to fp32 or bf16");
        return HEALTH_FAIL;
    }
    SAY("%s: %s", backend->name, backend->describe());
    const char *core = getenv("OPENBLAS_CORETYPE");
    if (core != NULL && strstr(backend->describe(), "oneDNN") == NULL) {
        CURE("OPENBLAS_CORETYPE=%s may slow dense products down; unset it", core);
        return HEALTH_WARN;
    }
    return HEALTH_OK;
}

#define SAY_MORE(...) text_add(finding->text, sizeof finding->text, "\n", __VA_ARGS__)

// What every backend of a device says. Only the one that the config names must start.
static Health check_devices(Finding *finding) {
    const Config *config = finding->config;
    Health health = HEALTH_OK;
    for (int i = 0; i < backend_family.count; i++) {
        const Backend *backend = family_member(&backend_family, i);
        Error err = {0};
        if (!backend->is_device)
            continue;
        if (backend->start(&(BackendStart){.vectors = config->run.simd, .spmm = config->run.spmm},
                           &err)) {
            SAY_MORE("%s: %.500s", backend->name, backend->describe());
            continue;
        }
        SAY_MORE("%.500s", err.text);
        if (strcmp(config->run.backend, backend->name) == 0) {
            CURE("repair what it says, or set run.backend to cpu or auto");
            health = HEALTH_FAIL;
        }
    }
    if (finding->text[0] == 0)
        SAY("this fringe was built without backends of devices");
    SAY_MORE("CUDA-aware MPI: %s", comm_cuda_support() ? "yes" : "no");
    return health;
}

static Health check_memory(Finding *finding) {
    double free_bytes = (double)memory_available();
    SAY("%.1f GiB for this process", gibibytes(free_bytes));
    if (free_bytes < 1 << 30)
        CURE("close other programs or use more machines");
    return free_bytes < 1 << 30 ? HEALTH_WARN : HEALTH_OK;
}

// Ranks of one machine communicate through /dev/shm: about 4 MiB per rank; a container has 64 MiB
// unless told otherwise.
static Health check_shared_memory(Finding *finding) {
    struct statvfs disk;
    if (statvfs("/dev/shm", &disk) != 0) {
        SAY("/dev/shm does not exist");
        CURE("mount it: mount -t tmpfs tmpfs /dev/shm");
        return HEALTH_FAIL;
    }
    double bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    SAY("/dev/shm has %.2f GiB free", gibibytes(bytes));
    if (bytes < 64e6)
        CURE("make it larger (docker: --shm-size=1g); ranks of one machine talk through it");
    return bytes < 8e6 ? HEALTH_FAIL : bytes < 64e6 ? HEALTH_WARN : HEALTH_OK;
}

static Health check_folder(const char *folder, Finding *finding) {
    struct statvfs disk;
    Error err = {0};
    char parent[PATH_BYTES], above[PATH_BYTES]; // the nearest folder that exists
    snprintf(parent, sizeof parent, "%s", folder);
    while (!file_is_folder(parent)) {
        path_folder(above, sizeof above, parent);
        snprintf(parent, sizeof parent, "%s", above);
    }
    if (!file_check_folder(folder, &err) || statvfs(parent, &disk) != 0) {
        SAY("%s", err.code != 0 ? err.text : folder);
        CURE("set another folder: --set data.cache=FOLDER, --set run.dir=FOLDER");
        return HEALTH_FAIL;
    }
    double bytes = (double)disk.f_bavail * (double)disk.f_frsize;
    SAY("%s\n%.1f GiB free", folder, gibibytes(bytes));
    if (bytes < 1e9)
        CURE("make room, or set another folder");
    return bytes < 16e6 ? HEALTH_FAIL : bytes < 1e9 ? HEALTH_WARN : HEALTH_OK;
}

static Health check_cache(Finding *finding) {
    return check_folder(finding->config->data.cache, finding);
}

static Health check_run_dir(Finding *finding) {
    return check_folder(finding->config->run.dir, finding);
}

static Health check_data(Finding *finding) {
    const char *data = getenv("FRINGE_DATA");
    if (data == NULL) {
        SAY("not set; data files are looked up beside the config");
        return HEALTH_OK;
    }
    SAY("%s", data);
    if (!file_is_folder(data))
        CURE("it is not a folder: set it to the folder that holds the datasets");
    return file_is_folder(data) ? HEALTH_OK : HEALTH_WARN;
}

static const Check checks[] = {
    {"MPI", check_mpi},         {"slots", check_slots},     {"affinity", check_affinity},
    {"threads", check_threads}, {"kernels", check_kernels}, {"devices", check_devices},
    {"network", check_network}, {"memory", check_memory},   {"shared memory", check_shared_memory},
    {"cache", check_cache},     {"run.dir", check_run_dir}, {"FRINGE_DATA", check_data},
};

// ---- all of them

enum { TEXT_COLUMNS = 80 - 21 };

// Prints text behind two columns; breaks its lines where the screen would.
static void print_text(const char *word, const char *name, const char *text) {
    char broken[SCREEN_BROKEN(sizeof((Finding *)NULL)->text)], *rest = broken;
    size_t bytes = 0;
    for (size_t length; *text != 0; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        bytes += screen_break(broken + bytes, text, length, TEXT_COLUMNS);
    }
    broken[bytes > 0 ? bytes - 1 : 0] = 0;
    for (const char *line; (line = strsep(&rest, "\n")) != NULL; word = name = "")
        printf("%-4s  %-13s  %s\n", word, name, SHOWN(line));
}

static void print_finding(const char *word, const char *name, const Finding *finding) {
    char cure[sizeof finding->cure + 8];
    print_text(word, name, finding->text);
    snprintf(cure, sizeof cure, "cure: %s", finding->cure);
    if (finding->cure[0] != 0)
        print_text("", "", cure);
}

static void put_finding(JsonWriter *writer, const char *word, const char *name,
                        const Finding *finding) {
    JSON_PUT_OBJECT(writer, NULL)
        JSON_PUT(writer, PAIR("check", name), PAIR("health", word), PAIR("text", finding->text),
                 PAIR("cure", finding->cure[0] != 0 ? finding->cure : NULL));
}

typedef struct Visit {
    const Config *config;
    const Options *options;
    JsonWriter *writer; // NULL: text
    Health worst;
} Visit;

static void visit(Visit *v, const Check *list, int count) {
    static const char *const words[] = {"OK", "WARN", "FAIL"};
    for (int i = 0; i < count; i++) {
        Finding finding = {.config = v->config, .options = v->options};
        Health health = list[i].run(&finding);
        if (v->writer != NULL)
            put_finding(v->writer, words[health], list[i].name, &finding);
        else
            print_finding(words[health], list[i].name, &finding);
        v->worst = health > v->worst ? health : v->worst;
    }
}

static void visit_all(Visit *v) {
    visit(v, checks, FAMILY_COUNT(checks));
    if (v->options->arguments > 0)
        visit(v, doctor_config_checks, doctor_config_check_count);
}

static void visit_as_json(Visit *v) {
    CLEARED(json_writer_clear) JsonWriter writer = {0};
    json_writer_init(&writer, true);
    v->writer = &writer;
    JSON_PUT_OBJECT(&writer, NULL) {
        JSON_PUT_ARRAY(&writer, "findings")
            visit_all(v);
        json_put_bool(&writer, "can_train", v->worst != HEALTH_FAIL);
    }
    fputs(writer.text, stdout);
}

// Only wrong values of the config are errors; what is missing on disk is a finding.
ExitCode cmd_doctor(const Options *options, Error *err) {
    Config config;
    bool ok = options->arguments > 0
                  ? load_config(&config, options, options->argument[0], options->ranks, err)
                  : config_load(&config, NULL, options->setting, options->settings, err);
    if (!ok)
        return (ExitCode)err->code;
    Visit v = {.config = &config, .options = options};
    (options->json ? visit_as_json : visit_all)(&v);
    return v.worst == HEALTH_FAIL ? EXIT_UNAVAILABLE : EXIT_OK;
}

// The ranks that doctor starts.
ExitCode cmd_probe(const Options *options, UNUSED Error *err) {
    Comm comm;
    launch_die_with_parent();
    comm_start(&comm, options->argc, options->argv);
    int64_t one = 1;
    comm_sum_int64(&comm, &one, 1);
    bool right = one == comm.size;
    comm_stop(&comm);
    return right ? EXIT_OK : EXIT_UNAVAILABLE;
}
