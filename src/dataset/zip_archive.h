// A zip archive in memory, mapped or lent: libzip reads its directory and its members, and members
// that are read whole are taken from their place in the memory.
#ifndef FRINGE_DATASET_ZIP_ARCHIVE_H
#define FRINGE_DATASET_ZIP_ARCHIVE_H

#include "fringe/base.h"

#include <zip.h>

typedef struct ZipArchive {
    const unsigned char *data; // [bytes]
    size_t bytes;
    bool mapped;
    size_t at; // where libzip reads next
    zip_t *zip;
} ZipArchive;

// False with an error, which names the file; close the archive also then. It must not move.
bool zip_archive_map(ZipArchive *archive, const char *path, Error *err);
bool zip_archive_lend(ZipArchive *archive, const void *data, size_t bytes, const char *path,
                      Error *err);
void zip_archive_close(ZipArchive *archive);
// The `bytes` bytes of a member as they are in the archive; NULL if they cannot be found.
const unsigned char *zip_archive_member(ZipArchive *archive, zip_uint64_t member, size_t bytes);

#endif
