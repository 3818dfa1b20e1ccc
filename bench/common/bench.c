// The shared part of the benches: bench.h says what for.
#include "bench.h"
#include "fringe/dataset.h"
#include <omp.h>

static bool is_smoke(void) { return getenv("FRINGE_SMOKE") != NULL; }
int64_t bench_sized(int64_t full, int64_t smoke) { return is_smoke() ? smoke : full; }
const char *bench_recipe(const char *full) {
    return is_smoke() ? "planted:nodes=240,edges=2400,features=16,classes=4,communities=8" : full;
}

static struct {
    const char *name;
    int argc;
    char **argv;
    const char *folder; // NULL: none was made
    Comm comm;          // of size 0: it was not asked for
    int count, missed;
    Figure figure[BENCH_FIGURES];
} bench;

void bench_start(const char *name, int argc, char **argv) {
    bench.name = name;
    bench.argc = argc;
    bench.argv = argv;
}

const Comm *bench_ranks(void) {
    if (bench.comm.size == 0)
        comm_start(&bench.comm, &bench.argc, &bench.argv);
    return &bench.comm;
}

bool bench_flag(const char *name) {
    for (int i = 1; i < bench.argc; i++)
        if (strcmp(bench.argv[i], name) == 0)
            return true;
    return false;
}

const char *bench_first(const char *without) {
    CHECK(bench.argc > 1 && bench.argv[1][0] != '-', EXIT_USAGE, "%s", without);
    return bench.argv[1];
}

const char *bench_text(const char *name, const char *otherwise) {
    size_t length = strlen(name);
    char **argv = bench.argv;
    for (int i = 1; i < bench.argc; i++)
        if (strncmp(argv[i], name, length) == 0) {
            if (argv[i][length] == '=')
                return argv[i] + length + 1;
            if (argv[i][length] == 0 && i + 1 < bench.argc)
                return argv[i + 1];
        }
    return otherwise;
}

int64_t bench_option(const char *name, int64_t otherwise) {
    const char *text = bench_text(name, NULL);
    return text != NULL ? strtoll(text, NULL, 10) : otherwise;
}

int bench_settings(const char **settings, int most) {
    int count = 0;
    while (settings[count] != NULL)
        count++;
    for (int i = 1; i < bench.argc; i++)
        if (bench.argv[i][0] != '-') {
            CHECK(count + 1 < most, EXIT_USAGE, "too many settings");
            settings[count++] = bench.argv[i];
        }
    return count;
}

char *bench_print(const char *format, ...) {
    static char texts[1 << 16];
    static size_t used;
    char *text = texts + used;
    va_list words;
    va_start(words, format);
    used += (size_t)vsnprintf(text, sizeof texts - used, format, words) + 1;
    va_end(words);
    CHECK(used <= sizeof texts, EXIT_BUG, "a bench has printed texts of more than 64 KiB");
    return text;
}

const char *bench_folder(void) {
    const char *in = getenv("TMPDIR");
    char *folder = bench_print("%s/fringe-bench-XXXXXX", in != NULL ? in : "/tmp");
    CHECK(mkdtemp(folder) != NULL, EXIT_CANNOT_WRITE, "%s cannot be made", folder);
    bench.folder = folder;
    return folder;
}

void bench_dataset(const char *path, const char *recipe, const Comm *comm) {
    Error err = {0};
    Dataset dataset;
    if ((comm == NULL || comm->rank == 0) && !file_exists(path) &&
        dataset_generate(&dataset, recipe, 1, &err)) {
        dataset_write(&dataset, path, &err);
        dataset_clear(&dataset);
    }
    CHECK(comm == NULL ? err.code == 0 : comm_agree(comm, &err), (ExitCode)err.code, "%s",
          err.text);
}

double bench_status(const char *key) {
    char line[256];
    long long kibibytes = 0;
    FILE *file = fopen("/proc/self/status", "re");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            sscanf(line + strlen(key), "%lld", &kibibytes);
    if (file != NULL)
        fclose(file);
    return 1024.0 * (double)kibibytes;
}

bool bench_ask_python(double *number, int count, const char *program, ...) {
    char text[3072], command[4096];
    const char *python = getenv("PYTHON") != NULL ? getenv("PYTHON") : "python3";
    va_list words;
    va_start(words, program);
    vsnprintf(text, sizeof text, program, words);
    va_end(words);
    snprintf(command, sizeof command, "%s -c \"%s\" 2>/dev/null", python, text);
    FILE *pipe = popen(command, "r");
    int read = 0;
    while (pipe != NULL && read < count && fscanf(pipe, "%lf", number + read) == 1)
        read++;
    if (pipe != NULL)
        pclose(pipe);
    return read == count;
}

uint64_t bench_mixed(uint64_t x) {
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void bench_skip(const char *name, const char *why) {
    printf("skipped: bench %s: %s\n", name, why);
    fflush(stdout);
    exit(77);
}

static const char *verdict(const Figure *figure) {
    if (figure->bar <= 0)
        return "-";
    bool is_reached = figure->at_most ? figure->ratio <= figure->bar : figure->ratio >= figure->bar;
    return is_reached ? "ok" : "short";
}

void bench_figure(const Figure *figure) {
    CHECK(bench.count < BENCH_FIGURES, EXIT_BUG, "a bench has more than %d figures", BENCH_FIGURES);
    Figure *kept = &bench.figure[bench.count++];
    *kept = *figure;
    kept->bar = is_smoke() ? 0 : figure->bar;
    figure = kept;
    bool is_short = strcmp(verdict(figure), "short") == 0;
    bench.missed += is_short;
    printf("%-50s %9.4g %-7s", figure->name, figure->value, figure->unit);
    if (figure->against[0] != 0)
        printf(" | %s %.4g", figure->against, figure->limit);
    if (figure->ratio > 0)
        printf(" | ratio %.2f", figure->ratio);
    if (figure->bar > 0)
        printf(" | bar %s %.2f | %s", figure->at_most ? "<=" : ">=", figure->bar, verdict(figure));
    putchar('\n');
    fflush(stdout);
}

#define FIGURE_NAMED(figure, name)                                                                 \
    va_list words;                                                                                 \
    va_start(words, name);                                                                         \
    vsnprintf((figure).name, sizeof(figure).name, name, words);                                    \
    va_end(words);

void bench_value(double value, const char *unit, const char *name, ...) {
    Figure f = {.value = value, .unit = unit};
    FIGURE_NAMED(f, name)
    bench_figure(&f);
}

static void figure_hold(Figure *f, const char *against) {
    snprintf(f->against, sizeof f->against, "%s", against);
    f->ratio = f->limit > 0 ? f->value / f->limit : f->value;
    bench_figure(f);
}

void bench_at_least(double value, const char *unit, double bar, const char *against, double limit,
                    const char *name, ...) {
    Figure f = {.value = value, .unit = unit, .limit = limit, .bar = bar};
    FIGURE_NAMED(f, name)
    figure_hold(&f, against);
}

void bench_at_most(double value, const char *unit, double bar, const char *against, double limit,
                   const char *name, ...) {
    Figure f = {.value = value, .unit = unit, .limit = limit, .bar = bar, .at_most = true};
    FIGURE_NAMED(f, name)
    figure_hold(&f, against);
}

static void print_figures(void) {
    JsonWriter json;
    json_writer_init(&json, false);
    json_begin_object(&json, NULL);
    json_put_string(&json, "bench", bench.name);
    json_put_int(&json, "missed", bench.missed);
    json_begin_array(&json, "figures");
    for (int i = 0; i < bench.count; i++) {
        const Figure *f = &bench.figure[i];
        json_begin_object(&json, NULL);
        json_put_string(&json, "name", f->name);
        json_put_double(&json, "value", f->value);
        json_put_string(&json, "unit", f->unit);
        if (f->against[0] != 0) {
            json_put_string(&json, "against", f->against);
            json_put_double(&json, "limit", f->limit);
        }
        if (f->ratio > 0)
            json_put_double(&json, "ratio", f->ratio);
        if (f->bar > 0) {
            json_put_double(&json, f->at_most ? "at_most" : "at_least", f->bar);
            json_put_string(&json, "verdict", verdict(f));
        }
        json_end_object(&json);
    }
    json_end_array(&json);
    json_end_object(&json);
    printf("%s\n", json.text);
    json_writer_clear(&json);
}

int bench_end(void) {
    if (bench.count > 0 && bench.comm.rank == 0)
        print_figures();
    if (bench.folder != NULL)
        file_remove(bench.folder, &(Error){0});
    if (bench.comm.size > 0)
        comm_stop(&bench.comm);
    return bench_flag("--strict") && bench.missed > 0 ? 1 : 0;
}

double bench_median(double *value, int count) {
    sort_double(value, count);
    return (value[(count - 1) / 2] + value[count / 2]) / 2;
}

double bench_square_distance(const float *a, const float *b, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        double apart = (double)a[i] - (b == NULL ? 0 : (double)b[i]);
        sum += apart * apart;
    }
    return sum;
}

void bench_compare(const BenchCase *cases, int count, int rounds, double *median) {
    FREED double *seconds = ALLOC(double, count *rounds, "times of a bench");
    for (int round = -1; round < rounds; round++)
        for (int i = 0; i < count; i++) {
            double begin = clock_seconds();
            cases[i].run(cases[i].context);
            if (round >= 0)
                seconds[i * rounds + round] = clock_seconds() - begin;
        }
    for (int i = 0; i < count; i++)
        median[i] = bench_median(seconds + (int64_t)i * rounds, rounds);
}

// ---- limits of the machine

typedef struct Tables {
    uint64_t *from, *to;
    int32_t *order; // rows of 1 KiB in random order
    int64_t rows;
    uint64_t sum; // keeps the reads from being dropped
} Tables;

enum { ROW_WORDS = 128 };

static void read_in_order(void *context) {
    Tables *t = (Tables *)context;
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < t->rows * ROW_WORDS; i++)
        sum += t->from[i];
    t->sum += sum;
}

static void copy_in_order(void *context) {
    Tables *t = (Tables *)context;
#pragma omp parallel
    {
        int64_t rank = omp_get_thread_num(), size = omp_get_num_threads();
        int64_t begin = t->rows * rank / size, end = t->rows * (rank + 1) / size;
        memcpy(t->to + begin * ROW_WORDS, t->from + begin * ROW_WORDS,
               (size_t)(end - begin) * ROW_WORDS * sizeof *t->to);
    }
}

static void read_at_random(void *context) {
    enum { AHEAD = 12 };
    Tables *t = (Tables *)context;
    uint64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t r = 0; r < t->rows; r++) {
        const uint64_t *next = t->from + t->order[r + AHEAD < t->rows ? r + AHEAD : r] * ROW_WORDS;
        for (int w = 0; w < ROW_WORDS; w += 8)
            __builtin_prefetch(next + w);
        const uint64_t *row = t->from + (int64_t)t->order[r] * ROW_WORDS;
        for (int w = 0; w < ROW_WORDS; w++)
            sum += row[w];
    }
    t->sum += sum;
}

static void tables_fill(Tables *t) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < t->rows * ROW_WORDS; i++)
        t->from[i] = t->to[i] = (uint64_t)i;
    for (int64_t r = 0; r < t->rows; r++)
        t->order[r] = (int32_t)r;
    RandomKey key = random_key(1, RANDOM_GENERATE, 0, 0, 0);
    for (int64_t r = t->rows - 1; r > 0; r--) {
        int64_t other = (int64_t)(random_uniform32(key, r, 0, 0) * (double)(r + 1));
        int32_t swap = t->order[r];
        t->order[r] = t->order[other];
        t->order[other] = swap;
    }
}

BenchLimits bench_limits(int threads, size_t bytes) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    bytes = (size_t)bench_sized((int64_t)bytes, 1 << 20);
    Tables t = {.rows = (int64_t)(bytes / (ROW_WORDS * sizeof(uint64_t)))};
    t.from = ALLOC(uint64_t, t.rows * ROW_WORDS, "table to read");
    t.to = ALLOC(uint64_t, t.rows * ROW_WORDS, "table to write");
    t.order = ALLOC(int32_t, t.rows, "order of rows");
    tables_fill(&t);
    const BenchCase cases[] = {{"sequential read", read_in_order, &t},
                               {"memcpy", copy_in_order, &t},
                               {"random rows", read_at_random, &t}};
    double seconds[3];
    bench_compare(cases, 3, (int)bench_sized(5, 1), seconds);
    double size = (double)t.rows * ROW_WORDS * sizeof(uint64_t) * 1e-9;
    BenchLimits limits = {size / seconds[0], 2 * size / seconds[1], size / seconds[2]};
    if (t.sum == 1) // never: the sums are multiples of the number of rounds
        putchar('\n');
    memory_free(t.order);
    memory_free(t.to);
    memory_free(t.from);
    omp_set_num_threads(before);
    return limits;
}
