// Problems and solutions as text, for the pipe to fringe-solver:
//
//   fringe-problem 1                       fringe-solution 1
//   layer 1 direction 0                    by glpk seconds 0.25 bound 0.1
//   lambda 0.5 hidden 0                    trouble signal 6
//   widths 2                               groups 3
//   2 64                                   012
//   4 128                                  end
//   rounds 1 links 2 groups 3
//   round 2                                links of the round
//   link 0 1 1e-4 2                        source, target, gamma, groups
//   1.5 1e-9 100 0                         beta, theta, rows, index of the incumbent's width
//   0.5 1e-9 37 0
//   link 1 0 1e-4 1
//   2.5 1e-9 100 1
//   end
//
// The line "trouble" exists only if a process of GLPK ended too early: "signal N" or "exit N".
// Doubles have 17 digits, so they are read back bit for bit. A reader loads the whole text first
// and refuses a count that is larger than the text can hold before it allocates memory for it.

#include "internal.h"
#include "tokenizer.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHOICES_IN_LINE = 60,
    ROUND_BYTES = 8, // "round 0\n": the fewest bytes of a round in the text
    LINK_BYTES = 13, // "link 0 1 0 0\n"
    GROUP_BYTES = 8, // "0 1 1 0\n"
    LAST_SIGNAL = 64,
    LAST_EXIT = 255
};

// --- writing

static void write_head(const Problem *p, FILE *file) {
    fprintf(file, "fringe-problem 1\nlayer %d direction %d\nlambda %.17g hidden %.17g\nwidths %d\n",
            p->layer, p->direction, p->lambda, p->hidden, p->widths);
    for (int b = 0; b < p->widths; b++)
        fprintf(file, "%d %" PRId64 "\n", p->bits[b], p->row_bytes[b]);
    fprintf(file, "rounds %d links %d groups %" PRId64 "\n", p->rounds, p->links, p->groups);
}

bool problem_write(const Problem *p, const uint8_t *incumbent, FILE *file) {
    write_head(p, file);
    for (int r = 0; r < p->rounds; r++) {
        fprintf(file, "round %d\n", p->round_begin[r + 1] - p->round_begin[r]);
        for (int c = p->round_begin[r]; c < p->round_begin[r + 1]; c++) {
            const Link *link = &p->link[c];
            fprintf(file, "link %d %d %.17g %" PRId64 "\n", link->source, link->target, link->gamma,
                    link->end - link->begin);
            for (int64_t g = link->begin; g < link->end; g++)
                fprintf(file, "%.17g %.17g %" PRId64 " %d\n", p->group[g].beta, p->group[g].theta,
                        p->group[g].rows, incumbent[g]);
        }
    }
    fprintf(file, "end\n");
    return fflush(file) == 0 && ferror(file) == 0;
}

bool solution_write(const Solution *solution, const Problem *problem, FILE *file) {
    fprintf(file, "fringe-solution 1\nby %s seconds %.17g bound %.17g\n", solution->by,
            solution->seconds, solution->bound);
    if (solution->trouble != 0)
        fprintf(file, "trouble %s %d\n", solution->trouble > 0 ? "signal" : "exit",
                abs(solution->trouble));
    fprintf(file, "groups %" PRId64 "\n", problem->groups);
    for (int64_t g = 0; g < problem->groups; g++) {
        bool last = g == problem->groups - 1 || g % CHOICES_IN_LINE == CHOICES_IN_LINE - 1;
        fprintf(file, "%d%s", solution->choice[g], last ? "\n" : "");
    }
    fprintf(file, "end\n");
    return fflush(file) == 0 && ferror(file) == 0;
}

// Reads a count of things that need at least `bytes_each` bytes each in the rest of the text.
static bool read_count(Words *w, const char *what, int64_t bytes_each, int64_t *out) {
    return words_int(w, what, 0, (w->end - w->at) / bytes_each, out);
}

static bool read_end(Words *w) {
    if (!words_name(w, "end"))
        return false;
    words_next(w);
    return w->word[0] == 0 || words_refuse(w, "nothing after the end");
}

// --- reading

static bool read_head(Words *w, Problem *head) {
    int version;
    if (!words_name(w, "fringe-problem") || !words_small(w, "a version", &version))
        return false;
    if (version != 1)
        return error_set(w->err, EXIT_DATA,
                         "the problem has version %d; this program reads version 1", version);
    if (!words_name(w, "layer") || !words_small(w, "a layer", &head->layer) ||
        !words_name(w, "direction") || !words_small(w, "a direction", &head->direction) ||
        !words_name(w, "lambda") || !words_double(w, "a number", &head->lambda) ||
        !words_name(w, "hidden") || !words_double(w, "seconds", &head->hidden) ||
        !words_name(w, "widths") || !words_small(w, "a number of widths", &head->widths))
        return false;
    if (head->widths < 1 || head->widths > PROBLEM_WIDTHS)
        return words_refuse(w, "1 to 8 widths");
    for (int b = 0; b < head->widths; b++)
        if (!words_small(w, "bits", &head->bits[b]) ||
            !words_int(w, "bytes of a row", 1, INT64_MAX, &head->row_bytes[b]))
            return false;
    return true;
}

// Reads one link and its groups, which follow the first `*groups` groups.
static bool read_link(Words *w, Problem *p, Link *link, int64_t *groups, uint8_t *incumbent) {
    int64_t count, choice;
    if (!words_name(w, "link") || !words_small(w, "a rank", &link->source) ||
        !words_small(w, "a rank", &link->target) || !words_double(w, "seconds", &link->gamma) ||
        !words_int(w, "groups that the problem has left", 0, p->groups - *groups, &count))
        return false;
    link->begin = *groups;
    link->end = *groups += count;
    for (int64_t g = link->begin; g < link->end; g++) {
        Group *group = &p->group[g];
        if (!words_double(w, "a beta", &group->beta) ||
            !words_double(w, "a theta", &group->theta) ||
            !words_int(w, "a number of rows", 1, INT64_MAX, &group->rows) ||
            !words_int(w, "an index of a width", 0, p->widths - 1, &choice))
            return false;
        incumbent[g] = (uint8_t)choice;
    }
    return true;
}

static bool read_rounds(Words *w, Problem *p, uint8_t *incumbent) {
    int64_t links, groups = 0;
    for (int r = 0; r < p->rounds; r++) {
        int begin = p->round_begin[r];
        if (!words_name(w, "round") ||
            !words_int(w, "links that the problem has left", 0, p->links - begin, &links))
            return false;
        p->round_begin[r + 1] = begin + (int)links;
        for (int c = begin; c < begin + (int)links; c++)
            if (!read_link(w, p, &p->link[c], &groups, incumbent))
                return false;
    }
    return read_end(w) && problem_check(p, w->err);
}

bool problem_read(Problem *problem, uint8_t **incumbent, FILE *file, Error *err) {
    Words w;
    Problem head = {0};
    int64_t rounds, links, groups;
    *problem = (Problem){0};
    *incumbent = NULL;
    if (!words_open(&w, "the problem", file, err))
        return false;
    bool ok = read_head(&w, &head) && words_name(&w, "rounds") &&
              read_count(&w, "as many rounds as the text holds", ROUND_BYTES, &rounds) &&
              words_name(&w, "links") &&
              read_count(&w, "as many links as the text holds", LINK_BYTES, &links) &&
              words_name(&w, "groups") &&
              read_count(&w, "as many groups as the text holds", GROUP_BYTES, &groups);
    if (ok) {
        problem_init(problem, (int)rounds, (int)links, groups);
        head.rounds = problem->rounds;
        head.round_begin = problem->round_begin;
        head.links = problem->links;
        head.link = problem->link;
        head.groups = problem->groups;
        head.group = problem->group;
        *problem = head;
        *incumbent = ALLOC(uint8_t, groups, "incumbent of a problem");
        ok = read_rounds(&w, problem, *incumbent);
    }
    words_close(&w);
    if (!ok) {
        memory_free(*incumbent);
        *incumbent = NULL;
        problem_clear(problem);
    }
    return ok;
}

// Reads one digit for each group, in words of any length.
static bool read_choices(Words *w, const Problem *problem, uint8_t *choice) {
    for (int64_t g = 0; g < problem->groups;) {
        words_next(w);
        for (const char *c = w->word; *c != 0 || c == w->word; c++, g++) {
            if (*c < '0' || *c >= '0' + problem->widths || g == problem->groups)
                return words_refuse(w, "an index of a width for each group");
            choice[g] = (uint8_t)(*c - '0');
        }
    }
    return true;
}

// Reads an optional "trouble" line, then the word "groups".
static bool read_trouble(Words *w, int *trouble) {
    int64_t number;
    words_next(w);
    if (strcmp(w->word, "trouble") == 0) {
        words_next(w);
        bool is_signal = strcmp(w->word, "signal") == 0;
        if (!is_signal && strcmp(w->word, "exit") != 0)
            return words_refuse(w, "signal or exit");
        if (!words_int(w, "a number of it", 1, is_signal ? LAST_SIGNAL : LAST_EXIT, &number))
            return false;
        *trouble = (int)(is_signal ? number : -number);
        words_next(w);
    }
    return strcmp(w->word, "groups") == 0 || words_refuse(w, "groups");
}

static bool read_solution(Words *w, Solution *solution, const Problem *problem) {
    int version;
    int64_t groups;
    if (!words_name(w, "fringe-solution") || !words_small(w, "a version", &version))
        return false;
    if (version != 1)
        return error_set(w->err, EXIT_DATA,
                         "the solution has version %d; this program reads version 1", version);
    if (!words_name(w, "by"))
        return false;
    words_next(w);
    size_t letters = strspn(w->word, "abcdefghijklmnopqrstuvwxyz-");
    if (letters == 0 || w->word[letters] != 0 || letters >= sizeof solution->by)
        return words_refuse(w, "a name");
    memcpy(solution->by, w->word, letters + 1);
    return words_name(w, "seconds") && words_double(w, "seconds", &solution->seconds) &&
           words_name(w, "bound") && words_double(w, "a bound", &solution->bound) &&
           read_trouble(w, &solution->trouble) &&
           words_int(w, "as many groups as the problem has", problem->groups, problem->groups,
                     &groups) &&
           read_choices(w, problem, solution->choice) && read_end(w);
}

bool solution_read(Solution *solution, const Problem *problem, FILE *file, Error *err) {
    Words w;
    solution_init(solution, problem);
    bool ok = words_open(&w, "the solution", file, err);
    if (ok) {
        ok = read_solution(&w, solution, problem);
        words_close(&w);
    }
    if (!ok) {
        solution_clear(solution);
        return false;
    }
    solution->value = problem_value(problem, solution->choice);
    solution->bound = fmin(fmax(solution->bound, 0), solution->value.objective);
    return true;
}
