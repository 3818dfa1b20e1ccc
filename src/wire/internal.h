// The members of the family of transports. A new one is a file like transport_mpi.c, a line here
// and a row in transports.c.
#pragma once

#include "fringe/wire.h"

extern const Transport transport_mpi;

// Messages, and what residuals remember of them, begin at multiples of 64 bytes.
static inline size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

int wire_in_flight(void); // how many owners have messages in flight, for tests

// ---- box_residuals.c: all of it does nothing for a box without residuals, or in an exchange that
// is not coded
void box_alloc_residuals(MessageBox *box, const Allocator *allocator);
void box_open_residuals(MessageBox *box, int64_t (*id)(const void *context, int64_t place),
                        const void *context);
void box_set_follows(MessageBox *box); // by the widths of its rows
// Makes *source that of the rows that are encoded in the place of its own. Uses the message's place
// as scratch.
void box_before_encode(MessageBox *box, int i, BoxStep step, MessageSource *source, int64_t own,
                       const Poll *poll);
void box_after_encode(MessageBox *box, int i, BoxStep step, const MessageLayout *layout,
                      const Poll *poll);
void box_after_decode(MessageBox *box, int i, BoxStep step, Rows rows, const Poll *poll);
