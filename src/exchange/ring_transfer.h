// The transfer of one exchange: a ring of rounds, a window of rounds in flight, each message cut
// into chunks. The only file of this room that calls MPI; channel.c has the contents of the
// messages.
//
//   round r        1         2         3       ...      (group r-1 of the HaloPlan, law 4)
//   sends to     rank+1    rank+2    rank+3
//   receives from rank-1    rank-2    rank-3
//
// A Transfer is one message: its header is chunk 0, its payload the chunks after it. At most
// TRANSFER_CHUNKS chunks of a transfer and TRANSFER_ROUNDS rounds are in flight; the next one is
// posted when one has arrived. Chunks are posted in order, and MPI does not let messages of one
// pair and tag overtake each other, so repeated tags are no danger (they repeat after TRANSFER_TAGS
// chunks, and in the next exchange). No deadlock is possible: all ranks work on rounds in the same
// order, and each has posted its first round in flight.
#ifndef FRINGE_SRC_EXCHANGE_RING_TRANSFER_H
#define FRINGE_SRC_EXCHANGE_RING_TRANSFER_H

#include "fringe/base/mpi.h"
#include "message.h"

enum { TRANSFER_ROUNDS = 4, TRANSFER_CHUNKS = 16, TRANSFER_TAGS = 30000 };
enum { INCOMING, OUTGOING, SIDES };

typedef struct Transfer {
    MessageHeader header;
    unsigned char *payload; // in the buffers; may be memory that the host cannot touch
    int64_t bytes;          // 0: there is no message, not even a header
    int64_t chunks, posted, done;
    bool header_done; // chunk 0 has arrived or left
    int peer;
} Transfer;

typedef struct RingTransfer {
    Comm comm;                   // owned: tags of its own
    int rounds;                  // size - 1
    int window;                  // rounds in flight
    int64_t chunk;               // bytes
    Transfer (*transfer)[SIDES]; // [rounds] owned
    MPI_Request *request;        // [window, SIDES, TRANSFER_CHUNKS] owned
    int *arrived;                // [window * SIDES * TRANSFER_CHUNKS] owned; scratch of Testsome
    MPI_Status *status;          // likewise
    int posted;                  // rounds
    int64_t messages, bytes_sent, bytes_received;
} RingTransfer;

// Allocates or plans the tables of a transfer between `size` ranks.
void ring_transfer_alloc(RingTransfer *ring, MemoryPlan *plan, int size, int64_t chunk);
// Makes one that is allocated ready. The transfers' payloads and bytes are filled in by the owner
// before ring_transfer_post. Collective.
void ring_transfer_open(RingTransfer *ring, const Comm *comm);
void ring_transfer_clear(RingTransfer *ring);

void ring_transfer_post(RingTransfer *ring); // the first rounds; the last exchange must be over
void ring_transfer_progress(
    RingTransfer *ring); // records what was received or sent, and posts the next chunks

#endif
