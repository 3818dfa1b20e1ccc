// One round as a mixed integer program (ALGORITHMS A.6). Against the smallest width everywhere:
//
//   minimise   sum over groups g, widths b > 0 of  c_gb x_gb  +  z
//   subject to sum over b of x_gb <= 1                           for every group
//              sum over g, b of d_gb x_gb - z <= -d_c            for every lane c
//   x_gb in {0, 1},  z >= 0
//
// z is the round's time beyond the shortest possible, in objective; d and c, too. All is divided by
// the incumbent's cost, so that numbers are near 1. GLPK's presolvers stay off: they give
// the columns other numbers, so that neither the incumbent nor a first corner could be handed over.

#include "solver.h"

#include <glpk.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

typedef struct Model {
    const Problem *problem;
    int64_t begin, groups;    // of the round
    int widths;               // columns of a group, plus 1
    double variance, seconds; // what a unit of V and a second cost, of the incumbent's cost
    double shortest;          // seconds of the round
    const uint8_t *incumbent; // of the round's groups
    double *start;            // [columns + 1] the incumbent
    bool started;
    uint8_t *found;
    int out;
} Model;

static int column(const Model *m, int64_t group, int width) {
    return (int)(group * (m->widths - 1)) + width;
}
static int columns(const Model *m) { return column(m, m->groups, 1); } // the last one is z

static double width_variance(const Problem *p, int b) {
    double levels = ldexp(1, p->width[b]) - 1;
    return 1 / (levels * levels);
}

static double group_seconds(const Problem *p, int64_t g, int width) {
    return p->group[g].theta * (double)(p->group[g].rows * p->row_bytes[width]);
}

// NULL: the smallest width everywhere.
static double lane_seconds(const Model *m, const Lane *lane, const uint8_t *choice) {
    double seconds = lane->gamma;
    for (int64_t g = lane->begin; g < lane->end; g++)
        seconds += group_seconds(m->problem, g, choice == NULL ? 0 : choice[g - m->begin]);
    return seconds;
}

static double round_seconds(const Model *m, int round, const uint8_t *choice) {
    const Problem *p = m->problem;
    double slowest = 0;
    for (int c = p->round_begin[round]; c < p->round_begin[round + 1]; c++)
        slowest = fmax(slowest, lane_seconds(m, &p->lane[c], choice));
    return slowest;
}

// The prices of V and of seconds, in parts of what the incumbent of this round costs. False if it
// costs nothing.
static bool set_prices(Model *m, int round) {
    const Problem *p = m->problem;
    uint8_t *choice = TAKE(uint8_t, p->groups, "choice of one width");
    Value small = problem_value(p, choice);
    problem_uniform(p, p->widths - 1, choice);
    Value large = problem_value(p, choice);
    memory_give(choice);
    m->variance = p->lambda / (small.variance - large.variance);
    m->seconds = (1 - p->lambda) / (large.seconds - small.seconds);
    m->shortest = round_seconds(m, round, NULL);
    double cost = m->seconds * (round_seconds(m, round, m->incumbent) - m->shortest);
    for (int64_t g = 0; g < m->groups; g++)
        cost += m->variance * p->group[m->begin + g].beta * width_variance(p, m->incumbent[g]);
    m->variance /= cost;
    m->seconds /= cost;
    return cost > 0;
}

static void add_columns(glp_prob *lp, Model *m) {
    const Problem *p = m->problem;
    glp_add_cols(lp, columns(m));
    double constant = 0;
    for (int64_t g = 0; g < m->groups; g++) {
        double beta = p->group[m->begin + g].beta, smallest = width_variance(p, 0);
        constant += m->variance * beta * smallest;
        for (int b = 1; b < m->widths; b++) {
            int j = column(m, g, b);
            glp_set_col_kind(lp, j, GLP_BV);
            glp_set_obj_coef(lp, j, m->variance * beta * (width_variance(p, b) - smallest));
            m->start[j] = m->incumbent[g] == b;
        }
    }
    glp_set_obj_coef(lp, 0, constant);
    glp_set_col_bnds(lp, columns(m), GLP_LO, 0, 0);
    glp_set_obj_coef(lp, columns(m), 1);
}

static void add_group_rows(glp_prob *lp, const Model *m) {
    glp_add_rows(lp, (int)m->groups);
    int index[PROBLEM_WIDTHS];
    double ones[PROBLEM_WIDTHS];
    for (int64_t g = 0; g < m->groups; g++) {
        for (int b = 1; b < m->widths; b++) {
            index[b] = column(m, g, b);
            ones[b] = 1;
        }
        glp_set_mat_row(lp, (int)g + 1, m->widths - 1, index, ones);
        glp_set_row_bnds(lp, (int)g + 1, GLP_UP, 0, 1);
    }
}

static void add_lane_rows(glp_prob *lp, const Model *m, int round) {
    const Problem *p = m->problem;
    int *index = TAKE(int, columns(m) + 1, "a row of the program");
    double *value = TAKE(double, columns(m) + 1, "a row of the program");
    for (int c = p->round_begin[round]; c < p->round_begin[round + 1]; c++) {
        const Lane *lane = &p->lane[c];
        int count = 0, row = glp_add_rows(lp, 1);
        for (int64_t g = lane->begin; g < lane->end; g++)
            for (int b = 1; b < m->widths; b++) {
                double longer = group_seconds(p, g, b) - group_seconds(p, g, 0);
                if (longer > 0) {
                    index[++count] = column(m, g - m->begin, b);
                    value[count] = m->seconds * longer;
                }
            }
        index[++count] = columns(m);
        value[count] = -1;
        glp_set_mat_row(lp, row, count, index, value);
        double room = m->shortest - lane_seconds(m, lane, NULL);
        glp_set_row_bnds(lp, row, GLP_UP, 0, m->seconds * fmax(room, 0));
    }
    memory_give(value);
    memory_give(index);
}

// The incumbent is a corner of the relaxation, near its best one: the simplex method starts there.
// Basic are the width of each group (or, at the smallest, its row), the lanes' rows, and z in the
// place of the slowest lane's row.
static void set_basis(glp_prob *lp, const Model *m, int round) {
    const Problem *p = m->problem;
    for (int j = 1; j < columns(m); j++)
        glp_set_col_stat(lp, j, m->start[j] > 0 ? GLP_BS : GLP_NL);
    for (int64_t g = 0; g < m->groups; g++)
        glp_set_row_stat(lp, (int)g + 1, m->incumbent[g] > 0 ? GLP_NU : GLP_BS);
    int first = p->round_begin[round], slowest = first;
    for (int c = first; c < p->round_begin[round + 1]; c++) {
        glp_set_row_stat(lp, (int)m->groups + 1 + c - first, GLP_BS);
        if (lane_seconds(m, &p->lane[c], m->incumbent) >
            lane_seconds(m, &p->lane[slowest], m->incumbent))
            slowest = c;
    }
    glp_set_row_stat(lp, (int)m->groups + 1 + slowest - first, GLP_NU);
    glp_set_col_stat(lp, columns(m), GLP_BS);
}

static void send_solution(Model *m, glp_prob *lp) {
    memset(m->found, 0, (size_t)m->groups);
    for (int64_t g = 0; g < m->groups; g++)
        for (int b = 1; b < m->widths; b++)
            if (glp_mip_col_val(lp, column(m, g, b)) > 0.5)
                m->found[g] = (uint8_t)b;
    for (size_t sent = 0; sent < (size_t)m->groups;) {
        ssize_t wrote = write(m->out, m->found + sent, (size_t)m->groups - sent);
        if (wrote <= 0)
            _exit(EXIT_IO); // nobody listens any more
        sent += (size_t)wrote;
    }
}

static void during_search(glp_tree *tree, void *context) {
    Model *m = context;
    int reason = glp_ios_reason(tree);
    if (reason == GLP_IHEUR && !m->started) {
        m->started = true;
        glp_ios_heur_sol(tree, m->start);
    } else if (reason == GLP_IBINGO) {
        send_solution(m, glp_ios_get_prob(tree));
    }
}

static void search(glp_prob *lp, Model *m, double seconds, double gap) {
    double end = clock_seconds() + seconds;
    glp_smcp simplex;
    glp_init_smcp(&simplex);
    simplex.msg_lev = GLP_MSG_OFF;
    simplex.tm_lim = (int)(1e3 * seconds);
    if (glp_simplex(lp, &simplex) != 0 || glp_get_status(lp) != GLP_OPT)
        return;
    glp_iocp branch;
    glp_init_iocp(&branch);
    branch.msg_lev = GLP_MSG_OFF;
    branch.tm_lim = (int)(1e3 * fmax(end - clock_seconds(), 0.001));
    branch.mip_gap = gap;
    branch.mir_cuts = GLP_ON;
    branch.cb_func = during_search;
    branch.cb_info = m;
    glp_intopt(lp, &branch);
    int status = glp_mip_status(lp);
    if (status == GLP_OPT || status == GLP_FEAS)
        send_solution(m, lp);
}

void glpk_round(const Problem *problem, int round, const uint8_t *incumbent, double seconds,
                double gap, int out) {
    const Lane *lane = &problem->lane[problem->round_begin[round]];
    const Lane *last = &problem->lane[problem->round_begin[round + 1] - 1];
    Model m = {.problem = problem,
               .begin = lane->begin,
               .groups = last->end - lane->begin,
               .widths = problem->widths,
               .incumbent = incumbent + lane->begin,
               .out = out};
    if (!set_prices(&m, round))
        return;
    m.start = TAKE(double, columns(&m) + 1, "the incumbent");
    m.found = TAKE(uint8_t, m.groups, "a choice");
    m.start[columns(&m)] = m.seconds * (round_seconds(&m, round, m.incumbent) - m.shortest);
    glp_term_out(GLP_OFF);
    glp_prob *lp = glp_create_prob();
    add_columns(lp, &m);
    add_group_rows(lp, &m);
    add_lane_rows(lp, &m, round);
    set_basis(lp, &m, round);
    search(lp, &m, seconds, gap);
    glp_delete_prob(lp);
    memory_give(m.found);
    memory_give(m.start);
}
