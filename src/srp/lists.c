// Lists of slots, and the list of moves.
#include "internal.h"

bool slot_list_init(SlotList *numbers, const char *what, Error *err) {
    numbers->count = 0;
    return growing_init(&numbers->slots, UINT32_MAX, sizeof(int32_t), what, err);
}

void slot_list_add(SlotList *numbers, int32_t slot) {
    growing_reach(&numbers->slots, numbers->count + 1);
    slot_list_at(numbers)[numbers->count++] = slot;
}

void changed_add(Srp *srp, int side, int32_t slot) {
    Placed *item = placed_at(srp, side, slot);
    if (item->home == SRP_NONE || item->changed)
        return;
    item->changed = true;
    slot_list_add(&srp->changed[side], slot);
}

void move_home(Srp *srp, int side, int32_t slot, int32_t to) {
    growing_reach(&srp->moves, srp->move_count + 1);
    ((Move *)srp->moves.at)[srp->move_count++] =
        (Move){side, slot, placed_at(srp, side, slot)->home};
    home_set(srp, side, slot, to);
}

void moves_take_back(Srp *srp, int64_t count) {
    while (srp->move_count > count) {
        Move back = ((const Move *)srp->moves.at)[--srp->move_count];
        home_set(srp, back.side, back.slot, back.from);
    }
}
