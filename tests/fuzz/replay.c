// A main for a fuzzer without libFuzzer: reads every file of a folder as the fuzzer would, and of
// the defect corpus, if FRINGE_DATA has it, those files that its list (formats/expect.tsv) has for
// one of the readers that are named. The last file printed is the one that failed.
//
// Then it reads FRINGE_MUTANTS (none) changed copies of these files, always the same ones. If one
// fails its number is said; FRINGE_MUTANT=NUMBER writes it to mutant.bin.
//
//   fuzz_READER FOLDER [READER-OF-THE-LIST...]

#include "fuzz.h"

#include <dirent.h>
#include <signal.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { LARGEST = 1 << 20, MOST_KEPT = 1024, MUTABLE = 2048, ROOM = 2 * MUTABLE };

static int files;

// What is changed: the files of at most MUTABLE bytes.
static struct Kept {
    uint8_t *bytes;
    size_t count;
} kept[MOST_KEPT];
static int kept_count;

static void keep(const uint8_t *bytes, size_t count) {
    if (count > 0 && count <= MUTABLE && kept_count < MOST_KEPT)
        kept[kept_count++] = (struct Kept){fuzz_exact(bytes, count), count};
}

static bool read_file(const char *path, Error *err) {
    size_t count;
    char *bytes = file_read(path, LARGEST, &count, err);
    if (bytes == NULL)
        return false;
    uint8_t *copy = fuzz_exact((const uint8_t *)bytes, count);
    memory_free(bytes); // the fuzzer counts what is in use
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(copy, count);
    keep(copy, count);
    free(copy);
    files++;
    return true;
}

static bool read_folder(const char *path, Error *err) {
    struct dirent **entry;
    int count = scandir(path, &entry, NULL, alphasort);
    if (count < 0)
        return error_set(err, EXIT_NO_INPUT, "%s: there is no such folder", path);
    for (int i = 0; i < count; i++) {
        char file[4096];
        path_join(file, sizeof file, path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.' && err->code == 0)
            read_file(file, err);
        free(entry[i]);
    }
    free(entry);
    return err->code == 0;
}

static bool is_one_of(const char *word, char *const *words) {
    while (*words != NULL && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

// "path<tab>reader<tab>verdict..."; sets of several files are folders, and are passed over.
static bool read_defects(const char *data, char *const *readers, Error *err) {
    char path[2048], line[1024];
    snprintf(path, sizeof path, "%s/formats/expect.tsv", data != NULL ? data : "");
    FILE *list = data != NULL ? fopen(path, "r") : NULL;
    if (list == NULL) {
        printf("skipped: %s\n", "the defect corpus of the readers (FRINGE_DATA/formats)");
        return true;
    }
    while (err->code == 0 && fgets(line, sizeof line, list) != NULL) {
        char *rest = line;
        const char *name = strsep(&rest, "\t"), *reader = strsep(&rest, "\t");
        snprintf(path, sizeof path, "%s/formats/%s", data, name);
        if (reader != NULL && is_one_of(reader, readers) && !file_is_folder(path) &&
            file_size(path) <= LARGEST)
            read_file(path, err);
    }
    fclose(list);
    return err->code == 0;
}

// ---- changed copies

static uint64_t state;

static size_t below(size_t limit) { // xorshift64*
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return (size_t)((state * 0x2545f4914f6cdd1dU >> 32) % limit);
}

// Puts `count` bytes over those of the mutant from `at` on, or in front of them.
static size_t put(uint8_t *mutant, size_t length, size_t at, const void *bytes, size_t count,
                  bool over) {
    size_t gone = !over ? 0 : count < length - at ? count : length - at;
    if (length - gone + count > ROOM)
        return length;
    memmove(mutant + at + count, mutant + at + gone, length - at - gone);
    memcpy(mutant + at, bytes, count);
    return length - gone + count;
}

static size_t change(uint8_t *mutant, size_t length) {
    static const char *const words[] = {"0",
                                        "-1",
                                        "9007199254740993",
                                        "9007199254740994.0",
                                        "2147483648",
                                        "1e309",
                                        "\n",
                                        ",",
                                        "\xff\xff\xff\xff",
                                        "\x7f",
                                        "nan"};
    size_t at = below(length + 1), way = below(5);
    if (way == 0 && at < length) // a bit
        mutant[at] ^= (uint8_t)(1 << below(8));
    if (way == 1 && at < length) { // some bytes are missing
        size_t gone = 1 + below(length - at);
        gone = gone > 16 ? 16 : gone;
        memmove(mutant + at, mutant + at + gone, length - at - gone);
        return length - gone;
    }
    if (way == 2) { // a piece of another file
        const struct Kept *other = &kept[below((size_t)kept_count)];
        size_t from = below(other->count), most = other->count - from;
        return put(mutant, length, at, other->bytes + from, 1 + below(most < 64 ? most : 64),
                   below(2) == 0);
    }
    if (way == 3) {
        const char *word = words[below(sizeof words / sizeof *words)];
        return put(mutant, length, at, word, strlen(word), below(2) == 0);
    }
    if (way == 4 && at < length)
        mutant[at] = (uint8_t)below(256);
    return length;
}

static size_t mutate(uint8_t *mutant, long number) {
    state = 0x9e3779b97f4a7c15U * (uint64_t)(number + 1);
    const struct Kept *file = &kept[below((size_t)kept_count)];
    size_t length = file->count;
    memcpy(mutant, file->bytes, length);
    for (size_t changes = 1 + below(4); changes > 0; changes--)
        length = change(mutant, length);
    return length;
}

static bool write_mutant(long number) {
    uint8_t mutant[ROOM];
    size_t length = mutate(mutant, number);
    FILE *file = fopen("mutant.bin", "wb");
    return file != NULL && fwrite(mutant, 1, length, file) == length && fclose(file) == 0;
}

static long now_read = -1;

static void say_mutant(void) {
    if (now_read >= 0)
        fprintf(stderr, "mutant %ld failed\n", now_read);
}
static void aborted(int signal) {
    (void)signal;
    say_mutant();
}

static void read_mutants(long count) {
    static uint8_t mutant[ROOM];
    signal(SIGABRT, aborted);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_set_death_callback(say_mutant);
#endif
    for (long number = 0; number < count && kept_count > 0; number++) {
        size_t length = mutate(mutant, number);
        now_read = number;
        uint8_t *exact = fuzz_exact(mutant, length);
        LLVMFuzzerTestOneInput(exact, length);
        free(exact);
    }
    now_read = -1;
}

static long number_in(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text != NULL ? atol(text) : otherwise;
}

int main(int argc, char **argv) {
    Error err = {0};
    bool ok = argc > 1 && read_folder(argv[1], &err) &&
              (argc == 2 || read_defects(getenv("FRINGE_DATA"), argv + 2, &err));
    if (!ok || files == 0) {
        fprintf(stderr, "%s\n", ok ? "there are no files in the folder" : err.text);
        return EXIT_NO_INPUT;
    }
    printf("%d files\n", files);
    if (number_in("FRINGE_MUTANT", -1) >= 0)
        return write_mutant(number_in("FRINGE_MUTANT", -1)) ? 0 : EXIT_CANNOT_WRITE;
    read_mutants(number_in("FRINGE_MUTANTS", 0));
    for (int i = 0; i < kept_count; i++)
        free(kept[i].bytes);
    return 0;
}
