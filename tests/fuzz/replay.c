// A main for a fuzzer without libFuzzer: reads every file of a folder as the fuzzer would, and of
// the defect corpus, if FRINGE_DATA has it, those files that its list (formats/expect.tsv) has for
// one of the readers that are named. The last file printed is the one that failed.
//
//   fuzz_READER FOLDER [READER-OF-THE-LIST...]

#include "fuzz.h"

#include <dirent.h>

enum { LARGEST = 1 << 20 };

static int files;

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
    free(copy);
    files++;
    return true;
}

static bool read_folder(const char *path, Error *err) {
    DIR *folder = opendir(path);
    struct dirent *entry;
    if (folder == NULL)
        return error_set(err, EXIT_NO_INPUT, "%s: there is no such folder", path);
    while (err->code == 0 && (entry = readdir(folder)) != NULL) {
        char file[4096];
        path_join(file, sizeof file, path, entry->d_name);
        if (entry->d_name[0] != '.')
            read_file(file, err);
    }
    closedir(folder);
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

int main(int argc, char **argv) {
    Error err = {0};
    bool ok = argc > 1 && read_folder(argv[1], &err) &&
              (argc == 2 || read_defects(getenv("FRINGE_DATA"), argv + 2, &err));
    if (!ok || files == 0) {
        fprintf(stderr, "%s\n", ok ? "there are no files in the folder" : err.text);
        return EXIT_NO_INPUT;
    }
    printf("%d files\n", files);
    return 0;
}
