// cover: which rows travel from one rank to another. The edges between the sender's sources and the
// reader's targets form a bipartite graph. A vertex cover contains an end of every edge, so it
// serves all edges: its sources travel as rows; for each of its targets the sender sends a partial
// aggregate. A minimum vertex cover therefore needs the fewest rows. No communication and no random
// numbers: the result depends only on the graph.
#pragma once

#include "fringe/base.h"

// Finds the minimum vertex cover with the fewest targets (it is unique) and returns its size, which
// is also the size of a maximum matching. target [boundary->rows] and source [sources] get 1 for
// members and 0 for others; a vertex without edges is never a member. boundary: rows are targets,
// columns are sources, both fewer than 2^31; weights are not read. Needs 4 bytes per edge, 32 per
// source and 12 per target while it runs. O(E sqrt(V)) in the worst case, a few passes over the
// edges in practice.
int64_t cover_minimum(const Csr *boundary, int64_t sources, uint8_t *target, uint8_t *source);
