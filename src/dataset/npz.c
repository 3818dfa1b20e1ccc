// npz: a zip archive of npy arrays, opened by libzip. Checks what libzip does not: empty files,
// methods other than stored and deflated, encryption, duplicate names, and the tricks of zip bombs:
// sizes that no deflate stream of that length can have, gigabytes of one byte, members that overlap
// (Fifield, 2019), and what follows an array. An array's bytes go from the archive straight into
// its memory, and the checksum covers all of them.

#include "npy_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>
#include <zlib.h>

enum { DEFLATE_EXPANDS = 1032 }; // factor, at most
// Only one byte over and over expands so much; that much of it is not data.
enum { BOMB_EXPANDS = 1000, BOMB_FROM = 1 << 30 };
enum { MOST_TRAILING = 1 << 16 };

struct Npz {
    zip_t *zip;
    char path[1024];
    int64_t bytes; // of the archive
    int count;
    int *member;      // [count] index in the archive
    char (*key)[256]; // [count] name without ".npy"
};

static bool zip_failure(Error *err, int code) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    error_set(err, code == ZIP_ER_MEMORY ? EXIT_MEMORY : EXIT_DATA,
              "it is not a sound npz file: %s", zip_error_strerror(&error));
    zip_error_fini(&error);
    return false;
}

static bool has_room(int64_t size, Error *err) {
    return size >= 22 ||
           error_set(err, EXIT_DATA, "%lld bytes are too few for an npz file", (long long)size);
}

// Takes over the descriptor; NULL with an error.
static zip_t *open_archive(int descriptor, int64_t size, Error *err) {
    zip_t *zip = NULL;
    int code = 0;
    if (has_room(size, err) && (zip = zip_fdopen(descriptor, 0, &code)) == NULL)
        zip_failure(err, code);
    if (zip == NULL) // else the archive owns it
        close(descriptor);
    return zip;
}

static zip_t *lend_archive(const void *bytes, size_t count, Error *err) {
    zip_error_t error;
    if (!has_room((int64_t)count, err))
        return NULL;
    zip_source_t *source = zip_source_buffer_create(bytes, count, 0, &error);
    zip_t *zip = source != NULL ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (zip == NULL)
        zip_failure(err, zip_error_code_zip(&error));
    if (zip == NULL && source != NULL) // else the archive owns it
        zip_source_free(source);
    return zip;
}

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

// Checks that no name occurs twice.
static bool names_are_unique(zip_t *zip, int64_t count, Error *err) {
    const char **name = memory_try((size_t)count * sizeof *name, "names of an archive", err);
    if (name == NULL)
        return false;
    bool ok = true;
    for (int64_t i = 0; i < count; i++) {
        name[i] = zip_get_name(zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        if (name[i] == NULL)
            name[i] = "";
    }
    qsort(name, (size_t)count, sizeof *name, compare_names);
    for (int64_t i = 1; ok && i < count; i++)
        if (strcmp(name[i - 1], name[i]) == 0)
            ok = error_set(err, EXIT_DATA, "'%.200s' is in the archive twice", SHOWN(name[i]));
    memory_free(name);
    return ok;
}

// Lists the members called <key>.npy and ignores others. Keys are as sentences can show them.
static bool list_members(Npz *npz, int64_t count, Error *err) {
    npz->key = memory_try((size_t)count * sizeof *npz->key, "names of arrays", err);
    npz->member = memory_try((size_t)count * sizeof *npz->member, "places of arrays", err);
    if (npz->key == NULL || npz->member == NULL)
        return false;
    for (int i = 0; i < (int)count; i++) {
        const char *name = zip_get_name(npz->zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        size_t length = name == NULL ? 0 : strlen(name);
        if (length < 5 || length - 4 >= sizeof *npz->key || strcmp(name + length - 4, ".npy") != 0)
            continue;
        char key[sizeof *npz->key];
        snprintf(key, sizeof key, "%.*s", (int)(length - 4), name);
        text_shown(npz->key[npz->count], sizeof key, key);
        npz->member[npz->count++] = i;
    }
    return true;
}

static bool members_fit(const Npz *npz, int64_t count, Error *err) {
    zip_uint64_t bytes = 0;
    for (int64_t i = 0; i < count; i++) {
        zip_stat_t stat;
        bool known = zip_stat_index(npz->zip, (zip_uint64_t)i, 0, &stat) == 0 &&
                     (stat.valid & ZIP_STAT_COMP_SIZE) != 0;
        if (known && __builtin_add_overflow(bytes, stat.comp_size, &bytes))
            bytes = UINT64_MAX;
    }
    return bytes <= (zip_uint64_t)npz->bytes ||
           error_set(err, EXIT_DATA,
                     "its members have %llu compressed bytes, but it has %lld: they overlap, as in "
                     "a zip bomb",
                     (unsigned long long)bytes, (long long)npz->bytes);
}

static bool read_directory(Npz *npz, Error *err) {
    int64_t count = (int64_t)zip_get_num_entries(npz->zip, 0);
    if (count > 1 << 20)
        return error_set(err, EXIT_DATA, "it holds %lld members", (long long)count);
    return names_are_unique(npz->zip, count, err) && members_fit(npz, count, err) &&
           list_members(npz, count, err);
}

// Takes over the archive, which is NULL if there is an error already.
static Npz *npz_new(zip_t *zip, int64_t bytes, const char *path, Error *err) {
    Npz *npz = ALLOC(Npz, 1, "an archive");
    snprintf(npz->path, sizeof npz->path, "%s", path);
    npz->zip = zip;
    npz->bytes = bytes;
    if (zip != NULL && read_directory(npz, err))
        return npz;
    error_prefix(err, "%s", path);
    npz_close(npz);
    return NULL;
}

Npz *npz_open(const char *path, Error *err) {
    int64_t bytes;
    int descriptor = file_open(path, &bytes, err);
    return descriptor < 0 ? NULL : npz_new(open_archive(descriptor, bytes, err), bytes, path, err);
}

Npz *npz_parse(const void *bytes, size_t count, const char *path, Error *err) {
    return npz_new(lend_archive(bytes, count, err), (int64_t)count, path, err);
}

void npz_close(Npz *npz) {
    if (npz == NULL)
        return;
    if (npz->zip != NULL)
        zip_discard(npz->zip);
    memory_free(npz->member);
    memory_free(npz->key);
    memory_free(npz);
}

int npz_count(const Npz *npz) { return npz->count; }

const char *npz_key(const Npz *npz, int index) {
    assert(index >= 0 && index < npz->count);
    return npz->key[index];
}

static int find_key(const Npz *npz, const char *key) {
    for (int i = 0; i < npz->count; i++)
        if (strcmp(npz->key[i], key) == 0)
            return i;
    return -1;
}

bool npz_has(const Npz *npz, const char *key) { return find_key(npz, key) >= 0; }

typedef struct Member { // one array being read
    zip_file_t *file;
    uLong crc;
    size_t left; // bytes left by its directory entry
} Member;

static bool pull_member(void *context, void *into, size_t bytes, Error *err) {
    Member *member = context;
    unsigned char *at = into;
    while (bytes > 0) {
        size_t piece = bytes < (size_t)1 << 24 ? bytes : (size_t)1 << 24;
        zip_int64_t got = zip_fread(member->file, at, piece);
        if (got <= 0)
            return error_set(err, EXIT_DATA, "its compressed data is damaged (%s)",
                             got < 0 ? zip_error_strerror(zip_file_get_error(member->file))
                                     : "it ends early");
        member->crc = crc32_z(member->crc, at, (z_size_t)got);
        at += got;
        bytes -= (size_t)got;
        member->left -= (size_t)got;
    }
    return true;
}

// Reads the rest of the member: bytes after the data, then its end; then compares the checksum.
static bool finish_member(Member *member, const zip_stat_t *stat, Error *err) {
    unsigned char rest[4096];
    if (member->left > MOST_TRAILING)
        return error_set(err, EXIT_DATA, "%zu bytes follow its data", member->left);
    while (member->left > 0)
        if (!pull_member(member, rest, member->left < sizeof rest ? member->left : sizeof rest,
                         err))
            return false;
    zip_int64_t more = zip_fread(member->file, rest, 1);
    if (more != 0)
        return error_set(err, EXIT_DATA, "its compressed data is damaged (%s)",
                         more < 0 ? zip_error_strerror(zip_file_get_error(member->file))
                                  : "it is longer than the archive says");
    if ((zip_uint32_t)member->crc != stat->crc)
        return error_set(err, EXIT_DATA, "its checksum does not match");
    return true;
}

// Checks that the archive's directory entry of a member is plausible.
static bool member_is_sound(const zip_stat_t *stat, int64_t archive_bytes, Error *err) {
    const zip_uint64_t wanted = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD |
                                ZIP_STAT_CRC | ZIP_STAT_ENCRYPTION_METHOD;
    if ((stat->valid & wanted) != wanted)
        return error_set(err, EXIT_DATA, "its entry in the archive is incomplete");
    if (stat->encryption_method != ZIP_EM_NONE)
        return error_set(err, EXIT_DATA, "it is encrypted");
    if (stat->comp_method != ZIP_CM_STORE && stat->comp_method != ZIP_CM_DEFLATE)
        return error_set(err, EXIT_DATA,
                         "compression method %d is not read; save it with numpy.savez or "
                         "numpy.savez_compressed",
                         stat->comp_method);
    bool stored = stat->comp_method == ZIP_CM_STORE;
    if (stat->comp_size > (zip_uint64_t)archive_bytes ||
        (stored ? stat->size != stat->comp_size
                : stat->size / DEFLATE_EXPANDS > stat->comp_size + 1))
        return error_set(err, EXIT_DATA,
                         "the archive claims %llu bytes in %llu, which is impossible",
                         (unsigned long long)stat->size, (unsigned long long)stat->comp_size);
    if (stat->size > BOMB_FROM && stat->size / BOMB_EXPANDS > stat->comp_size)
        return error_set(err, EXIT_DATA,
                         "%llu bytes expand to %llu, as in a zip bomb; if it is data, save it with "
                         "numpy.savez",
                         (unsigned long long)stat->comp_size, (unsigned long long)stat->size);
    return true;
}

static bool read_member(const Npz *npz, int index, bool head, Npy *out, Error *err) {
    zip_stat_t stat;
    zip_uint64_t place = (zip_uint64_t)npz->member[index];
    if (zip_stat_index(npz->zip, place, 0, &stat) != 0)
        return error_set(err, EXIT_DATA, "%s", zip_strerror(npz->zip));
    if (!member_is_sound(&stat, npz->bytes, err))
        return false;
    Member member = {zip_fopen_index(npz->zip, place, 0), crc32(0, NULL, 0), (size_t)stat.size};
    if (member.file == NULL)
        return error_set(err, EXIT_DATA, "%s", zip_strerror(npz->zip));
    NpyInput input = {pull_member, &member, (size_t)stat.size};
    size_t bytes;
    bool ok =
        head ? npy_head(out, npz->key[index], &input, &bytes, err)
             : npy_from(out, npz->key[index], &input, err) && finish_member(&member, &stat, err);
    zip_fclose(member.file);
    return ok;
}

static bool read_array(Npz *npz, const char *key, bool head, Npy *out, Error *err) {
    *out = (Npy){0};
    int index = find_key(npz, key);
    if (index < 0)
        return error_set(err, EXIT_DATA, "%s: there is no array '%s' in it", npz->path, key);
    if (read_member(npz, index, head, out, err))
        return true;
    npy_clear(out);
    return error_prefix(err, "%s: array '%s'", npz->path, key);
}

bool npz_read(Npz *npz, const char *key, Npy *out, Error *err) {
    return read_array(npz, key, false, out, err);
}

bool npz_look(Npz *npz, const char *key, Npy *out, Error *err) {
    return read_array(npz, key, true, out, err);
}
