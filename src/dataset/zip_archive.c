// Zip archives in memory, read by libzip. Checks what libzip does not: empty files, methods other
// than stored and deflated, encryption, and the tricks of zip bombs: sizes that no deflate stream
// of that length can have, gigabytes of one byte, members that overlap (Fifield, 2019), and what
// follows an array. The idea: libzip does not say where a member begins, so it is asked for the
// first byte, and the source that it asks in turn is ours.

#include "zip_archive.h"

#include "internal.h"

#include <zlib.h>

enum {
    RELEASE = 4 << 20,      // bytes between two releases
    LEAST = 22,             // bytes of an empty archive
    MOST_TRAILING = 1 << 16 // bytes behind the data of an array
};
// Only one byte over and over expands so much; that much of it is not data.
enum { BOMB_EXPANDS = 1000, BOMB_FROM = 1 << 30 };

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
        return error_data(err, "%s: %zu bytes are too few for an npz file", path, a->bytes);
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

bool zip_archive_is_disjoint(const ZipArchive *a, Error *err) {
    zip_uint64_t bytes = 0;
    for (zip_int64_t i = 0; i < zip_get_num_entries(a->zip, 0); i++) {
        zip_stat_t stat;
        bool known = zip_stat_index(a->zip, (zip_uint64_t)i, 0, &stat) == 0 &&
                     (stat.valid & ZIP_STAT_COMP_SIZE) != 0;
        if (known && __builtin_add_overflow(bytes, stat.comp_size, &bytes))
            bytes = UINT64_MAX;
    }
    return bytes <= a->bytes || error_data(err,
                                           "its members have %lu compressed bytes, but it has %zu: "
                                           "they overlap, as in a zip bomb",
                                           bytes, a->bytes);
}

void zip_archive_close(ZipArchive *a) {
    if (a->zip != NULL)
        zip_discard(a->zip);
    if (a->mapped)
        file_unmap((void *)(uintptr_t)a->data, a->bytes);
    *a = (ZipArchive){0};
}

// ---- a member, piece by piece

// Checks that the archive's directory entry of a member is plausible.
static bool is_sound(const zip_stat_t *stat, size_t archive_bytes, Error *err) {
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                                ZIP_STAT_CRC | ZIP_STAT_ENCRYPTION_METHOD;
    if ((stat->valid & wanted) != wanted)
        return error_data(err, "its entry in the archive is incomplete");
    if (stat->encryption_method != ZIP_EM_NONE)
        return error_data(err, "it is encrypted");
    if (stat->comp_method != ZIP_CM_STORE && stat->comp_method != ZIP_CM_DEFLATE)
        return error_data(
            err,
            "compression method %d is not read; save it with numpy.savez or numpy.savez_compressed",
            stat->comp_method);
    bool stored = stat->comp_method == ZIP_CM_STORE;
    if (stat->comp_size > archive_bytes ||
        (stored ? stat->size != stat->comp_size
                : stat->size / DEFLATE_EXPANDS > stat->comp_size + 1))
        return error_data(err, "the archive claims %lu bytes in %lu, which is impossible",
                          stat->size, stat->comp_size);
    if (stat->size > BOMB_FROM && stat->size / BOMB_EXPANDS > stat->comp_size)
        return error_data(
            err,
            "%lu bytes expand to %lu, as in a zip bomb; if it is data, save it with numpy.savez",
            stat->comp_size, stat->size);
    return true;
}

static bool tell_member(ZipArchive *a, int index, zip_stat_t *stat, Error *err) {
    if (zip_stat_index(a->zip, (zip_uint64_t)index, 0, stat) != 0)
        return error_data(err, "%s", zip_strerror(a->zip));
    return is_sound(stat, a->bytes, err);
}

bool zip_member_open(ZipMember *member, ZipArchive *a, int index, Error *err) {
    *member = (ZipMember){.sum = (uint32_t)crc32(0, NULL, 0)};
    if (!tell_member(a, index, &member->stat, err))
        return false;
    member->left = (size_t)member->stat.size;
    member->file = zip_fopen_index(a->zip, (zip_uint64_t)index, 0);
    return member->file != NULL || error_data(err, "%s", zip_strerror(a->zip));
}

bool zip_member_pull(void *context, void *into, size_t bytes, Error *err) {
    ZipMember *member = context;
    unsigned char *at = into;
    while (bytes > 0) {
        size_t piece = bytes < (size_t)1 << 24 ? bytes : (size_t)1 << 24;
        zip_int64_t got = zip_fread(member->file, at, piece);
        if (got <= 0)
            return error_data(err, "its compressed data is damaged (%s)",
                              got < 0 ? zip_error_strerror(zip_file_get_error(member->file))
                                      : "it ends early");
        member->sum = (uint32_t)crc32_z(member->sum, at, (z_size_t)got);
        at += got;
        bytes -= (size_t)got;
        member->left -= (size_t)got;
    }
    return true;
}

bool zip_member_finish(ZipMember *member, Error *err) {
    unsigned char rest[4096];
    if (member->left > MOST_TRAILING)
        return error_data(err, "%zu bytes follow its data", member->left);
    while (member->left > 0)
        if (!zip_member_pull(member, rest, member->left < sizeof rest ? member->left : sizeof rest,
                             err))
            return false;
    zip_int64_t more = zip_fread(member->file, rest, 1);
    if (more != 0)
        return error_data(err, "its compressed data is damaged (%s)",
                          more < 0 ? zip_error_strerror(zip_file_get_error(member->file))
                                   : "it is longer than the archive says");
    return member->sum == member->stat.crc || error_data(err, "its checksum does not match");
}

// ---- a member as a whole

// Where its bytes begin; NULL if that is not found.
static const unsigned char *find_begin(ZipArchive *a, int index) {
    unsigned char first;
    zip_file_t *file = zip_fopen_index(a->zip, (zip_uint64_t)index, ZIP_FL_COMPRESSED);
    if (file == NULL)
        return NULL;
    bool read = zip_fread(file, &first, 1) == 1 && a->at > 0;
    const unsigned char *begin = read ? a->data + a->at - 1 : NULL;
    zip_fclose(file);
    return begin;
}

bool zip_archive_place(ZipArchive *a, int index, Packed *out) {
    zip_stat_t stat;
    if (!tell_member(a, index, &stat, &(Error){0}))
        return false;
    *out = (Packed){.from = find_begin(a, index),
                    .packed = (size_t)stat.comp_size,
                    .deflated = stat.comp_method == ZIP_CM_DEFLATE,
                    .bytes = (size_t)stat.size,
                    .crc = stat.crc};
    return out->from != NULL && out->packed <= a->bytes - (size_t)(out->from - a->data);
}
