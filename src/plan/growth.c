// How a cut grows with its parts. Totals of a few small cuts do not tell: a graph of 40 communities
// has few halo rows up to 40 parts and many beyond. So parts of the largest small cut are cut
// again: pieces of pieces are what a finer cut has, and one part costs a fraction of the graph.
#include "fringe/plan.h"

enum { SAMPLED = 4 }; // parts that are cut again

double plan_curve(const double *x, const double *value, int count, double at) {
    int i = 0;
    if (count == 1)
        return value[0];
    while (i + 2 < count && at > x[i + 1])
        i++;
    if (value[i] <= 0 || value[i + 1] <= 0)
        return at <= x[i] ? value[i] : at >= x[i + 1] ? value[i + 1] : 0;
    double share = (log(at) - log(x[i])) / (log(x[i + 1]) - log(x[i]));
    return exp(log(value[i]) + share * (log(value[i + 1]) - log(value[i])));
}

static void add_point(PlanGrowth *growth, double parts, double halo, double crossing,
                      double marginal, double balance) {
    int i = growth->count++;
    growth->parts[i] = parts;
    growth->halo[i] = halo;
    growth->crossing[i] = crossing;
    growth->marginal[i] = marginal;
    growth->balance[i] = balance;
}

static void add_pieces(PartPieces *sum, const PartPieces *more) {
    sum->halo += more->halo;
    sum->crossing += more->crossing;
    sum->marginal += more->marginal;
    sum->largest = more->largest > sum->largest ? more->largest : sum->largest;
}

// The pieces of up to SAMPLED parts, spread over the cut. *mean: rows of a piece.
static bool sample(PartPieces *sum, double *mean, const PlanCut *cut, int pieces,
                   const Config *config, Error *err) {
    int step = (cut->parts + SAMPLED - 1) / SAMPLED, sampled = 0;
    int64_t rows = 0;
    *sum = (PartPieces){0};
    for (int p = 0; p < cut->parts; p += step, sampled++) {
        PartPieces one;
        if (!partition_cut_again(&one, &cut->shard[p], pieces, config, err))
            return false;
        add_pieces(sum, &one);
        rows += cut->shard[p].set[NODES].own;
    }
    *mean = (double)rows / ((double)sampled * pieces);
    return true;
}

static double ratio(int64_t after, int64_t before) {
    return before > 0 ? (double)after / (double)before : 1;
}

static bool grow_beyond(PlanGrowth *growth, const PlanCut *cut, int most, const Config *config,
                        Error *err) {
    PartPieces whole, finer;
    double mean;
    if (!sample(&whole, &mean, cut, 1, config, err))
        return false;
    for (int pieces = 2; cut->parts * (pieces / 2) < most && growth->count < PLAN_CURVE;
         pieces *= 2) {
        progress_begin("cut", "parts again, %d pieces", pieces);
        if (!sample(&finer, &mean, cut, pieces, config, err))
            return false;
        progress_end("");
        add_point(growth, (double)cut->parts * pieces, cut->halo * ratio(finer.halo, whole.halo),
                  cut->crossing * ratio(finer.crossing, whole.crossing),
                  cut->marginal * ratio(finer.marginal, whole.marginal),
                  (double)finer.largest / mean);
    }
    return true;
}

bool plan_growth_fit(PlanGrowth *growth, const PlanCut *cuts, int count, int most,
                     const Config *config, Error *err) {
    *growth = (PlanGrowth){0};
    for (int i = 0; i < count; i++)
        add_point(growth, cuts[i].parts, cuts[i].halo, cuts[i].crossing, cuts[i].marginal,
                  cuts[i].balance);
    return count == 0 || cuts[count - 1].parts >= most ||
           grow_beyond(growth, &cuts[count - 1], most, config, err);
}
