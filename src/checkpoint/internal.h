// What the files of the checkpoint room share.
#pragma once

#include "fringe/checkpoint.h"
#include "fringe/runfolder.h"

// Which training a checkpoint belongs to.
typedef struct Identity {
    const Json *config; // keys that change results; inside the manifest's document
    char data[64], cut[64];
    int64_t parts, seed;
    FirstWeights first_weights;
} Identity;
void identity_put(JsonWriter *writer, const Training *training); // members of a manifest
bool identity_read(Identity *identity, const Json *document);    // false: a member is missing
// Refuses a checkpoint of another training (EXIT_CONFIG) and names all differences. Rank 0.
bool identity_check(const Training *training, const Identity *was, const char *folder, Error *err);

// A checkpoint folder holds a file for each section, and checkpoint.json.
enum { CHECKPOINT_NAME = 128, CHECKPOINT_FILES = 64 };
extern const char checkpoint_manifest[]; // "checkpoint.json"
// Both return out. The file: "FOLDER/NAME.safetensors".
char *checkpoint_path(char out[PATH_BYTES], const char *run_dir, int64_t epoch);
char *checkpoint_file(char out[PATH_BYTES], const char *folder, const char *section);
#define CHECKPOINT_PATH(run_dir, epoch) checkpoint_path((char[PATH_BYTES]){0}, run_dir, epoch)
#define CHECKPOINT_FILE(folder, section) checkpoint_file((char[PATH_BYTES]){0}, folder, section)
bool checkpoint_list(EpochList *list, const char *run_dir, Error *err);

// The contents of checkpoint.json.
typedef struct Manifest {
    TrainerCounters counters;
    Identity identity;
    int files;
    char file[CHECKPOINT_FILES][CHECKPOINT_NAME]; // names
    char hash[CHECKPOINT_FILES][33];              // of them
    Json *document;                               // owned
} Manifest;
// Hashes the files of the trainer's sections in `folder` and writes its checkpoint.json. Local.
bool checkpoint_manifest_write(const Training *training, const char *folder, Error *err);
// Reads checkpoint.json, and checks that it and every file it names are undamaged: EXIT_DATA or
// EXIT_NO_INPUT if not, EXIT_CONFIG for a newer version. Local.
bool checkpoint_manifest_read(Manifest *manifest, const char *folder, Error *err);
// The same of its text, which is changed meanwhile; the files are neither looked at nor counted.
// `folder` is for messages and the epoch in its name.
bool checkpoint_manifest_parse(Manifest *manifest, char *text, size_t bytes, const char *folder,
                               Error *err);
// Writes the hash of the text into its checksum; true if it had this hash before.
bool checkpoint_seal(char *text, size_t bytes);
void checkpoint_manifest_clear(Manifest *manifest);
// Its member "backend"; empty texts where that is not there.
void checkpoint_read_kernels(KernelChoice *choice, const Json *document);
// Checks that it lists the file of that section; EXIT_DATA if not. Local.
bool checkpoint_manifest_needs(const Manifest *manifest, const char *folder, const char *section,
                               Error *err);
// Checks a file of weights that the user named: if a manifest lies beside it, the checkpoint must
// be undamaged, because no other weights can replace it. Local.
bool checkpoint_check_named(const char *file, Error *err);
