// The public functions: a sum of all floats (sum.c), or of low rank (low_rank.c).

#include "internal.h"

static bool is_low_rank(const GradForm *form, const Comm *comm) {
    return form->rank > 0 && comm->size > 1;
}

GradSync *gradsync_new(const Comm *comm, const Backend *backend, const GradForm *form) {
    GradSync *sync = sum_new(comm, backend, form);
    if (is_low_rank(form, comm))
        sync->low_rank = low_rank_new(sync, form, NULL);
    return sync;
}

void gradsync_forecast(MemoryForecast *forecast, const Backend *backend, const GradForm *form,
                       const Comm *comm) {
    sum_forecast(forecast, backend, form, comm);
    if (is_low_rank(form, comm))
        low_rank_free(low_rank_new(&(GradSync){.comm = comm, .backend = backend}, form, forecast),
                      backend);
}

void gradsync_free(GradSync *sync) {
    if (sync == NULL)
        return;
    low_rank_free(sync->low_rank, sync->backend);
    sum_free(sync);
}

void gradsync_begin(GradSync *sync, uint32_t epoch) {
    sum_begin(sync, epoch);
    if (sync->low_rank != NULL)
        low_rank_begin(sync);
}

void gradsync_progress(void *context) {
    GradSync *sync = context;
    sum_progress(sync);
    if (sync->low_rank != NULL)
        low_rank_progress(sync);
}

static void made(GradSync *sync, DeviceFloat *gradient, int64_t from) {
    sum_made(sync, gradient, from);
    if (sync->low_rank != NULL)
        low_rank_progress(sync);
}

void gradsync_made(GradSync *sync, DeviceFloat *gradient, int64_t from) {
    timer_begin(timers_in_use());
    made(sync, gradient, from);
    timer_end(timers_in_use(), TIMER_REDUCE);
}

void gradsync_finish(GradSync *sync, DeviceFloat *gradient) {
    if (sync->low_rank != NULL) {
        made(sync, gradient, 0);
        low_rank_finish(sync);
    } else {
        sum_finish(sync, gradient);
    }
}

int64_t gradsync_bytes(const GradSync *sync) {
    return sync->low_rank != NULL ? low_rank_bytes(sync->low_rank) : sum_bytes(sync);
}

StateSection gradsync_section(GradSync *sync) {
    return sync->low_rank != NULL ? low_rank_section(sync->low_rank) : coding_section(sync);
}
