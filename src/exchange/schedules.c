// The table of schedules, in a file of its own: a program that defines another schedule_family is
// linked with that one instead.

#include "channel.h"

static const Schedule *const schedules[] = {
    &schedule_blocking, &schedule_overlap, &schedule_central, &schedule_stale, &schedule_skip,
};
const Family schedule_family = FAMILY_WITH_KEYS("comm.schedule", schedules, Schedule);
