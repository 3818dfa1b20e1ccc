// The memory of the exchange that runs. Boxes are bytes and landed rows are written whole, padding
// and all, so it does not matter whose they were before: channels whose exchanges take turns share
// them.
#include "mailbox.h"
#include <string.h>

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

static size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

const Codec *mailbox_exact_codec(void) {
    Error none = {0};
    return codec_find("fp32", &none);
}

size_t mailbox_room(const CodecOptions *options, int64_t rows, int64_t columns) {
    MessageShape shape = {.rows = rows, .columns = columns};
    size_t room = mailbox_exact_codec()->bytes(&shape);
    for (int bits = 1; bits <= WIDTH_MOST && options->codec->has_widths; bits++) {
        if (!width_known(bits)) // which is the widest? 7 bits, three planes, in rows of one column
            continue;
        Widths widths = {.count = rows};
        widths.of[bits] = rows;
        shape.widths = &widths;
        room = most(room, options->codec->bytes(&shape));
    }
    return aligned(room);
}

MailboxSize mailbox_size(const HaloPlan *plan, const CodecOptions *options, int64_t columns) {
    MailboxSize size = {.landed = rows_bytes(plan->halo_count, columns)};
    for (int side = 0; side < SIDES; side++)
        for (int g = 0; g + 1 < plan->size; g++)
            size.box[side] += mailbox_room(options, channel_group_rows(plan, side, g), columns);
    return size;
}

void mailbox_size_add(MailboxSize *size, const MailboxSize *more) {
    for (int side = 0; side < SIDES; side++)
        size->box[side] = most(size->box[side], more->box[side]);
    size->landed = most(size->landed, more->landed);
}

Mailbox *mailbox_new(const Backend *backend) {
    Mailbox *mailbox = TAKE(Mailbox, 1, "messages");
    *mailbox = (Mailbox){.backend = backend};
    return mailbox;
}

static void give(Mailbox *mailbox) {
    for (int side = 0; side < SIDES; side++) {
        pinned_side_give(mailbox->backend, mailbox->box[side]);
        mailbox->backend->give(mailbox->device_box[side]);
    }
    mailbox->backend->give(mailbox->landed);
}

void mailbox_free(Mailbox *mailbox) {
    if (mailbox == NULL)
        return;
    give(mailbox);
    memory_give(mailbox);
}

void mailbox_fit(Mailbox *mailbox, const MailboxSize *size) {
    assert(mailbox_is_free(mailbox));
    MailboxSize before = mailbox->size;
    mailbox_size_add(&mailbox->size, size);
    mailbox->user = NULL;
    if (mailbox->landed != NULL && memcmp(&before, &mailbox->size, sizeof before) == 0)
        return;
    give(mailbox);
    for (int side = 0; side < SIDES; side++) {
        size_t bytes = mailbox->size.box[side];
        mailbox->device_box[side] = mailbox->backend->take(bytes, "messages");
        mailbox->box[side] =
            pinned_side(mailbox->backend, mailbox->device_box[side], bytes, "messages");
    }
    mailbox->landed = mailbox->backend->take(mailbox->size.landed, "halo rows");
}

void mailbox_plan(MemoryPlan *plan, const MailboxSize *size) {
    for (int side = 0; side < SIDES; side++)
        memory_plan_add(plan, "messages", size->box[side]);
    memory_plan_add(plan, "halo rows", size->landed);
}
