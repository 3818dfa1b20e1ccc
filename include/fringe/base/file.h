// Files that survive a crash, and paths. Nothing here overwrites in place (TRAPS 16).
#ifndef FRINGE_BASE_FILE_H
#define FRINGE_BASE_FILE_H

#include "fringe/base/error.h"
#include <stdint.h>
#include <stdio.h>

// Opens a file to read it: a descriptor to close, or -1. EXIT_NO_INPUT if it is not there,
// EXIT_DATA if it is no regular file (a folder, a pipe, a device), which is told at once: nothing
// is waited for. *bytes is its size.
int file_open(const char *path, int64_t *bytes, Error *err);
// The same as a stream; NULL where it fails.
FILE *file_stream(const char *path, int64_t *bytes, Error *err);
// A whole file in memory (0-terminated for text); refuses files above `limit` bytes. memory_give
// it.
char *file_read(const char *path, size_t limit, size_t *bytes, Error *err);
// Replaces path by `bytes` of data: temporary file beside it, fsync, rename, fsync of the folder.
bool file_replace(const char *path, const void *data, size_t bytes, Error *err);
// Makes a folder and its parents, each flushed into the folder that holds it; fine if it is there.
bool file_make_folder(const char *path, Error *err);
// Could a folder be made there, or a file in it, if it is there? Looks by making an empty folder in
// it, or in the nearest one above it that is there, and taking it away again. EXIT_CANNOT_WRITE.
bool file_check_folder(const char *path, Error *err);
bool file_exists(const char *path);
bool file_is_folder(const char *path);
int64_t file_size(const char *path); // -1 if it is not there
// Removes a file, or a folder with all it holds. Fine if it is not there.
bool file_remove(const char *path, Error *err);
// Flushes a file or a folder to the disk.
bool file_sync(const char *path, Error *err);
// rename, then fsync of the folder that holds `to`.
bool file_rename(const char *from, const char *to, Error *err);
// The same; whoever renames many files syncs their folders when all have their new names.
bool file_rename_unsynced(const char *from, const char *to, Error *err);
// The two change places at once, then fsync of the folder that holds `other`. *done false, and
// nothing changed, where the filesystem cannot or one of them is not there.
bool file_exchange(const char *one, const char *other, bool *done, Error *err);
// A name for what is being written, beside `path`: "path.fringe-tmp-HOST.NAMESPACE-PID-N". No other
// process and no other call has it.
#define FILE_TEMPORARY ".fringe-tmp-"
bool file_temporary(char *out, size_t size, const char *path, Error *err);
// This process by a name that is its own among machines, "HOST-PID", and whether the process of
// such a name is no more: false where that cannot be known, as on another machine.
void file_process(char *out, size_t size);
bool file_process_is_gone(const char *name);
// Removes what dead writers left in `folder` under such names: those of this machine whose process
// is gone, those of others that nobody has touched for a day.
void file_sweep(const char *folder);
// "folder/name" into `out` of `size` bytes; absolute names stand alone. Aborts if it does not fit.
void path_join(char *out, size_t size, const char *folder, const char *name);
void path_folder(char *out, size_t size, const char *path); // "a/b" -> "a", "b" -> "."
const char *path_name(const char *path);                    // "a/b" -> "b"

// Every write, sync and rename counts one step. A test may have the process killed right after the
// n-th from now on (0: never); environment FRINGE_TEST_STOP_STEP=n does the same from the start.
void file_test_stop_after(int64_t steps);

// An open file being written in order.
typedef struct FileWriter {
    int descriptor;
    int64_t bytes; // written so far
    char path[1024];
    char temporary[1200]; // of file_writer_beside: where the bytes are until it takes its place
} FileWriter;
bool file_writer_open(FileWriter *writer, const char *path, Error *err);
bool file_writer_put(FileWriter *writer, const void *data, size_t bytes, Error *err);
// Without `sync` the file only begins to go to the disk: who syncs many files does it after the
// last is written, and waits once for all of them instead of for each.
bool file_writer_close(FileWriter *writer, bool sync, Error *err);
// The same beside `path`, under a new name that nobody else can have opened; take_place, instead of
// close, flushes it and renames it over `path`, or removes it where it is not whole.
bool file_writer_beside(FileWriter *writer, const char *path, Error *err);
bool file_writer_take_place(FileWriter *writer, bool whole, Error *err);

// 128-bit content hash (XXH3), fed piece by piece, and as 32 hexadecimal digits.
typedef struct Hash Hash;
Hash *hash_new(void);
void hash_add(Hash *hash, const void *data, size_t bytes);
void hash_text(const Hash *hash, char text[33]);
void hash_free(Hash *hash);
uint64_t hash_bytes(const void *data, size_t bytes); // 64-bit, for message and tensor checksums
bool hash_file(const char *path, char text[33], Error *err);

#endif
