// dataset_events: a Dataset made of what a stream of events has left, and a Dataset given as
// events. A public header of its own of the module dataset, so that who includes dataset.h knows no
// events.
#pragma once

#include "fringe/dataset.h"
#include "fringe/events.h"

// The hypergraph that a stream has made so far, without features, labels and splits. order[side]
// (live_order): node i is slot order[SIDE_NODE][i], and likewise hyperedges, so that both ascend by
// the user's ids. It has no name yet. EXIT_DATA if there is no pin; *dataset is empty after an
// error.
bool dataset_from_live(Dataset *dataset, const LiveHypergraph *live, const int32_t *const *order,
                       Error *err);
// Gives the nodes features, labels and splits by the user's ids: id[nodes], ascending. `nodes` is
// an .npz with `ids` and any of `features`, `labels`, `train_ids`, `val_ids`, `test_ids`, or
// "random:F": F random features that depend on the id only. Nodes without a row get zeros, no label
// and no split; rows of other ids are counted in a warning. EXIT_DATA, EXIT_NO_INPUT, or
// EXIT_CONFIG for a wrong F; clear the dataset then.
bool dataset_join(Dataset *dataset, const uint64_t *id, const char *nodes, int64_t seed,
                  Error *err);
// True if `nodes` can be given to dataset_join, as far as the names in the .npz tell; it reads no
// rows. Errors as above.
bool dataset_join_fits(const char *nodes, Error *err);

// Gives the dataset as the events of a stream, in an order of replay_family; a graph as the
// hypergraph in which each node has a hyperedge of itself and all that read its row. Node ids are
// 0 to n-1 and hyperedge ids 0 to m-1. Ends with false when `take` does.
extern const Family replay_family; // stream.order
typedef bool EventTaker(void *context, const Event *event, Error *err);
bool dataset_replay(const Dataset *dataset, const char *order, EventTaker *take, void *context,
                    Error *err);
