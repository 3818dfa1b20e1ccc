// npz: a zip archive of npy arrays, opened by libzip. Checks what libzip does not: empty files,
// methods other than stored and deflated, encryption, duplicate names, and sizes that no deflate
// stream of that length can have. An array's bytes go from the archive straight into its memory,
// and the checksum covers all of them. Headers are read piece by piece, and so is an array that
// cannot be read as a whole: that finds what is wrong with it.

#include "npy_input.h"
#include "unpack.h"
#include "zip_archive.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { DEFLATE_EXPANDS = 1032, READ_AHEAD = 4 }; // factor, at most; arrays

struct Npz {
    ZipArchive archive;
    char path[1024];
    int count;
    int *member;           // [count] index in the archive
    char (*key)[256];      // [count] name without ".npy"
    Npy ready[READ_AHEAD]; // arrays that nobody has asked for yet; without data: none
};

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
        const char *name = zip_get_name(npz->archive.zip, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
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

static bool read_directory(Npz *npz, Error *err) {
    int64_t count = (int64_t)zip_get_num_entries(npz->archive.zip, 0);
    if (count > 1 << 20)
        return error_set(err, EXIT_DATA, "%s: it holds %lld members", npz->path, (long long)count);
    return (names_are_unique(npz->archive.zip, count, err) && list_members(npz, count, err)) ||
           error_prefix(err, "%s", npz->path);
}

static Npz *npz_new(const char *path) {
    Npz *npz = ALLOC(Npz, 1, "an archive");
    snprintf(npz->path, sizeof npz->path, "%s", path);
    return npz;
}

Npz *npz_open(const char *path, Error *err) {
    Npz *npz = npz_new(path);
    if (zip_archive_map(&npz->archive, path, err) && read_directory(npz, err))
        return npz;
    npz_close(npz);
    return NULL;
}

Npz *npz_parse(const void *bytes, size_t count, const char *path, Error *err) {
    Npz *npz = npz_new(path);
    if (zip_archive_lend(&npz->archive, bytes, count, path, err) && read_directory(npz, err))
        return npz;
    npz_close(npz);
    return NULL;
}

void npz_close(Npz *npz) {
    if (npz == NULL)
        return;
    for (int i = 0; i < READ_AHEAD; i++)
        npy_clear(&npz->ready[i]);
    zip_archive_close(&npz->archive);
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
    return true;
}

static bool stat_member(Npz *npz, int index, zip_stat_t *stat, Error *err) {
    zip_t *zip = npz->archive.zip;
    if (zip_stat_index(zip, (zip_uint64_t)npz->member[index], 0, stat) != 0)
        return error_set(err, EXIT_DATA, "%s", zip_strerror(zip));
    return member_is_sound(stat, (int64_t)npz->archive.bytes, err);
}

static bool member_open(Member *member, Npz *npz, int index, zip_stat_t *stat, Error *err) {
    zip_t *zip = npz->archive.zip;
    if (!stat_member(npz, index, stat, err))
        return false;
    *member = (Member){zip_fopen_index(zip, (zip_uint64_t)npz->member[index], 0), crc32(0, NULL, 0),
                       (size_t)stat->size};
    return member->file != NULL || error_set(err, EXIT_DATA, "%s", zip_strerror(zip));
}

static bool read_member(Npz *npz, int index, bool head, Npy *out, Error *err) {
    zip_stat_t stat;
    Member member;
    if (!member_open(&member, npz, index, &stat, err))
        return false;
    NpyInput input = {pull_member, &member, (size_t)stat.size};
    size_t bytes;
    bool ok =
        head ? npy_head(out, npz->key[index], &input, &bytes, err)
             : npy_from(out, npz->key[index], &input, err) && finish_member(&member, &stat, err);
    zip_fclose(member.file);
    return ok;
}

// ---- arrays that are read as a whole, which is faster than piece by piece

typedef struct Whole {
    Npy npy; // its header
    Packed packed;
} Whole;

// False if it cannot be read as a whole; then reading it piece by piece says why, if it is damaged.
// `taken`: also if its elements must be converted.
static bool whole_begin(Whole *whole, Npz *npz, int index, bool taken) {
    zip_stat_t stat;
    Error ignored = {0};
    *whole = (Whole){0};
    if (!read_member(npz, index, true, &whole->npy, &ignored) || whole->npy.trailing ||
        (taken && !npy_is_taken(&whole->npy)) || !stat_member(npz, index, &stat, &ignored))
        return false;
    whole->packed =
        (Packed){.from = zip_archive_member(&npz->archive, (zip_uint64_t)npz->member[index],
                                            (size_t)stat.comp_size),
                 .packed = (size_t)stat.comp_size,
                 .deflated = stat.comp_method == ZIP_CM_DEFLATE,
                 .bytes = (size_t)stat.size,
                 .crc = stat.crc};
    if (whole->packed.from != NULL)
        whole->packed.to = memory_try(whole->packed.bytes, "an array read from a file", &ignored);
    return whole->packed.to != NULL;
}

// The header lies before the data, which move to its place.
static void whole_end(Whole *whole, Npy *ready) {
    const Packed *packed = &whole->packed;
    size_t data = (size_t)whole->npy.elements * (size_t)whole->npy.item;
    if (!packed->sound) {
        memory_free(packed->to);
        return;
    }
    memmove(packed->to, packed->to + packed->bytes - data, data);
    *ready = whole->npy;
    ready->data = packed->to;
}

static void read_whole(Npz *npz, int count, const char *const *key, bool taken) {
    Whole whole[READ_AHEAD];
    Packed packed[READ_AHEAD];
    int begun = 0, index, slot = 0;
    for (int i = 0; i < count; i++)
        if ((index = find_key(npz, key[i])) >= 0 && whole_begin(&whole[begun], npz, index, taken))
            packed[begun] = whole[begun].packed, begun++;
    unpack_all(packed, begun);
    for (int i = 0; i < begun; i++) {
        while (slot < READ_AHEAD - 1 && npz->ready[slot].data != NULL)
            slot++;
        npy_clear(&npz->ready[slot]);
        whole[i].packed.sound = packed[i].sound;
        whole_end(&whole[i], &npz->ready[slot]);
    }
}

void npz_read_ahead(Npz *npz, int count, const char *const *key) {
    assert(count <= READ_AHEAD);
    read_whole(npz, count, key, true);
}

static bool take_ready(Npz *npz, const char *key, Npy *out) {
    for (int i = 0; i < READ_AHEAD; i++)
        if (npz->ready[i].data != NULL && strcmp(npz->ready[i].name, key) == 0) {
            *out = npz->ready[i];
            npz->ready[i] = (Npy){0};
            return true;
        }
    return false;
}

// ---- arrays of ones

// Reads on while the elements have the bytes of the first one.
static bool rest_is_equal(Member *member, const unsigned char *first, size_t item, size_t bytes) {
    enum { PIECE = 1 << 16 }; // of a whole number of elements
    unsigned char piece[PIECE];
    Error ignored = {0};
    for (size_t done = 0; done < bytes;) {
        size_t take = bytes - done < PIECE ? bytes - done : PIECE;
        if (!pull_member(member, piece, take, &ignored) || memcmp(piece, first, item) != 0 ||
            memcmp(piece, piece + item, take - item) != 0)
            return false;
        done += take;
    }
    return true;
}

static bool first_is_one(Member *member, const Npy *npy, unsigned char *first) {
    Npy one = *npy;
    float *value = NULL;
    Error ignored = {0};
    one.elements = 1;
    one.rank = 0;
    one.data = first;
    bool ok = npy->item <= 8 && npy->elements > 0 &&
              pull_member(member, first, (size_t)npy->item, &ignored) &&
              npy_to_float(&one, &value, &ignored) && value[0] == 1;
    memory_free(value);
    return ok;
}

bool npz_is_all_one(Npz *npz, const char *key) {
    zip_stat_t stat;
    Npy npy;
    Member member;
    unsigned char first[8];
    size_t bytes;
    Error ignored = {0};
    int index = find_key(npz, key);
    if (index < 0 || !member_open(&member, npz, index, &stat, &ignored))
        return false;
    NpyInput input = {pull_member, &member, (size_t)stat.size};
    bool ok = npy_head(&npy, key, &input, &bytes, &ignored) && bytes <= memory_available() &&
              first_is_one(&member, &npy, first) &&
              rest_is_equal(&member, first, (size_t)npy.item, bytes - (size_t)npy.item) &&
              finish_member(&member, &stat, &ignored);
    zip_fclose(member.file);
    return ok;
}

// ---- the door

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
    if (take_ready(npz, key, out))
        return true;
    read_whole(npz, 1, &key, false);
    return take_ready(npz, key, out) || read_array(npz, key, false, out, err);
}

bool npz_look(Npz *npz, const char *key, Npy *out, Error *err) {
    return read_array(npz, key, true, out, err);
}
