// Members of archives, unpacked as a whole into memory of their size.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Packed {
    const unsigned char *from; // [packed] part of a mapping, or other memory; lent
    size_t packed;
    bool deflated;     // else as it is
    unsigned char *to; // [bytes] lent
    size_t bytes;
    uint32_t crc; // of the unpacked bytes
    bool sound;   // out: unpacked, of exactly these sizes and with this checksum
} Packed;

// Unpacks all members at the same time, by OpenMP's threads. Pages of mappings are given back soon
// after they were read, so that what is packed takes no memory beside what is unpacked.
void unpack_all(Packed *member, int count);
