// Writing safetensors (layout in tensors.c). The idea: all shapes are known first, so the header is
// written at once and the data can then be streamed in any chunks.

#include "fringe/base/json.h"
#include "fringe/base/tensors.h"

enum { HEAD = 8, ALIGNMENT = 64 };

static void put_metadata(JsonWriter *json, const char *const *metadata) {
    JSON_PUT_OBJECT(json, "__metadata__") {
        bool has_format = false;
        for (const char *const *pair = metadata; pair != NULL && *pair != NULL; pair += 2) {
            has_format = has_format || strcmp(pair[0], "format") == 0;
            json_put_string(json, pair[0], pair[1]);
        }
        if (!has_format) // the transformers library requires it (TRAPS 19)
            json_put_string(json, "format", "pt");
    }
}

static void put_tensor(JsonWriter *json, const Tensor *tensor, int64_t *offset) {
    assert(tensor->rank >= 0 && tensor->rank <= TENSOR_RANK);
    JSON_PUT_OBJECT(json, tensor->name) {
        json_put_string(json, "dtype", tensor_type_names[tensor->type]);
        JSON_PUT_ARRAY(json, "shape")
            for (int i = 0; i < tensor->rank; i++)
                json_put_int(json, NULL, tensor->shape[i]);
        JSON_PUT_ARRAY(json, "data_offsets") {
            json_put_int(json, NULL, *offset);
            *offset += (int64_t)tensor_bytes(tensor);
            json_put_int(json, NULL, *offset);
        }
    }
}

// Writes the first bytes of the file: length, JSON, spaces up to a multiple of 64.
static bool put_header(TensorsWriter *writer, const JsonWriter *json, Error *err) {
    size_t all = (HEAD + json->bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    FREED char *header = ALLOC(char, all, "header of a safetensors file");
    memset(header, ' ', all);
    for (int i = 0; i < HEAD; i++)
        header[i] = (char)((all - HEAD) >> (8 * i) & 0xff);
    memcpy(header + HEAD, json->text, json->bytes);
    return file_writer_put(&writer->file, header, all, err);
}

// Writes the header into an open file.
static bool begin(TensorsWriter *writer, const Tensor *tensor, int count,
                  const char *const *metadata, Error *err) {
    CLEARED(json_writer_clear) JsonWriter json = {0};
    json_writer_begin(&json, false);
    put_metadata(&json, metadata);
    for (int i = 0; i < count; i++)
        put_tensor(&json, &tensor[i], &writer->data_bytes);
    json_end_object(&json);
    return put_header(writer, &json, err);
}

bool tensors_writer_open(TensorsWriter *writer, const char *path, const Tensor *tensor, int count,
                         const char *const *metadata, Error *err) {
    *writer = (TensorsWriter){0};
    if (!file_writer_open(&writer->file, path, err))
        return false;
    bool ok = begin(writer, tensor, count, metadata, err);
    if (!ok)
        file_writer_close(&writer->file, false, err);
    return ok;
}

bool tensors_writer_put(TensorsWriter *writer, const void *data, size_t bytes, Error *err) {
    writer->put_bytes += (int64_t)bytes;
    assert(writer->put_bytes <= writer->data_bytes);
    return file_writer_put(&writer->file, data, bytes, err);
}

bool tensors_writer_close(TensorsWriter *writer, bool sync, Error *err) {
    bool ok = err->code == 0; // an earlier write may have failed
    assert(!ok || writer->put_bytes == writer->data_bytes);
    return file_writer_close(&writer->file, sync && ok, err) && ok;
}

static bool put_all(TensorsWriter *writer, const Tensor *tensor, int count, Error *err) {
    bool ok = true;
    for (int i = 0; i < count && ok; i++)
        ok = tensors_writer_put(writer, tensor[i].data, tensor_bytes(&tensor[i]), err);
    return ok;
}

bool tensors_write(const char *path, const Tensor *tensor, int count, const char *const *metadata,
                   bool sync, Error *err) {
    TensorsWriter writer;
    if (!tensors_writer_open(&writer, path, tensor, count, metadata, err))
        return false;
    bool ok = put_all(&writer, tensor, count, err);
    return tensors_writer_close(&writer, sync, err) && ok;
}

bool tensors_replace(const char *path, const Tensor *tensor, int count, const char *const *metadata,
                     Error *err) {
    TensorsWriter writer = {0};
    if (!file_writer_replace(&writer.file, path, err))
        return false;
    bool ok = begin(&writer, tensor, count, metadata, err) && put_all(&writer, tensor, count, err);
    return file_writer_take_place(&writer.file, ok, err);
}
