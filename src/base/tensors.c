// Reading safetensors. The idea: the file is mapped and nothing in it is trusted. Header length,
// JSON, types, shapes and offsets are checked, and the tensors must tile the data exactly, before
// any element is read.
//
//   | 8 bytes: H, little-endian | H bytes of JSON, spaces at the end | tensors, without holes |
//   {"__metadata__": {"format": "pt"}, "NAME": {"dtype": "F32", "shape": [2, 3],
//    "data_offsets": [0, 24]}, ...}          offsets count from byte 8 + H

#include "fringe/base/tensors.h"
#include "internal.h"
#include "testing.h"

const char *const tensor_type_names[TENSOR_TYPES] = {"F32", "F64", "I32", "I64", "U8", "BF16"};
const size_t tensor_type_bytes[TENSOR_TYPES] = {4, 8, 4, 8, 1, 2};

enum { HEAD = 8 };
static const char metadata_key[] = "__metadata__";

Tensor tensor_vector(TensorType type, int64_t count, const void *data, const char *name, ...) {
    Tensor tensor = {.type = type, .rank = 1, .shape = {count}, .data = data};
    va_list arguments;
    va_start(arguments, name);
    vsnprintf(tensor.name, sizeof tensor.name, name, arguments);
    va_end(arguments);
    return tensor;
}

int64_t tensor_elements(const Tensor *tensor) {
    int64_t elements = 1;
    for (int i = 0; i < tensor->rank; i++)
        elements *= tensor->shape[i];
    return elements;
}

size_t tensor_bytes(const Tensor *tensor) {
    return memory_product(tensor_elements(tensor), tensor_type_bytes[tensor->type]);
}

static bool damaged(const Tensors *tensors, const char *name, const char *what, Error *err) {
    return error_data(err, "%s: tensor '%s': %s", tensors->path, SHOWN(name), what);
}

// --- the header, entry by entry

static bool read_type(const Tensors *tensors, Tensor *tensor, const Json *entry, Error *err) {
    const Json *type = json_get_of(entry, "dtype", JSON_STRING);
    if (type == NULL)
        return damaged(tensors, tensor->name, "'dtype' is missing", err);
    for (int i = 0; i < TENSOR_TYPES; i++)
        if (strcmp(json_string(type), tensor_type_names[i]) == 0) {
            tensor->type = (TensorType)i;
            return true;
        }
    return error_data(
        err,
        "%s: tensor '%s': type '%.40s' is not read; convert it to F32, F64, I32, I64, U8 or BF16",
        tensors->path, SHOWN(tensor->name), SHOWN(json_string(type)));
}

// Fills the shape; *bytes is the size of the tensor.
static bool read_shape(const Tensors *tensors, Tensor *tensor, const Json *entry, int64_t *bytes,
                       Error *err) {
    const Json *shape = json_get_of(entry, "shape", JSON_ARRAY);
    if (shape == NULL)
        return damaged(tensors, tensor->name, "'shape' is missing", err);
    *bytes = (int64_t)tensor_type_bytes[tensor->type];
    bool empty = false;
    for (const Json *extent = json_first(shape); extent != NULL; extent = json_next(extent)) {
        int64_t count;
        if (tensor->rank == TENSOR_RANK)
            return damaged(tensors, tensor->name, "has more than 3 dimensions", err);
        if (!json_is_int64(extent, &count) || count < 0)
            return damaged(tensors, tensor->name, "'shape' has an element that is not a count",
                           err);
        tensor->shape[tensor->rank++] = count;
        empty = empty || count == 0;
        if (count > 0 && __builtin_mul_overflow(*bytes, count, bytes))
            return damaged(tensors, tensor->name, "is larger than any file", err);
    }
    if (empty)
        *bytes = 0;
    return true;
}

// Checks the tensor's offsets against the data, its type and its shape, and sets tensor->data.
static bool read_place(const Tensors *tensors, Tensor *tensor, const Json *entry, int64_t bytes,
                       size_t data_begin, Error *err) {
    const Json *offsets = json_get_of(entry, "data_offsets", JSON_ARRAY);
    const Json *first = json_size(offsets) == 2 ? json_first(offsets) : NULL;
    int64_t begin, end;
    if (first == NULL || !json_is_int64(first, &begin) || !json_is_int64(json_next(first), &end))
        return damaged(tensors, tensor->name, "'data_offsets' is not a pair of positions", err);
    int64_t room = (int64_t)(tensors->bytes - data_begin);
    if (begin < 0 || end < begin || end > room)
        return error_data(err,
                          "%s: tensor '%s' lies at bytes %ld to %ld, but the file holds %ld bytes "
                          "of data; it is truncated or damaged",
                          tensors->path, SHOWN(tensor->name), begin, end, room);
    if (end - begin != bytes)
        return error_data(err, "%s: tensor '%s' takes %ld bytes, but its type and shape need %ld",
                          tensors->path, SHOWN(tensor->name), end - begin, bytes);
    tensor->data = (const char *)tensors->mapping + data_begin + begin;
    return true;
}

static bool read_entry(Tensors *tensors, const Json *entry, size_t data_begin, Error *err) {
    Tensor *tensor = &tensors->tensor[tensors->count];
    const char *name = json_key(entry);
    if (strlen(name) >= sizeof tensor->name)
        return error_data(err, "%s: a tensor's name has more than %zu bytes: '%.60s...'",
                          tensors->path, sizeof tensor->name - 1, SHOWN(name));
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    if (json_type(entry) != JSON_OBJECT)
        return damaged(tensors, name, "is not described by an object", err);
    int64_t bytes = 0;
    if (!read_type(tensors, tensor, entry, err) ||
        !read_shape(tensors, tensor, entry, &bytes, err) ||
        !read_place(tensors, tensor, entry, bytes, data_begin, err))
        return false;
    tensors->count++;
    return true;
}

static bool check_metadata(const Tensors *tensors, const Json *metadata, Error *err) {
    bool ok = json_type(metadata) == JSON_OBJECT;
    for (const Json *value = ok ? json_first(metadata) : NULL; value != NULL && ok;
         value = json_next(value))
        ok = json_type(value) == JSON_STRING;
    return ok ||
           error_data(err, "%s: '%s' must be an object of strings", tensors->path, metadata_key);
}

static int compare_places(const void *a, const void *b) {
    const Tensor *x = a, *y = b;
    if (x->data != y->data)
        return (const char *)x->data < (const char *)y->data ? -1 : 1;
    size_t x_bytes = tensor_bytes(x), y_bytes = tensor_bytes(y); // empty tensors come first
    return x_bytes < y_bytes ? -1 : x_bytes > y_bytes;
}

// Checks that, in file order, each tensor begins where the previous one ends.
static bool tiles_exactly(Tensors *tensors, size_t data_begin, Error *err) {
    if (tensors->count > 1)
        qsort(tensors->tensor, (size_t)tensors->count, sizeof(Tensor), compare_places);
    const char *at = (const char *)tensors->mapping + data_begin;
    for (int i = 0; i < tensors->count; i++) {
        if ((const char *)tensors->tensor[i].data != at)
            return damaged(tensors, tensors->tensor[i].name,
                           "does not begin where the one before it ends", err);
        at += tensor_bytes(&tensors->tensor[i]);
    }
    size_t used = (size_t)(at - (const char *)tensors->mapping);
    return used == tensors->bytes || error_data(err, "%s: %zu bytes follow the last tensor",
                                                tensors->path, tensors->bytes - used);
}

// Files of other writers may hold misaligned tensors; these are copied.
static bool align(Tensors *tensors, Error *err) {
    for (int i = 0; i < tensors->count; i++) {
        Tensor *tensor = &tensors->tensor[i];
        if ((uintptr_t)tensor->data % tensor_type_bytes[tensor->type] == 0)
            continue;
        size_t bytes = tensor_bytes(tensor);
        void *copy = memory_try(bytes, "tensor that is not aligned in its file", err);
        if (copy == NULL)
            return error_prefix(err, "%s", tensors->path);
        if (bytes > 0)
            memcpy(copy, tensor->data, bytes);
        tensor->data = copy;
    }
    return true;
}

static bool is_copy(const Tensors *tensors, const Tensor *tensor) {
    const char *begin = tensors->mapping, *at = tensor->data;
    return at < begin || at > begin + tensors->bytes;
}

// --- opening

static Json *parse_header(const Tensors *tensors, size_t *data_begin, Error *err) {
    uint64_t length = 0;
    const unsigned char *bytes = tensors->mapping;
    for (int i = 0; i < HEAD; i++)
        length |= (uint64_t)bytes[i] << (8 * i);
    if (length > tensors->bytes - HEAD) {
        error_data(err,
                   "%s: announces a header of %lu bytes but has %zu; it is truncated or not a "
                   "safetensors file",
                   tensors->path, length, tensors->bytes);
        return NULL;
    }
    *data_begin = HEAD + (size_t)length;
    Json *header = json_parse((const char *)bytes + HEAD, (size_t)length, tensors->path, err);
    if (header != NULL && json_type(header) != JSON_OBJECT) {
        error_data(err, "%s: its header is not a JSON object", tensors->path);
        json_free(header);
        return NULL;
    }
    return header;
}

static bool read_header(Tensors *tensors, Error *err) {
    size_t data_begin;
    CLEARED(json_drop) Json *header = parse_header(tensors, &data_begin, err);
    if (header == NULL)
        return false;
    tensors->tensor = ALLOC(Tensor, json_size(header), "list of tensors");
    bool ok = true;
    for (const Json *entry = json_first(header); entry != NULL && ok; entry = json_next(entry))
        ok = strcmp(json_key(entry), metadata_key) == 0
                 ? check_metadata(tensors, entry, err)
                 : read_entry(tensors, entry, data_begin, err);
    return ok && tiles_exactly(tensors, data_begin, err) && align(tensors, err);
}

static bool set_path(Tensors *tensors, const char *path, Error *err) {
    *tensors = (Tensors){0};
    int used = snprintf(tensors->path, sizeof tensors->path, "%s", path);
    return (used >= 0 && (size_t)used < sizeof tensors->path) ||
           error_set(err, EXIT_NO_INPUT, "%s: the path is too long", path);
}

static bool read_mapping(Tensors *tensors, Error *err) {
    if (tensors->mapping != NULL && read_header(tensors, err))
        return true;
    tensors_close(tensors);
    return false;
}

bool tensors_open(Tensors *tensors, const char *path, Error *err) {
    if (!set_path(tensors, path, err))
        return false;
    tensors->mapping = file_map(path, HEAD, &tensors->bytes, err);
    return read_mapping(tensors, err);
}

bool tensors_parse(Tensors *tensors, const void *bytes, size_t count, const char *path,
                   Error *err) {
    if (!set_path(tensors, path, err) || !file_has_bytes(path, count, HEAD, err))
        return false;
    tensors->mapping = (void *)(uintptr_t)bytes;
    tensors->bytes = count;
    tensors->lent = true;
    return read_mapping(tensors, err);
}

void tensors_close(Tensors *tensors) {
    for (int i = 0; i < tensors->count; i++)
        if (is_copy(tensors, &tensors->tensor[i]))
            MEMORY_FREE(tensors->tensor[i].data);
    memory_free(tensors->tensor);
    if (!tensors->lent)
        file_unmap(tensors->mapping, tensors->bytes);
    *tensors = (Tensors){0};
}

// --- access

const Tensor *tensors_find(const Tensors *tensors, const char *name) {
    for (int i = 0; i < tensors->count; i++)
        if (strcmp(tensors->tensor[i].name, name) == 0)
            return &tensors->tensor[i];
    return NULL;
}

const char *tensor_describe(char *out, size_t size, TensorType type, int rank,
                            const int64_t *shape) {
    char extents[128] = "", extent[24];
    for (int i = 0; i < rank; i++) {
        snprintf(extent, sizeof extent, "%ld", shape[i]);
        text_add(extents, sizeof extents, ", ", "%s", shape[i] < 0 ? "?" : extent);
    }
    snprintf(out, size, "%s [%s]", tensor_type_names[type], extents);
    return out;
}

const Tensor *tensors_need(const Tensors *tensors, const char *name, TensorType type, int rank,
                           const int64_t *shape, Error *err) {
    const Tensor *tensor = tensors_find(tensors, name);
    if (tensor == NULL) {
        error_data(err, "%s: has no tensor '%s'", tensors->path, SHOWN(name));
        return NULL;
    }
    bool fits = tensor->type == type && tensor->rank == rank;
    for (int i = 0; i < rank && fits; i++)
        fits = shape[i] < 0 || shape[i] == tensor->shape[i];
    if (fits)
        return tensor;
    char found[100], needed[100];
    error_data(err, "%s: tensor '%s' is %s; expected %s", tensors->path, SHOWN(name),
               tensor_describe(found, sizeof found, tensor->type, tensor->rank, tensor->shape),
               tensor_describe(needed, sizeof needed, type, rank, shape));
    return NULL;
}

const char *tensors_metadata(const Tensors *tensors, const char *key, char *out, size_t size) {
    size_t data_begin;
    CLEARED(json_drop) Json *header = parse_header(tensors, &data_begin, &(Error){0});
    if (header == NULL)
        return NULL;
    const Json *metadata = json_get(header, metadata_key);
    const Json *value = metadata == NULL ? NULL : json_get(metadata, key);
    if (value != NULL)
        snprintf(out, size, "%s", json_string(value));
    return value == NULL ? NULL : out;
}

void tensors_print(const Sink *out, const Tensors *tensors, const char *title) {
    sink_print(out, "%s: %d tensors, %zu bytes\n", SHOWN(title), tensors->count, tensors->bytes);
    for (int i = 0; i < tensors->count; i++) {
        const Tensor *tensor = &tensors->tensor[i];
        sink_print(out, "  %-32s %-5s [", SHOWN(tensor->name), tensor_type_names[tensor->type]);
        for (int d = 0; d < tensor->rank; d++)
            sink_print(out, "%s%ld", d > 0 ? ", " : "", tensor->shape[d]);
        sink_print(out, "]\n");
    }
}
