// The commands of the fenced backend, from the list of operations: for each one the arguments that
// it keeps, a function that runs the CPU's operation on them, and the one that puts it on its
// stream.
#include "../../kernels/cpu/cpu.h"
#include "fenced.h"

#include <string.h>

// ---- keeping an argument: *to becomes what the CPU's operation is to get of *argument

static void keep_bytes(void *to, const void *argument, size_t bytes) {
    memcpy(to, argument, bytes);
}

static void keep_address(void *to, const void *argument, size_t bytes) {
    (void)bytes;
    *(void **)to = fenced_twin(*(void *const *)argument);
}

static void keep_rows(void *to, const void *argument, size_t bytes) {
    (void)bytes;
    *(Rows *)to = fenced_rows(*(const Rows *)argument);
}

static void keep_saved(void *to, const void *argument, size_t bytes) {
    const PostSaved *saved = argument;
    (void)bytes;
    *(PostSaved *)to = (PostSaved){.mean = fenced_twin(saved->mean),
                                   .inverse = fenced_twin(saved->inverse),
                                   .kept = fenced_twin(saved->kept),
                                   .positive = fenced_twin(saved->positive)};
}

static void keep_factor(void *to, const void *argument, size_t bytes) {
    RowFactor *factor = to;
    (void)bytes;
    *factor = *(const RowFactor *)argument;
    factor->at = fenced_twin(factor->at);
}

static void keep_post(void *to, const void *argument, size_t bytes) {
    Post *post = to;
    (void)bytes;
    *post = **(const Post *const *)argument;
    post->gamma = fenced_twin(post->gamma);
    post->beta = fenced_twin(post->beta);
}

static void keep_form(void *to, const void *argument, size_t bytes) {
    LossForm *form = to;
    (void)bytes;
    *form = *(const LossForm *)argument;
    form->classes = fenced_twin(form->classes);
}

static void keep_labels(void *to, const void *argument, size_t bytes) {
    const Labels *on = argument;
    (void)bytes;
    *(Labels *)to = (Labels){.label = fenced_twin(on->label),
                             .labels = fenced_twin(on->labels),
                             .numbers = fenced_twin(on->numbers),
                             .split = fenced_twin(on->split)};
}

static void keep_source(void *to, const void *argument, size_t bytes) {
    MessageSource *source = to;
    (void)bytes;
    *source = **(const MessageSource *const *)argument;
    source->x = fenced_rows(source->x);
    source->scale = fenced_twin(source->scale);
    source->partials = fenced_rows(source->partials);
    source->row = fenced_twin(source->row);
    source->gid = fenced_twin(source->gid);
    source->range = fenced_twin(source->range);
}

static void keep_quantized(void *to, const void *argument, size_t bytes) {
    Quantized *quantized = to;
    (void)bytes;
    *quantized = **(const Quantized *const *)argument;
    quantized->place = fenced_twin(quantized->place);
    quantized->minimum = fenced_twin(quantized->minimum);
    quantized->step = fenced_twin(quantized->step);
    quantized->payload = fenced_twin(quantized->payload);
}

static void keep_aggregate(void *to, const void *argument, size_t bytes) {
    (void)bytes;
    *(Aggregate **)to = fenced_aggregate_of_cpu(*(Aggregate *const *)argument);
}

static void keep_halo_aggregate(void *to, const void *argument, size_t bytes) {
    (void)bytes;
    *(HaloAggregate **)to = fenced_halo_aggregate_of_cpu(*(HaloAggregate *const *)argument);
}

// Every type of an argument. One that is missing does not compile.
// clang-format off
#define KEEP_OF(argument)                                                                           \
    _Generic((argument), Rows: keep_rows, RowFactor: keep_factor, PostSaved: keep_saved,           \
        const Post *: keep_post, LossForm: keep_form, Labels: keep_labels,                                              \
        const MessageSource *: keep_source, const Quantized *: keep_quantized,                     \
        Aggregate *: keep_aggregate, HaloAggregate *: keep_halo_aggregate,                         \
        DeviceFloat *: keep_address, const DeviceFloat *: keep_address,                            \
        DeviceDouble *: keep_address, DeviceByte *: keep_address,                                  \
        const DeviceByte *: keep_address, const DeviceInt32 *: keep_address,                       \
        DeviceInt64 *: keep_address, const DeviceInt64 *: keep_address,                            \
        Range: keep_bytes, RandomKey: keep_bytes, AdamStep: keep_bytes, bool: keep_bytes,       \
        uint8_t: keep_bytes, int64_t: keep_bytes, size_t: keep_bytes, float: keep_bytes,           \
        const Poll *: keep_bytes)

// A struct that is passed by pointer is copied during the call.
#define KEPT_TYPE(type)                                                                            \
    __typeof__(_Generic((type){0}, const Post *: (Post){0}, const Quantized *: (Quantized){0},     \
                        const MessageSource *: (MessageSource){0}, default: (type){0}))

// What the CPU's operation gets; its Poll is that of the wait that runs it.
#define GIVE(type, argument)                                                                       \
    _Generic((type){0}, const Poll *: poll, const Post *: &kept->argument,                         \
        const Quantized *: &kept->argument, const MessageSource *: &kept->argument,                \
        default: kept->argument)
// clang-format on

#define MEMBER(type, argument) KEPT_TYPE(type) argument
#define KEEP(type, argument) KEEP_OF(argument)(&kept.argument, &argument, sizeof argument)
#define SEMICOLON() ;

// ---- all of them

#define FUNCTION(type, name, parameters)
#define OPERATION(name, stream, time, ...)                                                         \
    struct kept_##name {                                                                           \
        PAIRS(SEMICOLON, MEMBER, __VA_ARGS__);                                                     \
    };                                                                                             \
    static void run_##name(const void *arguments, const Poll *poll) {                              \
        const struct kept_##name *kept = arguments;                                                \
        (void)poll;                                                                                \
        cpu_##name(PAIRS(PAIR_COMMA, GIVE, __VA_ARGS__));                                          \
    }                                                                                              \
    void fenced_##name(OPERATION_PARAMETERS(__VA_ARGS__)) {                                        \
        struct kept_##name kept;                                                                   \
        PAIRS(SEMICOLON, KEEP, __VA_ARGS__);                                                       \
        fenced_put(stream, run_##name, &kept, sizeof kept);                                        \
    }
#include "fringe/operations.def"
