// checkpoint: a training as files, and back.
//
// A checkpoint is a folder <run>/checkpoints/epoch-N that appears whole or not at all: a file
// NAME.safetensors for each section of state that the trainer and its parts have registered
// (trainer_sections), and checkpoint.json with the counters, which training it is of, and hashes of
// all. This room knows names of sections, not what is in them. Two of them every checkpoint has,
// with PyG's names and layout, for whoever wants weights alone: "model" and "best".
//
// A section more is a StateSection (base/state.h) that its owner registers; nothing here changes.
// State that each rank has for itself (halo rows, memories of codecs) is joined on rank 0 as the
// bit widths of messages are: src/assigner registers such a section, by state_put_by_rank and
// state_get_by_rank. A checkpoint with a section that nobody has registered is refused, and so is
// one that lacks a section that somebody has.
#ifndef FRINGE_CHECKPOINT_H
#define FRINGE_CHECKPOINT_H

#include "fringe/trainer.h"

// The file of model.weights that a run started from; empty: from random weights.
typedef struct FirstWeights {
    char path[CONFIG_TEXT], hash[33];
} FirstWeights;

// A trainer, and what says which training it does.
typedef struct Training {
    Trainer *trainer; // this and the next four are borrowed
    const Config *config;
    const Shard *shard;
    const Comm *comm;
    uint64_t seed;
    FirstWeights first_weights; // rank 0 knows them, once it has started or gone on
} Training;

// Gives the weights of model.weights, if it names a file, to a training that starts; one that goes
// on from a checkpoint does not need that file any more. Collective.
bool checkpoint_start(Training *training, Error *err);

// Writes the checkpoint of the epochs done: into a temporary folder, synced, renamed; then LATEST,
// and all but the `keep` newest go. Rank 0 writes. EXIT_DISAGREE if the ranks do not hold the same
// weights and moments. Collective (agrees on errors).
bool checkpoint_write(const Training *training, const char *run_dir, int keep, Error *err);
// Restores the newest whole checkpoint (skipping damaged ones with a remark). *found false if there
// is none at all. EXIT_DATA if there are some and none is whole, EXIT_IO if one cannot be read,
// EXIT_CONFIG, with all that differs, if the newest whole one is of another training (what is
// learned, data, parts, seed, first weights), or if it is of version 1 or a newer version.
// Collective.
bool checkpoint_restore(Training *training, const char *run_dir, bool *found, Warnings *warnings,
                        Error *err);
// *path becomes the file of weights (PyG names) that a checkpoint folder, the newest whole
// checkpoint of a run folder or a .safetensors file stands for; what it belongs to is found whole.
// Local.
bool checkpoint_weights_path(const char *where, bool best, char *path, size_t size, Error *err);
bool checkpoint_inspect(const char *where, Error *err); // header and statistics, stdout

#endif
