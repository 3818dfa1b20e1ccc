// A zip archive in memory, mapped or lent: libzip reads its directory and its members, and members
// that are read whole are taken from their place in the memory.
#pragma once

#include "fringe/base.h"
#include "unpack.h"

#include <zip.h>

typedef struct ZipArchive {
    const unsigned char *data; // [bytes]
    size_t bytes;
    bool mapped;
    size_t at; // where libzip reads next
    zip_t *zip;
} ZipArchive;

// False with an error, which names the file; the archive is to be closed in that case too. libzip
// keeps the address of the struct, so it must stay where it is.
bool zip_archive_map(ZipArchive *archive, const char *path, Error *err);
bool zip_archive_lend(ZipArchive *archive, const void *data, size_t bytes, const char *path,
                      Error *err);
void zip_archive_close(ZipArchive *archive);
// False with an error, which does not name the file, if the members have more bytes than the
// archive.
bool zip_archive_is_disjoint(const ZipArchive *archive, Error *err);
// Sizes, checksum and place of a member to unpack; `to` stays NULL. False if it is not sound, or
// not found.
bool zip_archive_place(ZipArchive *archive, int index, Packed *out);

// A member that is read piece by piece, which tells what is wrong with it. Errors do not name it.
typedef struct ZipMember {
    zip_file_t *file;
    zip_stat_t stat;
    uint32_t sum; // checksum of what has been read
    size_t left;  // bytes left by its directory entry
} ZipMember;

// False with an error, and then there is nothing to zip_fclose, if its directory entry is not
// plausible.
bool zip_member_open(ZipMember *member, ZipArchive *archive, int index, Error *err);
bool zip_member_pull(void *member, void *into, size_t bytes, Error *err);
// Reads the rest of the member: bytes after the data, then its end; then compares the checksum.
bool zip_member_finish(ZipMember *member, Error *err);
