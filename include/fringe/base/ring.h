// The ring: the order in which each rank exchanges with all others, so that they do not all send to
// one rank at once. In round g (ring step g, 0 .. size-2) rank r receives from rank r-1-g and sends
// to rank r+1+g, modulo the number of ranks. The parts of a cut graph use the same order.
#pragma once

// The rank that sends to `rank` in this round.
static inline int ring_sender(int rank, int round, int size) {
    return (rank - 1 - round + size) % size;
}

// The rank that receives from `rank` in this round.
static inline int ring_reader(int rank, int round, int size) { return (rank + 1 + round) % size; }

// The round in which `reader` receives from `sender`; it has the same number at both ends.
static inline int ring_round(int reader, int sender, int size) {
    return (reader - 1 - sender + size) % size;
}
