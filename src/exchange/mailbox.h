// What a Mailbox is made of: for channels, and for tests that dirty it.
#ifndef FRINGE_SRC_EXCHANGE_MAILBOX_H
#define FRINGE_SRC_EXCHANGE_MAILBOX_H

#include "channel.h"

struct Mailbox {
    const Backend *backend; // borrowed
    MailboxSize size;
    unsigned char *box[SIDES];     // owned: what MPI reads and writes
    DeviceByte *device_box[SIDES]; // owned: what is encoded and decoded, at the same places
    DeviceFloat *landed;           // owned
    const Channel *user;           // whose messages and rows are in it, or NULL
};

// Does no exchange run on it?
static inline bool mailbox_is_free(const Mailbox *mailbox) {
    return mailbox->user == NULL || mailbox->user->state == CHANNEL_IDLE;
}
// What exact exchanges are written with: fp32.
const Codec *mailbox_exact_codec(void);
// Bytes that a group's message may take, at the widest or exact, so that the next one is aligned.
size_t mailbox_room(const CodecOptions *options, int64_t rows, int64_t columns);
// What a channel needs.
MailboxSize mailbox_size(const HaloPlan *plan, const CodecOptions *options, int64_t columns);
// As large as the larger of both, part by part.
void mailbox_size_add(MailboxSize *size, const MailboxSize *more);
// Makes it large enough, while no exchange runs on it. What is in it is lost.
void mailbox_fit(Mailbox *mailbox, const MailboxSize *size);

#endif
