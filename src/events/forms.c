// The seven forms of events, and what holds for an event in the text and in its binary twin.

#include "internal.h"

#include <float.h>

const EventForm event_forms[EVENT_SNAPSHOT + 1] = {
    [EVENT_HYPEREDGE] = {"+h", "+h H [w=F] V V ...", 0, INT64_MAX},
    [EVENT_NODE] = {"+v", "+v V [H ...]", 0, INT64_MAX},
    [EVENT_PIN] = {"+p", "+p H V", 1, 1},
    [EVENT_NO_PIN] = {"-p", "-p H V", 1, 1},
    [EVENT_NO_HYPEREDGE] = {"-h", "-h H", 0, 0},
    [EVENT_NO_NODE] = {"-v", "-v V", 0, 0},
    [EVENT_SNAPSHOT] = {"=", "= NAME", 0, 0},
};

bool event_is_whole(const Event *event, Error *err) {
    const EventForm *form = &event_forms[event->kind];
    if (event->count < form->least || event->count > form->most)
        return error_data(err, "'%s' with %ld id%s; its form is '%s'", form->sign, event->count + 1,
                          event->count == 0 ? "" : "s", form->form);
    if (event->kind == EVENT_HYPEREDGE && event->count == 0 && !event->weighted)
        return error_data(err, "'+h' with neither pins nor a weight; its form is '%s'", form->form);
    if (event->weighted && event->kind != EVENT_HYPEREDGE)
        return error_data(err, "'%s' with a weight; only '+h' has one", form->sign);
    if (!(event->weight >= 0 && event->weight <= FLT_MAX))
        return error_data(err, "the weight %g is not a number from 0 to 3.4e38",
                          (double)event->weight);
    return true;
}

bool event_name_is_valid(const char *name) {
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789._-");
    return length >= 1 && length <= EVENT_NAME && name[length] == 0 && name[0] != '.';
}

bool event_name_error(const char *name, Error *err) {
    return error_data(err,
                      "'%s' cannot name a snapshot; a name has 1 to 64 of A-Z a-z 0-9 . _ - and "
                      "does not begin with a dot",
                      name);
}
