// checkpoint: saves a training to files and restores it.
//
// A checkpoint is a folder <run>/checkpoints/epoch-N that appears whole or not at all: a file
// NAME.safetensors for each section of state that the trainer and its parts have registered
// (trainer_sections), and checkpoint.json with the counters, the identity of the training, and the
// hashes of all files. This module knows names of sections, not their contents. Every checkpoint
// has two of them, "model" and "best", with PyG's names and layout, so that other programs can read
// them.
//
// A new section is a StateSection (base/state.h) that its owner registers; nothing here changes.
// State that differs between ranks (halo rows, memories of codecs) is gathered on rank 0 with
// state_distributed; src/assigner shows how, with the bit widths of messages.
// A checkpoint with an unregistered section is refused, and so is one that lacks a registered
// section.
#pragma once

#include "fringe/trainer.h"

// The file of model.weights that a run started from; empty: from random weights.
typedef struct FirstWeights {
    char path[CONFIG_TEXT], hash[33];
} FirstWeights;

// A trainer, and what identifies its training.
typedef struct Training {
    Trainer *trainer; // this and the next four are borrowed
    const Config *config;
    const Shard *shard;
    const Comm *comm;
    uint64_t seed;
    FirstWeights first_weights; // known to rank 0 after checkpoint_start or checkpoint_restore
} Training;

// Loads model.weights, if it names a file, into a new training. A resumed one does not need that
// file. Collective.
bool checkpoint_start(Training *training, Error *err);

// Writes a checkpoint of the epochs done: to a temporary folder, which is synced and renamed; then
// updates LATEST, and removes all but the `keep` newest. Rank 0 writes. EXIT_MISMATCH if the ranks
// do not hold the same weights and moments. Collective (agrees on errors).
bool checkpoint_write(const Training *training, const char *run_dir, int keep, Error *err);
// Restores the newest undamaged checkpoint, with a warning for each damaged one that it skips, and
// one if the backend was another.
// *found is false if there is no checkpoint. EXIT_DATA if all are damaged; EXIT_IO if one cannot be
// read; EXIT_CONFIG, with all differences, if the newest undamaged one belongs to another training
// (config, data, parts, seed, first weights), or if it is of a newer version.
// Collective.
bool checkpoint_restore(Training *training, const char *run_dir, bool *found, Warnings *warnings,
                        Error *err);
// What the newest checkpoint of a run that can be read ran on; false: there is none. It looks at no
// other file than its manifest, whose checksum is left to checkpoint_restore. Local.
bool checkpoint_kernels(KernelChoice *choice, const char *run_dir);
// Writes to *path the file of weights (PyG names) for `where`: a checkpoint folder, a run folder
// (its newest undamaged checkpoint) or a .safetensors file. Checks that its checkpoint is
// undamaged. Local.
bool checkpoint_weights_path(const char *where, bool best, char *path, size_t size, Error *err);
// Prints header and statistics.
bool checkpoint_inspect(const Sink *out, const char *where, Error *err);
