// cover: which rows travel from one rank to another. The edges between the sources of the sender
// and the targets of the reader form a bipartite graph; a set of vertices that holds an end of
// every edge (a vertex cover) can stand for all of them: its sources travel as rows, its targets
// are served by partial sums that the sender forms. The smallest such set is the fewest rows. Pure:
// no communication, no random numbers; the answer depends on the graph alone.
#ifndef FRINGE_HALO_COVER_H
#define FRINGE_HALO_COVER_H

#include "fringe/base.h"

// Finds the minimum vertex cover that has the fewest targets (there is exactly one) and returns its
// size, which is also the size of a maximum matching. target [boundary->rows] and source [sources]
// get 1 for members, 0 for others; what has no edge is never a member. boundary: rows are targets,
// columns sources, both fewer than 2^31; weights are not read. Takes 4 bytes an edge, 32 a
// source and 12 a target while it runs. O(E sqrt(V)) at worst, a few passes over the edges in
// practice.
int64_t cover_minimum(const Csr *boundary, int64_t sources, uint8_t *target, uint8_t *source);

#endif
