// Zip archives in memory. The idea: libzip does not say where a member begins, so it is asked for
// the first byte, and the source that it asks in turn is ours.

#include "zip_archive.h"

#include <string.h>

enum { RELEASE = 4 << 20, LEAST = 22 }; // bytes between two releases; of an empty archive

// ---- the source of libzip

// Pages of a mapping that were read are given back from time to time.
static zip_int64_t read_some(ZipArchive *a, void *out, zip_uint64_t room) {
    size_t left = a->bytes - a->at, take = room < left ? (size_t)room : left, before = a->at;
    if (take > 0)
        memcpy(out, a->data + a->at, take);
    a->at += take;
    if (before / RELEASE != a->at / RELEASE)
        file_map_release(a->data + before / RELEASE * RELEASE, a->at - before / RELEASE * RELEASE);
    return (zip_int64_t)take;
}

static zip_int64_t seek(ZipArchive *a, void *data, zip_uint64_t bytes) {
    zip_error_t error;
    zip_error_init(&error);
    zip_int64_t at = zip_source_seek_compute_offset(a->at, a->bytes, data, bytes, &error);
    zip_error_fini(&error);
    if (at < 0)
        return -1;
    a->at = (size_t)at;
    return 0;
}

static zip_int64_t tell_size(const ZipArchive *a, zip_stat_t *stat) {
    zip_stat_init(stat);
    stat->valid = ZIP_STAT_SIZE;
    stat->size = a->bytes;
    return (zip_int64_t)sizeof *stat;
}

static zip_int64_t archive_call(void *context, void *data, zip_uint64_t bytes,
                                zip_source_cmd_t command) {
    ZipArchive *a = context;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        a->at = 0;
        return 0;
    case ZIP_SOURCE_READ:
        return read_some(a, data, bytes);
    case ZIP_SOURCE_SEEK:
        return seek(a, data, bytes);
    case ZIP_SOURCE_TELL:
        return (zip_int64_t)a->at;
    case ZIP_SOURCE_STAT:
        return tell_size(a, data);
    case ZIP_SOURCE_ERROR: { // that of seek
        zip_error_t error;
        zip_error_init(&error);
        zip_error_set(&error, ZIP_ER_SEEK, 0);
        return zip_error_to_data(&error, data, bytes);
    }
    case ZIP_SOURCE_SUPPORTS:
        return zip_source_make_command_bitmap(ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE,
                                              ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
                                              ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, -1);
    default: // close, free: the archive belongs to its reader
        return 0;
    }
}

// ---- opening

static bool refused(const char *path, zip_error_t *error, Error *err) {
    error_set(err, zip_error_code_zip(error) == ZIP_ER_MEMORY ? EXIT_MEMORY : EXIT_DATA,
              "%s: it is not a sound npz file: %s", path, zip_error_strerror(error));
    zip_error_fini(error);
    return false;
}

static bool open_zip(ZipArchive *a, const char *path, Error *err) {
    zip_error_t error;
    zip_error_init(&error);
    if (a->bytes < LEAST)
        return error_set(err, EXIT_DATA, "%s: %zu bytes are too few for an npz file", path,
                         a->bytes);
    zip_source_t *source = zip_source_function_create(archive_call, a, &error);
    a->zip = source == NULL ? NULL : zip_open_from_source(source, ZIP_RDONLY, &error);
    if (a->zip != NULL)
        return true;
    zip_source_free(source);
    return refused(path, &error, err);
}

bool zip_archive_map(ZipArchive *a, const char *path, Error *err) {
    *a = (ZipArchive){.mapped = true};
    a->data = file_map(path, 1, &a->bytes, err);
    return a->data != NULL && open_zip(a, path, err);
}

bool zip_archive_lend(ZipArchive *a, const void *data, size_t bytes, const char *path, Error *err) {
    *a = (ZipArchive){.data = data, .bytes = bytes};
    return open_zip(a, path, err);
}

void zip_archive_close(ZipArchive *a) {
    if (a->zip != NULL)
        zip_discard(a->zip);
    if (a->mapped)
        file_unmap((void *)(uintptr_t)a->data, a->bytes);
    *a = (ZipArchive){0};
}

const unsigned char *zip_archive_member(ZipArchive *a, zip_uint64_t member, size_t bytes) {
    unsigned char first;
    zip_file_t *file = zip_fopen_index(a->zip, member, ZIP_FL_COMPRESSED);
    if (file == NULL)
        return NULL;
    bool read = zip_fread(file, &first, 1) == 1;
    const unsigned char *begin = read && a->at > 0 ? a->data + a->at - 1 : NULL;
    zip_fclose(file);
    return begin != NULL && bytes <= a->bytes - (size_t)(begin - a->data) ? begin : NULL;
}
