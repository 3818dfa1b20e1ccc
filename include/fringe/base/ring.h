// The ring: the order in which each rank exchanges with all the others, so that no rank is met by
// everyone at once. In group g (or round g, 0 .. size-2) rank r receives from rank r-1-g and sends
// to rank r+1+g, modulo the number of ranks. The parts of a cut graph have the same order.
#ifndef FRINGE_BASE_RING_H
#define FRINGE_BASE_RING_H

// Who sends to `rank` in this group.
static inline int ring_sender(int rank, int group, int size) {
    return (rank - 1 - group + size) % size;
}

// Who receives from `rank` in this group.
static inline int ring_reader(int rank, int group, int size) { return (rank + 1 + group) % size; }

// The group in which `reader` receives from `sender`: both ends have the same number for it.
static inline int ring_group(int reader, int sender, int size) {
    return (reader - 1 - sender + size) % size;
}

#endif
