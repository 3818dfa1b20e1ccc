// The CPU backend: its table.
#include "../timed.h"
#include "products.h"

static bool start(const BackendStart *how, Error *err) {
    if (!cpu_choose_precision(how->precision, err))
        return false;
    return cpu_choose_lanes(how->vectors != NULL ? how->vectors : "auto", err);
}

const char *cpu_describe(void) {
    static char text[160];
    snprintf(text, sizeof text, "%s, %s%s%s", cpu_lanes_names[cpu_lanes()], cpu_dense_describe(),
             cpu_is_bf16() ? ", products of bf16 by " : "",
             cpu_is_bf16() ? product_kernels()->name : "");
    return text;
}

#define FUNCTION(type, name, parameters)
#define OPERATION(name, ...) TIMED(cpu, name, __VA_ARGS__)
#include "fringe/operations.def"

const Backend backend_cpu = {
    .name = "cpu",
    .start = start,
    .describe = cpu_describe,
    .host_is_device = true,
#define FUNCTION(type, name, parameters) .name = cpu_##name,
#define OPERATION(name, ...) .name = timed_##name,
#include "fringe/operations.def"
};
