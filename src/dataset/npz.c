// npz: a zip archive of npy arrays (zip_archive.c), without duplicate names. An array is unpacked
// as a whole into its memory. Headers are read piece by piece, and so is an array that cannot be
// read as a whole: that finds what is wrong with it.

#include "internal.h"
#include "npy_input.h"
#include "zip_archive.h"

enum { READ_AHEAD = 4 }; // arrays

struct Npz {
    ZipArchive archive;
    char path[PATH_BYTES];
    int count;
    int *member;           // [count] index in the archive
    char (*key)[256];      // [count] name without ".npy"
    Npy ready[READ_AHEAD]; // arrays that nobody has asked for yet; without data: none
};

static int compare_names(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_are_unique(zip_t *zip, int64_t count, Error *err) {
    FREED const char **name = memory_try((size_t)count * sizeof *name, "names of an archive", err);
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
            ok = error_data(err, "'%.200s' is in the archive twice", SHOWN(name[i]));
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
        return error_data(err, "%s: it holds %ld members", npz->path, count);
    return (names_are_unique(npz->archive.zip, count, err) &&
            zip_archive_is_disjoint(&npz->archive, err) && list_members(npz, count, err)) ||
           error_prefix(err, "%s", npz->path);
}

static Npz *npz_new(const char *path) {
    Npz *npz = ALLOC(Npz, 1, "an archive");
    snprintf(npz->path, sizeof npz->path, "%s", path);
    return npz;
}

bool npz_is_archive(const char *path) { // a zip begins with PK
    char head[3];
    file_head(path, head, sizeof head);
    return (path_ends(path, ".npz") && !file_is_folder(path)) || strcmp(head, "PK") == 0;
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
    MEMORY_FREE(npz->member, npz->key, npz);
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

static bool read_member(Npz *npz, int index, bool head, Npy *out, Error *err) {
    ZipMember member;
    if (!zip_member_open(&member, &npz->archive, npz->member[index], err))
        return false;
    NpyInput input = {zip_member_pull, &member, member.left};
    size_t bytes;
    bool ok = head ? npy_head(out, npz->key[index], &input, &bytes, err)
                   : npy_from(out, npz->key[index], &input, err) && zip_member_finish(&member, err);
    zip_fclose(member.file);
    return ok;
}

// ---- arrays that are read as a whole, which is faster than piece by piece

// False if it cannot be read as a whole; then reading it piece by piece says why, if it is damaged.
// `taken`: also if its elements must be converted.
static bool whole_begin(Npz *npz, int index, bool taken, Npy *head, Packed *packed) {
    Error ignored = {0};
    if (!read_member(npz, index, true, head, &ignored) || head->trailing ||
        (taken && !npy_is_taken(head)) ||
        !zip_archive_place(&npz->archive, npz->member[index], packed))
        return false;
    packed->to = memory_try(packed->bytes, "an array read from a file", &ignored);
    return packed->to != NULL;
}

// The header lies before the data, which move to its place.
static void whole_end(const Npy *head, const Packed *packed, Npy *ready) {
    size_t data = (size_t)head->elements * (size_t)head->item;
    if (!packed->sound) {
        memory_free(packed->to);
        return;
    }
    memmove(packed->to, packed->to + packed->bytes - data, data);
    *ready = *head;
    ready->data = packed->to;
}

static void read_whole(Npz *npz, int count, const char *const *key, bool taken) {
    Npy head[READ_AHEAD] = {0};
    Packed packed[READ_AHEAD] = {0};
    int begun = 0, index, slot = 0;
    for (int i = 0; i < count; i++)
        if ((index = find_key(npz, key[i])) >= 0 &&
            whole_begin(npz, index, taken, &head[begun], &packed[begun]))
            begun++;
    unpack_all(packed, begun);
    for (int i = 0; i < begun; i++) {
        while (slot < READ_AHEAD - 1 && npz->ready[slot].data != NULL)
            slot++;
        npy_clear(&npz->ready[slot]);
        whole_end(&head[i], &packed[i], &npz->ready[slot]);
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
static bool rest_is_equal(ZipMember *member, const unsigned char *first, size_t item,
                          size_t bytes) {
    enum { PIECE = 1 << 16 }; // of a whole number of elements
    unsigned char piece[PIECE];
    for (size_t done = 0; done < bytes;) {
        size_t take = bytes - done < PIECE ? bytes - done : PIECE;
        if (!zip_member_pull(member, piece, take, &(Error){0}) || memcmp(piece, first, item) != 0 ||
            memcmp(piece, piece + item, take - item) != 0)
            return false;
        done += take;
    }
    return true;
}

static bool first_is_one(ZipMember *member, const Npy *npy, unsigned char *first) {
    Npy one = *npy;
    FREED float *value = NULL;
    Error ignored = {0};
    one.elements = 1;
    one.rank = 0;
    one.data = first;
    return npy->item <= 8 && npy->elements > 0 &&
           zip_member_pull(member, first, (size_t)npy->item, &ignored) &&
           npy_to_float(&one, &value, &ignored) && value[0] == 1;
}

bool npz_is_all_one(Npz *npz, const char *key) {
    Npy npy;
    ZipMember member;
    unsigned char first[8];
    size_t bytes;
    Error ignored = {0};
    int index = find_key(npz, key);
    if (index < 0 || !zip_member_open(&member, &npz->archive, npz->member[index], &ignored))
        return false;
    NpyInput input = {zip_member_pull, &member, member.left};
    bool ok = npy_head(&npy, key, &input, &bytes, &ignored) && bytes <= memory_available() &&
              first_is_one(&member, &npy, first) &&
              rest_is_equal(&member, first, (size_t)npy.item, bytes - (size_t)npy.item) &&
              zip_member_finish(&member, &ignored);
    zip_fclose(member.file);
    return ok;
}

// ---- what the public header shows

void npz_list(const Npz *npz, char *out, size_t size) {
    out[0] = '\0';
    for (int i = 0; i < npz_count(npz) && strlen(out) + 64 < size; i++)
        text_add(out, size, ", ", "%.40s", npz_key(npz, i));
    if (out[0] == '\0')
        snprintf(out, size, "none");
}

static bool no_such_array(const Npz *npz, const char *key, Error *err) {
    char found[512];
    npz_list(npz, found, sizeof found);
    return error_data(err, "%s: there is no array '%s' in it; its arrays are %s", npz->path, key,
                      found);
}

static bool read_array(Npz *npz, const char *key, bool head, Npy *out, Error *err) {
    *out = (Npy){0};
    int index = find_key(npz, key);
    if (index < 0)
        return no_such_array(npz, key, err);
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
