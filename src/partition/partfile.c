// <name>.part.K: one part id per line, 0..K-1, line i = node i (the format of METIS, DGL and
// hMETIS). The hyperedges of a hypergraph have a file of the same kind, <name>.hpart.K.
#include "internal.h"

enum { PART_FILE_LINE = 32 }; // an id, spaces and a line end; a part file has no longer lines

// What the lines of a file stand for, by set.
static const struct {
    const char *ending, *row, *whole;
} kinds[SHARD_SETS] = {{"part", "node", "graph"}, {"hpart", "hyperedge", "hypergraph"}};

void part_file_path(const Config *config, const char *argument, int parts, char *out, size_t size) {
    config_resolve(config, argument, out, size);
    if (file_exists(out) && !file_is_folder(out))
        return;
    char name[PATH_BYTES], with_count[PATH_BYTES];
    snprintf(name, sizeof name, "%s.part.%d", argument, parts);
    config_resolve(config, name, with_count, sizeof with_count);
    if (file_exists(with_count))
        snprintf(out, size, "%s", with_count);
}

void part_file_of(char *out, size_t size, const char *path, int parts) {
    char ending[32];
    int length = (int)strlen(path), cut = snprintf(ending, sizeof ending, ".part.%d", parts);
    bool has_ending = length > cut && strcmp(path + length - cut, ending) == 0;
    snprintf(out, size, "%.*s.hpart.%d", has_ending ? length - cut : length, path, parts);
}

void part_file_name(char out[PART_FILE_NAME], const char *dataset, int set, int parts) {
    const char *base = path_name(dataset);
    snprintf(out, PART_FILE_NAME, "%s.%s.%d", base[0] != '\0' ? base : "graph", kinds[set].ending,
             parts);
}

// Parses a line as an integer; false if it is anything else.
static bool line_number(const char *begin, const char *end, int64_t *number) {
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    bool minus = begin < end && *begin == '-';
    begin += minus;
    if (begin == end || end - begin > 18)
        return false;
    *number = 0;
    for (; begin < end; begin++) {
        if (*begin < '0' || *begin > '9')
            return false;
        *number = *number * 10 + (*begin - '0');
    }
    *number = minus ? -*number : *number;
    return true;
}

bool part_file_parse(int32_t *part, int64_t rows, int set, int parts, const char *path,
                     const char *text, size_t bytes, Error *err) {
    const char *at = text, *end = text + bytes;
    int64_t line = 0;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop != NULL ? stop : end;
        int64_t id;
        if (!line_number(at, stop, &id))
            return error_data(err, "%s:%ld: not a part id; write one integer a line", path,
                              line + 1);
        if (id < 0 || id >= parts)
            return error_data(err,
                              "%s:%ld: part %ld is outside 0..%d; the file must be a cut into %d "
                              "parts, or run it with more ranks",
                              path, line + 1, id, parts - 1, parts);
        if (line < rows)
            part[line] = (int32_t)id;
        line++;
        at = stop + 1;
    }
    if (line != rows)
        return error_data(err,
                          "%s: %ld lines for %ld %ss; it must have one line for each %s of this %s",
                          path, line, rows, kinds[set].row, kinds[set].row, kinds[set].whole);
    return true;
}

static bool part_file_read(int32_t *part, int64_t rows, int set, int parts, const char *path,
                           Error *err) {
    size_t bytes;
    FREED char *text = file_read(path, memory_product(rows, PART_FILE_LINE) + 4096, &bytes, err);
    return text != NULL && part_file_parse(part, rows, set, parts, path, text, bytes, err);
}

static bool cut_file(int32_t *part, const CutInput *input, Warnings *warnings, Error *err) {
    (void)warnings; // cut_graph warns of empty parts
    char path[PATH_BYTES], beside[PATH_BYTES];
    const Dataset *d = input->dataset;
    if (input->parts == 1) {
        memset(part, 0, (size_t)d->nodes * sizeof part[0]);
        return true;
    }
    part_file_path(input->config, input->argument, input->parts, path, sizeof path);
    part_file_of(beside, sizeof beside, path, input->parts);
    if (!part_file_read(part, d->nodes, NODES, input->parts, path, err))
        return false;
    return d->hyperedges == 0 || !file_exists(beside) ||
           part_file_read(part + d->nodes, d->hyperedges, HYPEREDGES, input->parts, beside, err);
}
const Method method_file = {
    .name = "file:PATH", .reads = READS_NODES, .reads_file = true, .cut = cut_file};

bool partition_write_part_file(const char *folder, const char *name, int set, const int32_t *part,
                               int64_t rows, int parts, Error *err) {
    char file[PART_FILE_NAME];
    FileWriter writer;
    part_file_name(file, name, set, parts);
    if (!file_writer_open(&writer, PATH_IN(folder, file), err))
        return false;
    char block[1 << 14];
    size_t used = 0;
    bool ok = true;
    for (int64_t v = 0; v < rows && ok; v++) {
        used += (size_t)snprintf(block + used, sizeof block - used, "%d\n", part[v]);
        if (used + 16 > sizeof block || v + 1 == rows) {
            ok = file_writer_put(&writer, block, used, err);
            used = 0;
        }
    }
    return file_writer_close(&writer, ok, err) && ok;
}
