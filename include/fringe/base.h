// base: the foundation of all modules. Includes no other public header.
//
// Errors, memory, the communicator, counter-based random numbers, clocks, sparse rows, strict JSON,
// safetensors, sections of state and durable files. The pieces are independent; a module includes
// this one header.
#pragma once

#include "fringe/base/clock.h"
#include "fringe/base/comm.h"
#include "fringe/base/error.h"
#include "fringe/base/exchange_id.h"
#include "fringe/base/family.h"
#include "fringe/base/file.h"
#include "fringe/base/json.h"
#include "fringe/base/memory.h"
#include "fringe/base/poll.h"
#include "fringe/base/progress.h"
#include "fringe/base/quantity.h"
#include "fringe/base/random.h"
#include "fringe/base/ring.h"
#include "fringe/base/sink.h"
#include "fringe/base/sort.h"
#include "fringe/base/sparse.h"
#include "fringe/base/state.h"
#include "fringe/base/statistics.h"
#include "fringe/base/tensors.h"
#include "fringe/base/text.h"
#include "fringe/base/threads.h"
#include "fringe/base/trace.h"
#include "fringe/base/warnings.h"
#include "fringe/base/writer.h"
