// Content hashes: XXH3 of the xxHash library, 128 bits for names of caches, 64 bits for checksums.

#include "fringe/base/file.h"

#include <errno.h>
#include <unistd.h>
#include <xxhash.h>
// The library's dispatch functions use the widest vectors of this CPU and give the same hashes six
// times as fast. The functions of the header above use only the vectors of every x86-64 CPU.
#if defined(__x86_64__) && __has_include(<xxh_x86dispatch.h>)
#include <xxh_x86dispatch.h>
#endif

// A Hash is the library's state under another name.
static XXH3_state_t *state_of(const Hash *hash) { return (XXH3_state_t *)(uintptr_t)hash; }

Hash *hash_new(void) {
    XXH3_state_t *state = XXH3_createState();
    CHECK(state != NULL, EXIT_MEMORY, "no memory for a content hash");
    XXH3_128bits_reset(state);
    return (Hash *)state;
}

void hash_add(Hash *hash, const void *data, size_t bytes) {
    if (bytes > 0)
        XXH3_128bits_update(state_of(hash), data, bytes);
}

void hash_end(Hash *hash, char text[33]) {
    XXH128_hash_t sum = XXH3_128bits_digest(state_of(hash));
    snprintf(text, 33, "%016lx%016lx", sum.high64, sum.low64);
    XXH3_freeState(state_of(hash));
}

void hash_bytes_text(const void *data, size_t bytes, char text[33]) {
    Hash *hash = hash_new();
    hash_add(hash, data, bytes);
    hash_end(hash, text);
}

uint64_t hash_bytes(const void *data, size_t bytes) {
    return bytes == 0 ? XXH3_64bits("", 0) : XXH3_64bits(data, bytes);
}

static bool add_file(Hash *hash, int descriptor, const char *path, Error *err) {
    char piece[1 << 16]; // stays in a core's cache
    ssize_t got;
    while ((got = read(descriptor, piece, sizeof piece)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            hash_add(hash, piece, (size_t)got);
    return got == 0 || error_cannot(err, EXIT_IO, "read", path);
}

bool hash_file(const char *path, char text[33], Error *err) {
    int64_t size;
    CLEARED(descriptor_drop) int descriptor = file_open(path, &size, err);
    if (descriptor < 0)
        return false;
    Hash *hash = hash_new();
    bool ok = add_file(hash, descriptor, path, err);
    hash_end(hash, text);
    return ok;
}
