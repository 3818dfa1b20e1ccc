// Predictions by the user's names: ids of nodes, names of classes, and a table of both.

#include "fringe/npy.h"
#include "internal.h"

// A line for each name, made whole in memory as file_replace takes it.
static bool write_lines(const NodeIds *names, const char *path, Error *err) {
    size_t bytes = (size_t)(names->offset[names->count] + names->count), used = 0;
    FREED char *text = memory_try(bytes, "names in a file", err);
    for (int64_t i = 0; text != NULL && i < names->count; i++) {
        size_t length = (size_t)(names->offset[i + 1] - names->offset[i]);
        memcpy(text + used, names->bytes + names->offset[i], length);
        used += length;
        text[used++] = '\n';
    }
    return text != NULL && file_replace(path, text, used, err);
}

static bool write_ids(const NodeIds *ids, const char *folder, Error *err) {
    const char *path = PATH_IN(folder, ids->number != NULL ? "ids.npy" : "ids.txt");
    bool ok = ids->number == NULL ? write_lines(ids, path, err)
                                  : npy_write(path, ids->is_unsigned ? "<u8" : "<i8", ids->number,
                                              8, 1, &ids->count, err);
    if (ok)
        terminal_print("%s [%ld]\n", SHOWN(path), ids->count);
    return ok;
}

// ---- the table

// A cell of text is quoted where it would be read as more than one.
static void put_cell(FILE *file, const NodeIds *names, int64_t i) {
    const char *at = names->bytes + names->offset[i];
    size_t bytes = (size_t)(names->offset[i + 1] - names->offset[i]);
    bool quoted = memchr(at, ',', bytes) != NULL || memchr(at, '"', bytes) != NULL ||
                  (bytes > 0 && strchr("#% /", *at) != NULL);
    if (quoted)
        putc('"', file);
    for (size_t k = 0; k < bytes; k++) {
        if (at[k] == '"')
            putc('"', file);
        putc(at[k], file);
    }
    if (quoted)
        putc('"', file);
}

static void put_id(FILE *file, const NodeIds *ids, int64_t i) {
    if (ids->count == 0)
        fprintf(file, "%ld", i);
    else if (ids->number == NULL)
        put_cell(file, ids, i);
    else if (ids->is_unsigned)
        fprintf(file, "%lu", (uint64_t)ids->number[i]);
    else
        fprintf(file, "%ld", ids->number[i]);
}

static void put_class(FILE *file, const NodeIds *names, int64_t k) {
    if (k < names->count)
        put_cell(file, names, k);
    else
        fprintf(file, "%ld", k);
}

// Several classes of a node are separated by semicolons.
static void put_best(FILE *file, const NodeIds *names, const Predicted *p, int64_t i) {
    bool first = true;
    if (!p->several) {
        put_class(file, names, p->best[i]);
        return;
    }
    for (int64_t k = 0; k < p->classes; k++)
        if (p->best[i * p->classes + k] != 0) {
            if (!first)
                putc(';', file);
            put_class(file, names, k);
            first = false;
        }
}

typedef struct Lines { // text that is made in memory
    FILE *file;
    char *text;
    size_t bytes;
} Lines;

static void lines_open(Lines *lines) {
    lines->file = open_memstream(&lines->text, &lines->bytes);
    CHECK(lines->file != NULL, EXIT_MEMORY, "no memory for the table of predictions");
}

static bool lines_put(Lines *lines, FileWriter *table, Error *err) {
    fclose(lines->file);
    bool ok = file_writer_put(table, lines->text, lines->bytes, err);
    free(lines->text);
    return ok;
}

bool names_put_head(FileWriter *table, const PredictedNames *names, int64_t classes, bool best,
                    Error *err) {
    Lines lines;
    lines_open(&lines);
    fprintf(lines.file, best ? "id,class" : "id");
    for (int64_t k = 0; k < classes; k++) {
        putc(',', lines.file);
        put_class(lines.file, &names->classes, k);
    }
    putc('\n', lines.file);
    return lines_put(&lines, table, err);
}

bool names_put_rows(FileWriter *table, const PredictedNames *names, const Predicted *p,
                    Error *err) {
    Lines lines;
    lines_open(&lines);
    for (int64_t i = 0; i < p->nodes; i++) {
        put_id(lines.file, &names->ids, p->first + i);
        if (p->best != NULL) {
            putc(',', lines.file);
            put_best(lines.file, &names->classes, p, i);
        }
        for (int64_t k = 0; k < p->classes; k++)
            fprintf(lines.file, ",%.9g", (double)p->scores[i * p->classes + k]);
        putc('\n', lines.file);
    }
    return lines_put(&lines, table, err);
}

// New data need no labels: the names of classes are then those of the data of the run, if these are
// still there.
static void names_of_run(NodeIds *names, const Config *config) {
    static Config trained;
    NodeIds ids;
    Error ignored = {0};
    const char *path = PATH_IN(config->run.dir, "run.json");
    if (!config_load(&trained, path, NULL, 0, &ignored) ||
        strcmp(trained.data.path, config->data.path) == 0 || !file_exists(trained.data.path))
        return;
    if (partition_names(&trained, &ids, names, &ignored))
        node_ids_clear(&ids);
}

bool names_open(PredictedNames *names, const Config *config, Error *err) {
    if (!partition_names(config, &names->ids, &names->classes, err))
        return false;
    if (names->classes.count == 0)
        names_of_run(&names->classes, config);
    return true;
}

void names_close(PredictedNames *names) {
    node_ids_clear(&names->ids);
    node_ids_clear(&names->classes);
}

bool names_write(const PredictedNames *names, const char *folder, Error *err) {
    return (names->ids.count == 0 || write_ids(&names->ids, folder, err)) &&
           (names->classes.count == 0 ||
            write_lines(&names->classes, PATH_IN(folder, "class_names.txt"), err));
}
