// The members of the schedule family. A new one is a function in schedule.c, or a file of its own,
// a line here and a row in schedules.c.
#pragma once

#include "fringe/exchange.h"

extern const Schedule schedule_blocking;
extern const Schedule schedule_overlap;
extern const Schedule schedule_central;
extern const Schedule schedule_stale;
extern const Schedule schedule_skip;
