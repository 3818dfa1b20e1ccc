// Crash-safe files, and paths. Nothing here overwrites a file in place (TRAPS 16).
#pragma once

#include "fringe/base/memory.h"

enum { PATH_BYTES = 4096 }; // of a path with the 0 at its end: what the system takes

// Opens a file for reading: a descriptor to close, or -1. EXIT_NO_INPUT if it does not exist,
// EXIT_DATA if it is not a regular file (a folder, a pipe, a device). Never waits for a pipe or
// device. *bytes is its size.
int file_open(const char *path, int64_t *bytes, Error *err);
// True with EXIT_NO_INPUT if this user may not read the file or folder, or may not enter the folder
// that holds it. False if it can be read, and if it does not exist.
bool file_is_denied(const char *path, Error *err);
// The same as file_open as a stream; NULL on failure.
FILE *file_stream(const char *path, int64_t *bytes, Error *err);
static inline void stream_drop(FILE **stream) { // for CLEARED
    if (*stream != NULL)
        fclose(*stream);
}
void descriptor_drop(int *descriptor); // the same of file_open
// Reads a whole file into memory (0-terminated for text); refuses files above `limit` bytes. Free
// it with memory_free.
char *file_read(const char *path, size_t limit, size_t *bytes, Error *err);
// Maps a file of at least `least` bytes for reading (mapping.c); NULL with an error. If the file
// becomes shorter later, reading beyond its end ends the process with a sentence and EXIT_IO.
void *file_map(const char *path, size_t least, size_t *bytes, Error *err);
void file_unmap(void *mapping, size_t bytes); // NULL is allowed
// Gives back the memory that a part of a mapping takes: pages of the file that were read so far.
// Those that are read again come from the file again. Other memory is left as it is.
void file_map_release(const void *part, size_t bytes);
// Replaces path with `bytes` of data: temporary file beside it, fsync, rename, fsync of the folder.
bool file_replace(const char *path, const void *data, size_t bytes, Error *err);
// Makes a folder and its parents, each flushed into the folder that holds it. An existing folder is
// no error.
bool file_make_folder(const char *path, Error *err);
// Checks that the folder can be written or made. Tries by making an empty folder in it, or in the
// nearest existing folder above it, and removing it again. EXIT_CANNOT_WRITE.
bool file_check_folder(const char *path, Error *err);
bool file_exists(const char *path);
bool file_is_folder(const char *path);
bool file_is_regular(const char *path); // no folder, pipe or device; to open it waits for nobody
int64_t file_size(const char *path);    // -1 if it does not exist
// The first bytes of a regular file, `size` - 1 at most, and a 0. Returns how many.
size_t file_head(const char *path, char *head, size_t size);
// The names in a folder but "." and "..", in no order, while `more` holds:
//     for (FileNames in = file_names(folder); file_next(&in, more);)
//         use(in.name);
typedef struct FileNames {
    void *folder; // NULL, with errno, if it cannot be read: then there are none
    const char *name;
} FileNames;
FileNames file_names(const char *folder);
bool file_next(FileNames *names, bool more); // false, and closed, without more or at the end
// Removes a file, or a folder with all its contents. A missing one is no error.
bool file_remove(const char *path, Error *err);
// Flushes a file or a folder to the disk.
bool file_sync(const char *path, Error *err);
// rename, then fsync of the folder that holds `to`.
bool file_rename(const char *from, const char *to, Error *err);
// Exchanges two paths atomically, then fsyncs the folder that holds `other`. If the filesystem
// cannot do so or one of them is missing, nothing changes and *done is false.
bool file_exchange(const char *one, const char *other, bool *done, Error *err);
// A temporary name beside `path`, unique to this process and call:
// "path.fringe-tmp-HOST.NAMESPACE-PID-N".
#define FILE_TEMPORARY ".fringe-tmp-"
bool file_temporary(char *out, size_t size, const char *path, Error *err);
// Moves what was made under another name to `path`, where nothing, or an older one that goes, is
// seen until then. The two are exchanged in one step where the filesystem can do so.
bool file_take_place(const char *made, const char *path, Error *err);
// file_remove, but renamed before, so that nobody sees it partly removed. Open mappings stay valid.
bool file_discard(const char *path, Error *err);
// file_process gives this process a name that is unique among machines, "HOST-PID".
// file_process_is_gone says whether the process of such a name has ended; false if that cannot be
// known, as on another machine.
void file_process(char *out, size_t size);
bool file_process_is_gone(const char *name);
// Removes temporary files that ended processes left in `folder`: those of this machine whose
// process is gone, and those of other machines that were not modified for a day.
void file_sweep(const char *folder);
// True for such a temporary file or folder. False for any other path, and while its process lives.
bool file_is_left_over(const char *path);
// "folder/name" into `out` of `size` bytes; an absolute name is copied alone. Aborts if it does not
// fit.
char *path_join(char *out, size_t size, const char *folder, const char *name); // returns out
char *path_folder(char *out, size_t size, const char *path); // "a/b" -> "a", "b" -> "."; out
// The same as expressions; the text lives as long as the block that they stand in.
#define PATH_IN(folder, name) path_join((char[PATH_BYTES]){0}, PATH_BYTES, (folder), (name))
#define FOLDER_OF(path) path_folder((char[PATH_BYTES]){0}, PATH_BYTES, (path))
char *path_plain(char *out, size_t size, const char *path); // without slashes at its end
const char *path_name(const char *path);                    // "a/b" -> "b"
// True if it ends in one of the words, in any case of letters: ".npz .npy".
bool path_ends(const char *path, const char *endings);
// The folder of the running program, without links; "" if it is unknown.
void path_program_folder(char *out, size_t size);
// A program that this one starts: what the environment variable names, or the program beside this
// one (tests lie one folder below), or its name alone, which is then looked for in PATH.
void path_of_program(char *out, size_t size, const char *name, const char *variable);
// The file or folder `name` that came with the program: PREFIX/share/fringe/NAME of an installed
// one (PREFIX/bin/fringe), or NAME in the source tree around the build folder. False if there is
// none.
bool path_shipped(char *out, size_t size, const char *name);

// An open file being written in order.
typedef struct FileWriter {
    int descriptor;
    int64_t bytes; // written so far
    char path[PATH_BYTES];
    char temporary[PATH_BYTES]; // of file_writer_replace: the bytes' path until the rename
} FileWriter;
bool file_writer_open(FileWriter *writer, const char *path, Error *err);
bool file_writer_put(FileWriter *writer, const void *data, size_t bytes, Error *err);
// Without `sync` the file only starts going to the disk: a caller with many files syncs them after
// the last one and waits once instead of for each.
bool file_writer_close(FileWriter *writer, bool sync, Error *err);
// Opens a temporary file beside `path` under a new, unique name. Call take_place instead of close:
// it flushes the file and renames it over `path`, or removes it if it is not whole.
bool file_writer_replace(FileWriter *writer, const char *path, Error *err);
bool file_writer_take_place(FileWriter *writer, bool whole, Error *err);

// 128-bit content hash (XXH3), fed in chunks, printed as 32 hexadecimal digits.
typedef struct Hash Hash;
Hash *hash_new(void);
void hash_add(Hash *hash, const void *data, size_t bytes);
void hash_end(Hash *hash, char text[33]); // prints and frees it
void hash_bytes_text(const void *data, size_t bytes, char text[33]);
uint64_t hash_bytes(const void *data, size_t bytes); // 64-bit, for message and tensor checksums
bool hash_file(const char *path, char text[33], Error *err);
