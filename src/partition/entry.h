// An entry of parts in the cache, and the dataset that it is made from.
#pragma once

#include "internal.h"

// ---- cache.c
// Renames a finished temporary folder into place. If another run was faster and its entry is whole,
// that one is used.
bool cache_install(const char *temporary, const char *folder, bool (*is_whole)(const char *folder),
                   Error *err);
char *cache_entry_path(char out[PATH_BYTES], const char *cache, const char *kind, const char *hash,
                       const char *ending); // returns out
#define ENTRY_PATH(cache, kind, hash, ending)                                                      \
    cache_entry_path((char[PATH_BYTES]){0}, cache, kind, hash, ending)
// What is known about config.data so far.
typedef struct Prepared {
    const Config *config;
    const char *cache;
    char source[33], hash[33];
    char name[DATASET_NAME]; // of this source; another source may have the same contents
    Dataset dataset;         // after prepared_need: mapped, with that name
    bool loaded;
    CacheHold *hold; // of the prepared dataset
    Warnings *warnings;
} Prepared;
// Fills prepared->hash, from the cache if the source is known there.
bool prepared_init(Prepared *prepared, const Config *config, Warnings *warnings, Error *err);
// The nodes of config.data after its steps, if its folder or the cache says so; -1: not known. Only
// sources of at most `most` bytes are looked for in the cache, because that reads them whole.
int64_t prepared_nodes(const Config *config, int64_t most);
// Opens or loads the dataset.
bool prepared_need(Prepared *prepared, Error *err);
void prepared_clear(Prepared *prepared);

// ---- build.c
// partition_build by all ranks of comm; `folder` is set on all of them. Collective.
bool parts_build(const Config *config, int parts, const Comm *comm, char *folder, size_t size,
                 Warnings *warnings, Error *err);
