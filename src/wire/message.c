// Sealing and checking the header of a message (wire.h draws it).

#include "internal.h"

#include <omp.h>

enum { BLOCK = 1 << 18, PARALLEL = 1 << 20 };

uint64_t message_payload_checksum(const void *payload, size_t bytes, const Poll *poll) {
    const unsigned char *at = payload;
    const int64_t blocks = (int64_t)((bytes + BLOCK - 1) / BLOCK);
    uint64_t sum = bytes;
#pragma omp parallel for schedule(static) reduction(+ : sum) if (bytes > PARALLEL)
    for (int64_t b = 0; b < blocks; b++) {
        size_t begin = (size_t)b * BLOCK;
        size_t length = bytes - begin < BLOCK ? bytes - begin : BLOCK;
        sum += hash_bytes(at + begin, length) * (2 * (uint64_t)b + 1);
        if (b % 8 == 7 && omp_get_thread_num() == 0)
            poll_call(poll);
    }
    return sum;
}

static uint64_t header_checksum(const MessageHeader *header) {
    return hash_bytes(header, offsetof(MessageHeader, checksum));
}

void message_seal(MessageHeader *header) {
    header->magic = MESSAGE_MAGIC;
    header->version = MESSAGE_VERSION;
    header->checksum = header_checksum(header);
}

// The first field that differs, or NULL.
static const char *wrong_field(const MessageHeader *found, const MessageHeader *expected) {
    const struct {
        const char *name;
        uint64_t found, expected;
    } field[] = {
        {"magic", found->magic, MESSAGE_MAGIC},
        {"version", found->version, MESSAGE_VERSION},
        {"own checksum", found->checksum, header_checksum(found)},
        {"layer", found->layer, expected->layer},
        {"direction", found->direction, expected->direction},
        {"source", found->source, expected->source},
        {"target", found->target, expected->target},
        {"epoch", found->epoch, expected->epoch},
        {"sequence number", found->sequence, expected->sequence},
        {"columns", found->columns, expected->columns},
        {"rows", found->rows, expected->rows},
        {"bytes", found->bytes, expected->bytes},
    };
    for (size_t i = 0; i < sizeof field / sizeof field[0]; i++)
        if (field[i].found != field[i].expected)
            return field[i].name;
    return NULL;
}

static const char *name_of(char out[64], const MessageHeader *header) {
    const char *direction = direction_name(header->direction);
    bool gradients = header->direction >= GRADIENT_SHARES;
    snprintf(out, 64, gradients ? "part %u of the weight gradients, %s" : "layer %u, %s",
             header->layer, direction);
    return out;
}

bool message_check(const MessageHeader *found, const MessageHeader *expected,
                   const uint64_t *checksum, Error *err) {
    const char *wrong = wrong_field(found, expected);
    if (wrong == NULL && (checksum == NULL || found->payload == *checksum))
        return true;
    char what[64];
    return error_set(err, EXIT_INTEGRITY,
                     "the message of %s, epoch %u from rank %u to rank %u arrived with a wrong %s; "
                     "the network or the memory of one of the two is damaged, or the ranks are not "
                     "at the same step",
                     name_of(what, expected), expected->epoch, expected->source, expected->target,
                     wrong == NULL ? "payload checksum" : wrong);
}

// The length is the last field to be trusted.
bool message_check_varying(const MessageHeader *found, const MessageHeader *expected, bool whole,
                           Error *err) {
    MessageHeader same = *expected;
    if (found->bytes <= (whole ? 0 : expected->bytes))
        same.bytes = found->bytes;
    return message_check(found, &same, NULL, err);
}
