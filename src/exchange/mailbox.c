// The memory of the exchange that runs. Boxes are bytes and landed rows are written whole, padding
// and all, so it does not matter whose they were before: channels whose exchanges take turns share
// them.
#include "mailbox.h"
#include <string.h>

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

void mailbox_size_add(MailboxSize *size, const MailboxSize *more) {
    for (int side = 0; side < STREAMS; side++)
        size->box[side] = most(size->box[side], more->box[side]);
    size->landed = most(size->landed, more->landed);
}

Mailbox *mailbox_new(void) {
    Mailbox *mailbox = TAKE(Mailbox, 1, "messages");
    *mailbox = (Mailbox){0};
    return mailbox;
}

static void give(Mailbox *mailbox) {
    for (int side = 0; side < STREAMS; side++)
        memory_give(mailbox->box[side]);
    memory_give(mailbox->landed);
}

void mailbox_free(Mailbox *mailbox) {
    if (mailbox == NULL)
        return;
    give(mailbox);
    memory_give(mailbox);
}

void mailbox_fit(Mailbox *mailbox, const MailboxSize *size) {
    MailboxSize before = mailbox->size;
    mailbox_size_add(&mailbox->size, size);
    mailbox->user = NULL;
    if (mailbox->landed != NULL && memcmp(&before, &mailbox->size, sizeof before) == 0)
        return;
    give(mailbox);
    for (int side = 0; side < STREAMS; side++)
        mailbox->box[side] = memory_take(mailbox->size.box[side], "messages");
    mailbox->landed = memory_take(mailbox->size.landed, "halo rows");
}

void mailbox_plan(MemoryPlan *plan, const MailboxSize *size) {
    for (int side = 0; side < STREAMS; side++)
        memory_plan_add(plan, "messages", size->box[side]);
    memory_plan_add(plan, "halo rows", size->landed);
}
