// What fringe inspect finds in files: arrays, tensors, JSON, metrics, part files, configs.

#include "inspect.h"

#include "fringe/npy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// --- arrays

static void put_extremes(JsonWriter *writer, const Npy *npy) {
    float *value = NULL;
    Error ignored = {0};
    if (npy->elements == 0 || npy->kind == NPY_TEXT || !npy_to_float(npy, &value, &ignored))
        return;
    float least = INFINITY, most = -INFINITY;
    int64_t odd = 0;
    for (int64_t i = 0; i < npy->elements; i++) {
        least = fminf(least, value[i]);
        most = fmaxf(most, value[i]);
        odd += !isfinite(value[i]);
    }
    json_put_float(writer, "least", least);
    json_put_float(writer, "most", most);
    json_put_int(writer, "not_finite", odd);
    memory_free(value);
}

bool put_npy(JsonWriter *writer, const char *path, Error *err) {
    Npy npy;
    char type[16];
    if (!npy_read(&npy, path, err))
        return false;
    snprintf(type, sizeof type, "%c%d", (char)npy.kind, npy.item);
    json_put_string(writer, "type", type);
    json_begin_array(writer, "shape");
    for (int d = 0; d < npy.rank; d++)
        json_put_int(writer, NULL, npy.shape[d]);
    json_end_array(writer);
    json_put_int(writer, "bytes", npy.elements * npy.item);
    put_extremes(writer, &npy);
    npy_clear(&npy);
    return true;
}

bool print_tensors(const char *path, Error *err) {
    Tensors tensors;
    if (!tensors_open(&tensors, path, err))
        return false;
    tensors_print(&tensors, path_name(path));
    tensors_close(&tensors);
    return true;
}

bool put_tensors(JsonWriter *writer, const char *path, Error *err) {
    Tensors tensors;
    if (!tensors_open(&tensors, path, err))
        return false;
    json_put_int(writer, "bytes", (int64_t)tensors.bytes);
    json_begin_array(writer, "tensors");
    for (int i = 0; i < tensors.count; i++) {
        const Tensor *tensor = &tensors.tensor[i];
        json_begin_object(writer, NULL);
        json_put_string(writer, "name", tensor->name);
        json_put_string(writer, "type", tensor_type_names[tensor->type]);
        json_begin_array(writer, "shape");
        for (int d = 0; d < tensor->rank; d++)
            json_put_int(writer, NULL, tensor->shape[d]);
        json_end_array(writer);
        json_end_object(writer);
    }
    json_end_array(writer);
    tensors_close(&tensors);
    return true;
}

// --- text

bool put_json_file(JsonWriter *writer, const char *path, Error *err) {
    Json *document = json_read(path, err);
    if (document == NULL)
        return false;
    if (json_type(document) != JSON_OBJECT)
        error_set(err, EXIT_DATA, "%s: expected a JSON object", path);
    else
        for (const Json *at = json_first(document); at != NULL; at = json_next(at))
            json_put_value(writer, json_key(at), at);
    json_free(document);
    return err->code == 0;
}

bool put_metrics(JsonWriter *writer, const char *path, Error *err) {
    char folder[sizeof((RunRecord *)NULL)->folder];
    int64_t size, lines = 0;
    FILE *file = file_stream(path, &size, err);
    if (file == NULL)
        return false;
    for (int letter; (letter = getc_unlocked(file)) != EOF;)
        lines += letter == '\n';
    fclose(file);
    RunRecord record = {.epoch = ALLOC(RecordedEpoch, lines + 1, "epochs of a run")};
    path_folder(folder, sizeof folder, path);
    memcpy(record.folder, folder, sizeof record.folder);
    if (record_history(folder, record.epoch, lines, &record.epochs, err)) {
        RunFigures f = record_figures(&record);
        json_put_int(writer, "epochs", record.epochs);
        if (record.epochs > 0)
            json_put_double(writer, "loss", record.epoch[record.epochs - 1].loss);
        json_put_int(writer, "best_epoch", f.best_epoch);
        json_put_double(writer, "best_validation", f.validation);
        json_put_double(writer, "test_at_best", f.test);
        json_put_double(writer, "seconds_per_epoch", f.seconds);
        json_put_double(writer, "bytes_per_epoch", f.bytes);
    }
    record_clear(&record);
    return err->code == 0;
}

// One part id per line; METIS writes the same.
bool put_part_file(JsonWriter *writer, const char *path, Error *err) {
    enum { PARTS_SHOWN = 64 };
    int64_t size, rows = 0, most = -1, count[PARTS_SHOWN] = {0};
    char line[64];
    FILE *file = file_stream(path, &size, err);
    if (file == NULL)
        return false;
    while (err->code == 0 && fgets(line, sizeof line, file) != NULL) {
        char *end;
        long long part = strtoll(line, &end, 10);
        rows++;
        if (end == line || part < 0 || end[strspn(end, " \t\r\n")] != 0)
            error_set(err, EXIT_DATA, "%s:%lld: expected the number of a part", path,
                      (long long)rows);
        else if (part < PARTS_SHOWN)
            count[part]++;
        most = part > most ? part : most;
    }
    fclose(file);
    if (err->code != 0)
        return false;
    json_put_int(writer, "nodes", rows);
    json_put_int(writer, "parts", most + 1);
    json_begin_array(writer, "nodes_of_parts");
    for (int64_t p = 0; p <= most && p < PARTS_SHOWN; p++)
        json_put_int(writer, NULL, count[p]);
    json_end_array(writer);
    return true;
}

bool put_config(JsonWriter *writer, const char *path, Error *err) {
    Config config;
    if (!config_load(&config, path, NULL, 0, err))
        return false;
    char *text = config_to_json(&config);
    Json *resolved = json_parse(text, strlen(text), path, err);
    if (resolved != NULL)
        for (const Json *at = json_first(resolved); at != NULL; at = json_next(at))
            json_put_value(writer, json_key(at), at);
    bool ok = resolved != NULL;
    json_free(resolved);
    memory_free(text);
    return ok;
}
