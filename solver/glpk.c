// One round as a mixed integer program (ALGORITHMS A.6), relative to the smallest width everywhere:
//
//   minimise   sum over groups g, widths b > 0 of  c_gb x_gb  +  z
//   subject to sum over b of x_gb <= 1                           for every group
//              sum over g, b of d_gb x_gb - z <= -d_c            for every link c
//   x_gb in {0, 1},  z >= 0
//
// z is the cost of the round's time beyond the shortest possible; c and d are costs, too. All are
// divided by the incumbent's cost, so that numbers are near 1. GLPK's presolvers stay off: they
// renumber the columns, so that neither the incumbent nor a starting basis could be passed.

#include "solver.h"

#include <glpk.h>
#include <unistd.h>

typedef struct Model {
    const Problem *problem;
    int round;
    int64_t begin, end;       // its groups
    int widths;               // columns of a group, plus 1
    const uint8_t *incumbent; // [groups of the problem]
    uint8_t *smallest;        // [groups of the problem] the smallest width everywhere
    double shortest, longer; // seconds of the round: the least, and how many more the incumbent has
    Weights weights;         // of the objective, divided by the incumbent's cost
    double *start;           // [columns + 1] the incumbent
    bool started;
    uint8_t *found; // [end - begin]
    int out;
} Model;

static int column(const Model *m, int64_t group, int width) {
    return (int)((group - m->begin) * (m->widths - 1)) + width;
}
static int columns(const Model *m) { return column(m, m->end, 1); } // the last one is z
static int group_row(const Model *m, int64_t group) { return (int)(group - m->begin) + 1; }
static int link_row(const Model *m, int link) {
    return group_row(m, m->end) + link - m->problem->round_begin[m->round];
}

static double variance(const Model *m, int64_t group, int b) {
    const Problem *p = m->problem;
    return m->weights.variance * (p->group[group].beta * width_variance(p->bits[b]));
}

// False if the incumbent of this round costs nothing.
static bool set_weights(Model *m) {
    m->weights = problem_weights(m->problem, &(Normalizers){0});
    double cost = m->weights.seconds * m->longer;
    for (int64_t g = m->begin; g < m->end; g++)
        cost += variance(m, g, m->incumbent[g]);
    m->weights.variance /= cost;
    m->weights.seconds /= cost;
    return cost > 0;
}

static void add_columns(glp_prob *lp, const Model *m) {
    glp_add_cols(lp, columns(m));
    double constant = 0;
    for (int64_t g = m->begin; g < m->end; g++) {
        constant += variance(m, g, 0);
        for (int b = 1; b < m->widths; b++) {
            int j = column(m, g, b);
            glp_set_col_kind(lp, j, GLP_BV);
            glp_set_obj_coef(lp, j, variance(m, g, b) - variance(m, g, 0));
            m->start[j] = m->incumbent[g] == b;
        }
    }
    glp_set_obj_coef(lp, 0, constant);
    int z = columns(m);
    glp_set_col_bnds(lp, z, GLP_LO, 0, 0);
    glp_set_obj_coef(lp, z, 1);
    m->start[z] = m->weights.seconds * m->longer;
}

static void add_group_rows(glp_prob *lp, const Model *m) {
    glp_add_rows(lp, (int)(m->end - m->begin));
    int index[PROBLEM_WIDTHS];
    double ones[PROBLEM_WIDTHS];
    for (int64_t g = m->begin; g < m->end; g++) {
        for (int b = 1; b < m->widths; b++) {
            index[b] = column(m, g, b);
            ones[b] = 1;
        }
        glp_set_mat_row(lp, group_row(m, g), m->widths - 1, index, ones);
        glp_set_row_bnds(lp, group_row(m, g), GLP_UP, 0, 1);
    }
}

static void add_link_rows(glp_prob *lp, const Model *m) {
    const Problem *p = m->problem;
    FREED int *index = ALLOC(int, columns(m) + 1, "a row of the program");
    FREED double *value = ALLOC(double, columns(m) + 1, "a row of the program");
    for (int c = p->round_begin[m->round]; c < p->round_begin[m->round + 1]; c++) {
        const Link *link = &p->link[c];
        int count = 0, row = glp_add_rows(lp, 1);
        for (int64_t g = link->begin; g < link->end; g++)
            for (int b = 1; b < m->widths; b++) {
                int64_t bytes = p->group[g].rows * (p->row_bytes[b] - p->row_bytes[0]);
                if (bytes > 0) {
                    index[++count] = column(m, g, b);
                    value[count] = m->weights.seconds * (p->group[g].theta * (double)bytes);
                }
            }
        index[++count] = columns(m);
        value[count] = -1;
        glp_set_mat_row(lp, row, count, index, value);
        double room = m->shortest - link_seconds(p, link, m->smallest);
        glp_set_row_bnds(lp, row, GLP_UP, 0, m->weights.seconds * room);
    }
}

// The incumbent is a corner of the relaxation near the best one, so the simplex method starts
// there. The basic variables are the width of each group (or its row where that is the smallest
// width), the links' rows, and z instead of the slowest link's row.
static void set_basis(glp_prob *lp, const Model *m) {
    const Problem *p = m->problem;
    for (int j = 1; j < columns(m); j++)
        glp_set_col_stat(lp, j, m->start[j] > 0 ? GLP_BS : GLP_NL);
    for (int64_t g = m->begin; g < m->end; g++)
        glp_set_row_stat(lp, group_row(m, g), m->incumbent[g] > 0 ? GLP_NU : GLP_BS);
    int slowest = p->round_begin[m->round];
    for (int c = slowest; c < p->round_begin[m->round + 1]; c++) {
        glp_set_row_stat(lp, link_row(m, c), GLP_BS);
        if (link_seconds(p, &p->link[c], m->incumbent) >
            link_seconds(p, &p->link[slowest], m->incumbent))
            slowest = c;
    }
    glp_set_row_stat(lp, link_row(m, slowest), GLP_NU);
    glp_set_col_stat(lp, columns(m), GLP_BS);
}

void write_or_exit(int out, const void *data, size_t bytes) {
    for (size_t sent = 0; sent < bytes;) {
        ssize_t wrote = write(out, (const char *)data + sent, bytes - sent);
        if (wrote <= 0)
            _exit(EXIT_IO);
        sent += (size_t)wrote;
    }
}

static void send_solution(const Model *m, glp_prob *lp) {
    size_t groups = (size_t)(m->end - m->begin);
    memset(m->found, 0, groups);
    for (int64_t g = m->begin; g < m->end; g++)
        for (int b = 1; b < m->widths; b++)
            if (glp_mip_col_val(lp, column(m, g, b)) > 0.5)
                m->found[g - m->begin] = (uint8_t)b;
    write_or_exit(m->out, m->found, groups);
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
    const Link *first = &problem->link[problem->round_begin[round]];
    const Link *last = &problem->link[problem->round_begin[round + 1] - 1];
    Model m = {.problem = problem,
               .round = round,
               .begin = first->begin,
               .end = last->end,
               .widths = problem->widths,
               .incumbent = incumbent,
               .out = out};
    m.smallest = ALLOC(uint8_t, problem->groups, "the smallest widths");
    m.shortest = round_seconds(problem, round, m.smallest);
    m.longer = round_seconds(problem, round, incumbent) - m.shortest;
    if (set_weights(&m)) {
        m.start = ALLOC(double, columns(&m) + 1, "the incumbent");
        m.found = ALLOC(uint8_t, m.end - m.begin, "a choice");
        glp_term_out(GLP_OFF);
        glp_prob *lp = glp_create_prob();
        add_columns(lp, &m);
        add_group_rows(lp, &m);
        add_link_rows(lp, &m);
        set_basis(lp, &m);
        search(lp, &m, seconds, gap);
        glp_delete_prob(lp);
        MEMORY_FREE(m.found, m.start);
    }
    memory_free(m.smallest);
}
