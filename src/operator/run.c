// One use of an operator. The exchange is told to its schedule as two pieces of work: `own` needs
// no message and hides it, `halo` waits for it.
#include "fringe/operator.h"

typedef struct Running { // the operator that is running
    const OperatorRun *run;
    const OperatorCall *call;
    OperatorStep step;
} Running;

// What an exchange moves, and what else is moved along.
typedef struct TwoPolls {
    const Poll *exchange, *beside;
} TwoPolls;

static void poll_two(void *context) {
    const TwoPolls *both = context;
    poll_call(both->exchange);
    poll_call(both->beside);
}

static void own_rows(const Running *running, const Range *range, int ranges, const Poll *poll) {
    for (int i = 0; i < ranges; i++)
        running->call->method->own(&running->step, range[i], poll);
}

static void finish(const Running *running, const Range *range, int ranges, const Poll *poll) {
    const OperatorCall *call = running->call;
    for (int i = 0; i < ranges; i++) {
        if (call->method->finish != NULL)
            call->method->finish(&running->step, range[i], poll);
        if (call->finish != NULL)
            call->finish(call->context, range[i], poll);
    }
}

// Rows that are complete are finished only when all own sums are made: finishing may overwrite rows
// that those sums read.
static void run_own(void *context, OwnPart part, const Poll *exchange) {
    const Running *running = context;
    const SparseOperator *op = running->step.op;
    const Pattern *pattern = op->block.pattern;
    TwoPolls both = {exchange, running->run->beside};
    const Poll *poll = &(Poll){poll_two, &both};
    if (part != OWN_MARGINAL)
        running->call->method->prepare(&running->step, poll);
    if (part == OWN_CENTRAL) {
        own_rows(running, pattern->central, pattern->range_count, poll);
        return;
    }
    if (part == OWN_MARGINAL)
        own_rows(running, op->rest, op->rest_count, poll);
    else
        own_rows(running, &(Range){0, pattern->rows}, 1, poll);
    finish(running, pattern->central, pattern->range_count, poll);
    if (running->call->beside != NULL)
        running->call->beside(running->call->context, poll);
}

// The halo rows of rounds [begin, end), from the received ones.
static Rows arrived(const Running *running, Rows received, int begin, int end, const Poll *poll) {
    const OperatorCall *call = running->call;
    const int64_t *offset = running->step.op->block.pattern->plan.receive_offset;
    if (call->arrive == NULL)
        return received;
    Rows halo = call->arrived.at != NULL ? call->arrived : received;
    if (offset[begin] < offset[end])
        call->arrive(call->context, halo, received, (Range){offset[begin], offset[end]}, poll);
    return halo;
}

static void run_halo(void *context, Rows received, int begin, int end, bool last,
                     const Poll *exchange) {
    const Running *running = context;
    const SparseOperator *op = running->step.op;
    TwoPolls both = {exchange, running->run->beside};
    const Poll *poll = &(Poll){poll_two, &both};
    Rows halo = arrived(running, received, begin, end, poll);
    running->call->method->halo(&running->step, halo, begin, end, last, poll);
    if (last)
        finish(running, op->rest, op->rest_count, poll);
}

// Other rows, as they are; or right times `in`. With them the partial aggregates that others read,
// before anything is sent.
static RowSource sent_rows(const Running *running) {
    const SparseOperator *op = running->step.op;
    const OperatorCall *call = running->call;
    Rows partials = call->over->partials;
    RowSource rows = {.x = call->in, .right = op->right, .partials = partials};
    if (call->arrive != NULL)
        rows = (RowSource){.x = call->sent, .partials = partials};
    if (partials.count == 0)
        return rows;
    op->backend->aggregate_prepare(op->partial, call->in, op->right, NULL);
    op->backend->aggregate_rows(op->partial, partials, (Range){0, partials.count}, false, NULL,
                                NULL);
    return rows;
}

void operator_run(const OperatorRun *run, const OperatorCall *call) {
    const Propagation *over = call->over;
    Running running = {run, call, {over->op, call->in, call->out}};
    assert(call->method->linear || over->op->block.pattern->partial.rows == 0);
    if (over->channel == NULL) { // the halo rows are here already
        run_own(&running, OWN_ALL, NULL);
        run_halo(&running, call->received, 0, over->op->block.pattern->plan.size - 1, true, NULL);
        return;
    }
    RowSource rows = sent_rows(&running);
    ExchangeContext when = {.seed = run->seed,
                            .epoch = run->epoch,
                            .full_precision = run->full_precision,
                            .random = run->random};
    run->schedule->run(over->channel, &rows, when, &(ExchangeWork){run_own, run_halo, &running});
}
