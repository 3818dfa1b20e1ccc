// The header of a message: 64 bytes in front of the payload, a small MPI message of its own. The
// receiver knows every field from its HaloPlan and its own count of exchanges, so it only compares
// the header and uses nothing from it.
//
//    0        4        8        12       16       20       24               32
//    | magic  |vers|la|di| epoch  | source | target | columns| sequence       |
//    | rows            | bytes           | payload checksum | header checksum |
//    32                40                48                 56               64
//
// All fields are little-endian (ranks run on machines of one kind). `la` is the layer, `di` the
// direction; sequence counts the exchanges of the channel; the header's checksum is XXH3 over bytes
// 0 .. 55; the payload's is message_payload_checksum, or that of the device where the message stays
// on it (kernels/checksum.h).
#ifndef FRINGE_SRC_EXCHANGE_MESSAGE_H
#define FRINGE_SRC_EXCHANGE_MESSAGE_H

#include "fringe/exchange.h"

typedef struct MessageHeader {
    uint32_t magic;
    uint16_t version;
    uint8_t layer, direction;
    uint32_t epoch;
    uint32_t source, target;
    uint32_t columns;
    uint64_t sequence;
    uint64_t rows;
    uint64_t bytes;    // of the payload
    uint64_t payload;  // checksum
    uint64_t checksum; // of the bytes before
} MessageHeader;

enum { MESSAGE_MAGIC = 0x474e5246, MESSAGE_VERSION = 1 }; // "FRNG"

_Static_assert(sizeof(MessageHeader) == MESSAGE_HEADER_BYTES, "the header is 64 bytes");
_Static_assert(offsetof(MessageHeader, layer) == 6, "layer at byte 6");
_Static_assert(offsetof(MessageHeader, epoch) == 8, "epoch at byte 8");
_Static_assert(offsetof(MessageHeader, columns) == 20, "columns at byte 20");
_Static_assert(offsetof(MessageHeader, sequence) == 24, "sequence at byte 24");
_Static_assert(offsetof(MessageHeader, bytes) == 40, "bytes at byte 40");
_Static_assert(offsetof(MessageHeader, checksum) == 56, "checksum at byte 56");

// Checksum of a payload: XXH3 of its blocks of 256 KiB, computed by all threads and summed with
// odd factors that depend on the block's place. Calls poll (may be NULL) now and then.
uint64_t message_payload_checksum(const void *payload, size_t bytes, const Poll *poll);

// Fills in magic, version and the header's own checksum; the rest must be set.
void message_seal(MessageHeader *header);

// False with EXIT_INTEGRITY and a sentence if `found`, received with a payload that has this
// checksum, is not what `expected` says (its two checksums are not read). checksum NULL: only the
// header has arrived.
bool message_check(const MessageHeader *found, const MessageHeader *expected,
                   const uint64_t *checksum, Error *err);

#endif
