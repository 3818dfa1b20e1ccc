// Problems, values and solutions: their arrays, the checks of a problem, and the objective by its
// definition.

#include "internal.h"

// Two normalizers that differ by less count as equal, so that quotients stay finite.
static const double tiny = 1e-280;
static const double smallest_theta = 1e-60, largest_theta = 1e60;
static const double largest_gamma = 1e60, largest_beta = 1e100;
static const double exact_integers = 9007199254740992.0; // 2^53

void problem_init(Problem *problem, int rounds, int links, int64_t groups) {
    *problem = (Problem){.rounds = rounds,
                         .links = links,
                         .groups = groups,
                         .round_begin = ALLOC(int, rounds + 1, "rounds of a problem"),
                         .link = ALLOC(Link, links, "links of a problem"),
                         .group = ALLOC(Group, groups, "groups of a problem")};
}

void problem_clear(Problem *problem) {
    MEMORY_FREE(problem->group, problem->link, problem->round_begin);
    *problem = (Problem){0};
}

void solution_init(Solution *solution, const Problem *problem) {
    *solution = (Solution){.choice = ALLOC(uint8_t, problem->groups, "choice of a solution")};
}

void solution_clear(Solution *solution) {
    memory_free(solution->choice);
    *solution = (Solution){0};
}

void problem_uniform(const Problem *problem, int width, uint8_t *choice) {
    memset(choice, width, (size_t)problem->groups);
}

// --- the checks of a problem

static bool check_head(const Problem *p, Error *err) {
    if (p->widths < 1 || p->widths > PROBLEM_WIDTHS)
        return error_data(err, "a problem has 1 to %d widths, not %d", PROBLEM_WIDTHS, p->widths);
    for (int b = 0; b < p->widths; b++) {
        if (p->bits[b] < 1 || p->bits[b] > 32 || (b > 0 && p->bits[b] <= p->bits[b - 1]))
            return error_data(err, "width %d of %d bits: widths ascend from 1 to 32", b + 1,
                              p->bits[b]);
        if (p->row_bytes[b] < 1 || (b > 0 && p->row_bytes[b] < p->row_bytes[b - 1]))
            return error_data(err,
                              "a row of %d bits has %ld bytes; it needs at least 1, and as many as "
                              "a row of fewer bits",
                              p->bits[b], p->row_bytes[b]);
    }
    if (!(p->lambda >= 0 && p->lambda <= 1))
        return error_data(err, "lambda is %g; it lies in [0, 1]", p->lambda);
    if (!(p->hidden >= 0 && p->hidden <= largest_gamma))
        return error_data(err, "hidden is %g seconds; it is at least 0", p->hidden);
    return true;
}

static bool check_group(const Problem *p, const Link *link, int64_t g, Error *err) {
    const Group *group = &p->group[g];
    if (!(group->beta >= 0 && group->beta <= largest_beta))
        return error_data(err, "group %ld has beta %g; it lies in [0, %g]", g, group->beta,
                          largest_beta);
    if (!(group->theta >= smallest_theta && group->theta <= largest_theta))
        return error_data(err, "group %ld has theta %g; it lies in [%g, %g]", g, group->theta,
                          smallest_theta, largest_theta);
    if (group->rows < 1)
        return error_data(err, "group %ld has %ld rows; it needs at least 1", g, group->rows);
    if (g > link->begin && group->theta == group[-1].theta && group->beta > group[-1].beta)
        return error_data(err,
                          "group %ld has a larger beta than the group before it; groups of one "
                          "theta must have descending betas",
                          g);
    return true;
}

static bool check_link(const Problem *p, int c, Error *err) {
    const Link *link = &p->link[c];
    int64_t begin = c == 0 ? 0 : p->link[c - 1].end;
    if (link->source < 0 || link->target < -1 || link->target == link->source)
        return error_data(err, "link %d goes from rank %d to rank %d", c, link->source,
                          link->target);
    if (!(link->gamma >= 0 && link->gamma <= largest_gamma))
        return error_data(err, "link %d has gamma %g seconds; it lies in [0, %g]", c, link->gamma,
                          largest_gamma);
    if (link->begin != begin || link->end < begin || link->end > p->groups)
        return error_data(err,
                          "link %d has the groups [%ld, %ld); its groups must begin at %ld, where "
                          "the link before it ends, and there are %ld groups",
                          c, link->begin, link->end, begin, p->groups);
    double bytes = 0;
    for (int64_t g = begin; g < link->end; g++) {
        if (!check_group(p, link, g, err))
            return false;
        bytes += (double)p->group[g].rows * (double)p->row_bytes[p->widths - 1];
    }
    if (bytes > exact_integers || link->end - begin > INT32_MAX)
        return error_data(err, "link %d carries %g bytes; at most 2^53 are possible", c, bytes);
    return true;
}

bool problem_check(const Problem *p, Error *err) {
    if (!check_head(p, err))
        return false;
    if (p->rounds < 0 || p->links < 0 || p->groups < 0 || p->round_begin[0] != 0 ||
        p->round_begin[p->rounds] != p->links)
        return error_data(err, "the %d rounds do not hold the %d links", p->rounds, p->links);
    for (int r = 0; r < p->rounds; r++)
        if (p->round_begin[r] > p->round_begin[r + 1])
            return error_data(err, "round %d ends before it begins", r);
    for (int c = 0; c < p->links; c++)
        if (!check_link(p, c, err))
            return false;
    if ((p->links == 0 ? 0 : p->link[p->links - 1].end) != p->groups)
        return error_data(err, "the links do not hold all %ld groups", p->groups);
    return true;
}

// --- the objective

double width_variance(int bits) {
    double levels = ldexp(1, bits) - 1;
    return 1 / (levels * levels);
}

// Adds the bytes of groups of one theta before it converts them to seconds: sums of whole numbers
// do not depend on the order of the groups.
double link_seconds(const Problem *p, const Link *link, const uint8_t *choice) {
    double seconds = link->gamma;
    for (int64_t g = link->begin; g < link->end;) {
        double theta = p->group[g].theta, bytes = 0;
        for (; g < link->end && p->group[g].theta == theta; g++)
            bytes += (double)(p->group[g].rows * p->row_bytes[choice[g]]);
        seconds += theta * bytes;
    }
    return seconds;
}

double round_seconds(const Problem *p, int round, const uint8_t *choice) {
    double slowest = 0;
    for (int c = p->round_begin[round]; c < p->round_begin[round + 1]; c++)
        slowest = fmax(slowest, link_seconds(p, &p->link[c], choice));
    return slowest;
}

static double total_seconds(const Problem *p, const uint8_t *choice) {
    double total = 0;
    for (int r = 0; r < p->rounds; r++)
        total += round_seconds(p, r, choice);
    return total;
}

static double total_variance(const Problem *p, const uint8_t *choice) {
    double of_width[PROBLEM_WIDTHS], total = 0;
    for (int b = 0; b < p->widths; b++)
        of_width[b] = width_variance(p->bits[b]);
    for (int64_t g = 0; g < p->groups; g++)
        total += p->group[g].beta * of_width[choice[g]];
    return total;
}

Normalizers problem_normalizers(const Problem *p) {
    Normalizers normalizers;
    FREED uint8_t *choice = ALLOC(uint8_t, p->groups, "choice of one width");
    normalizers.v_nad = total_variance(p, choice);
    normalizers.t_ut = fmax(total_seconds(p, choice), p->hidden);
    problem_uniform(p, p->widths - 1, choice);
    normalizers.v_ut = total_variance(p, choice);
    normalizers.t_nad = fmax(total_seconds(p, choice), p->hidden);
    return normalizers;
}

Weights problem_weights(const Problem *p, Normalizers *normalizers) {
    *normalizers = problem_normalizers(p);
    double dv = normalizers->v_nad - normalizers->v_ut, dt = normalizers->t_nad - normalizers->t_ut;
    return (Weights){dv > tiny ? p->lambda / dv : 0, dt > tiny ? (1 - p->lambda) / dt : 0};
}

bool problem_is_open(const Problem *p) {
    Weights weights = problem_weights(p, &(Normalizers){0});
    return p->hidden == 0 && weights.variance > 0 && weights.seconds > 0;
}

Value problem_value(const Problem *p, const uint8_t *choice) {
    Normalizers normalizers;
    Weights weights = problem_weights(p, &normalizers);
    Value value = {.variance = total_variance(p, choice), .seconds = total_seconds(p, choice)};
    value.objective = weights.variance * (value.variance - normalizers.v_ut) +
                      weights.seconds * (fmax(value.seconds, p->hidden) - normalizers.t_ut);
    return value;
}

bool value_gains(const Value *found, const Value *there) {
    return found->objective < there->objective - 1e-12 * fabs(there->objective);
}

bool value_better(const Value *a, const Value *b) {
    if (a->objective != b->objective)
        return a->objective < b->objective;
    if (a->variance != b->variance)
        return a->variance < b->variance;
    return a->seconds < b->seconds;
}
