// The table of transports, in a file of its own: a program that defines another transport_family is
// linked with that one instead (tests/wire/transport_delayed.c does).

#include "internal.h"

static const Transport *const transports[] = {&transport_mpi};
const Family transport_family = FAMILY_OF_POINTERS("transport", NULL, transports);
