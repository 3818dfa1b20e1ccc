// The members of the family of transports. A new one is a file like transport_mpi.c, a line here
// and a row in transports.c.
#ifndef FRINGE_SRC_WIRE_INTERNAL_H
#define FRINGE_SRC_WIRE_INTERNAL_H

#include "fringe/wire.h"

extern const Transport transport_mpi;

#endif
