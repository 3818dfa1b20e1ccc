// The CPU backend: its table.
#include "../timed.h"
#include "products.h"

static bool start(const BackendStart *how, Error *err) {
    return cpu_choose_lanes(how->vectors != NULL ? how->vectors : "auto", err) &&
           cpu_choose_products(how, err);
}

static const char *sums(void) {
    CpuProducts of = cpu_products();
    return of.inputs == PRODUCTS_FP32 ? NULL : cpu_sums_names[of.order];
}

const char *cpu_describe(void) {
    static char text[160];
    snprintf(text, sizeof text, "%s, %s%s%s", cpu_lanes_names[cpu_lanes()], cpu_dense_describe(),
             sums() != NULL ? ", products of bf16 by " : "",
             sums() != NULL ? product_kernels()->name : "");
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
    .sums = sums,
#define FUNCTION(type, name, parameters) .name = cpu_##name,
#define OPERATION(name, ...) .name = timed_##name,
#include "fringe/operations.def"
};
