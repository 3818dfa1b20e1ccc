// The picture of a plan: time of an epoch and memory of a rank against ranks, both axes
// logarithmic. What was checked is solid and filled; what is extrapolated is dashed and hollow.
#include "fringe/plan.h"

enum { WIDTH = 860, HEIGHT = 418, TOP = 56, BOTTOM = 300, PANEL = 330, LEFT = 70, GAP = 90 };

// Text of the user, with the marks of XML escaped.
static void draw_text(FILE *out, const char *text) {
    for (; *text != 0; text++)
        if (strchr("<>&\"", *text) != NULL)
            fprintf(out, "&#%d;", *text);
        else
            fprintf(out, "%c", *text);
}

typedef struct Panel {
    const char *title, *unit;
    double scale; // of values, to the unit
    bool memory;
    double left, low[2], high[2]; // logarithms of the ends of the axes: ranks, value
} Panel;

static double value_of(const Panel *panel, const PlanPoint *point) {
    return (panel->memory ? point->memory : point->seconds) * panel->scale;
}

static double place_x(const Panel *p, double ranks) {
    return p->left + PANEL * (log2(ranks) - p->low[0]) / (p->high[0] - p->low[0]);
}
static double place_y(const Panel *p, double value) {
    return BOTTOM - (BOTTOM - TOP) * (log10(value) - p->low[1]) / (p->high[1] - p->low[1]);
}

// Axes end at powers of 2 and of 10 around all points.
static void fit_axes(Panel *panel, const PlanLine *line, int lines) {
    double least[2] = {INFINITY, INFINITY}, most[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < lines; i++)
        for (int k = 0; k < line[i].count; k++) {
            const PlanPoint *point = &line[i].point[k];
            double at[2] = {log2(point->ranks), log10(fmax(value_of(panel, point), 1e-9))};
            for (int a = 0; a < 2; a++) {
                least[a] = fmin(least[a], at[a]);
                most[a] = fmax(most[a], at[a]);
            }
        }
    for (int a = 0; a < 2; a++) {
        panel->low[a] = floor(least[a]);
        panel->high[a] = fmax(ceil(most[a]), panel->low[a] + 1);
    }
}

static void draw_axes(FILE *out, const Panel *p) {
    double right = p->left + PANEL;
    fprintf(out, "<text x=\"%.0f\" y=\"%d\" class=\"title\">%s</text>\n", p->left, TOP - 14,
            p->title);
    for (double e = p->low[1]; e <= p->high[1] + 0.5; e++) {
        double y = place_y(p, pow(10, e));
        fprintf(out, "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>",
                p->left, right, y, y);
        fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%g %s</text>\n", p->left - 6,
                y + 4, pow(10, e), p->unit);
    }
    double step = fmax(1, ceil((p->high[0] - p->low[0]) / 10));
    for (double e = p->low[0]; e <= p->high[0] + 0.5; e += step)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%.0f</text>\n",
                place_x(p, exp2(e)), BOTTOM + 18, exp2(e));
    fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"end\">ranks</text>\n", right,
            BOTTOM + 36);
}

static const char *const colours[] = {"#4269d0", "#efb118", "#ff725c", "#6cc5b0",
                                      "#a463f2", "#9c6b4e", "#3ca951", "#97bbf5",
                                      "#ff8ab7", "#9498a0", "#22577a", "#7f4f24"};
static const char *colour(int i) { return colours[i % FAMILY_COUNT(colours)]; }

static void draw_line(FILE *out, const Panel *p, const PlanLine *line, int i) {
    for (int k = 0; k + 1 < line->count; k++) {
        const PlanPoint *a = &line->point[k], *b = a + 1;
        fprintf(
            out,
            "<line class=\"%s\" stroke=\"%s\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
            a->checked && b->checked ? "checked" : "extrapolated", colour(i), place_x(p, a->ranks),
            place_y(p, fmax(value_of(p, a), 1e-9)), place_x(p, b->ranks),
            place_y(p, fmax(value_of(p, b), 1e-9)));
    }
    for (int k = 0; k < line->count; k++) {
        const PlanPoint *a = &line->point[k];
        fprintf(out, "<circle r=\"3.5\" stroke=\"%s\" fill=\"%s\" cx=\"%.1f\" cy=\"%.1f\"/>\n",
                colour(i), a->checked ? colour(i) : "white", place_x(p, a->ranks),
                place_y(p, fmax(value_of(p, a), 1e-9)));
    }
}

static void draw_legend(FILE *out, const PlanLine *line, int lines) {
    double x = LEFT;
    int y = HEIGHT - 56;
    for (int i = 0; i < lines; i++) {
        double width = 34 + 7.0 * (double)strlen(line[i].name);
        if (x + width > WIDTH) {
            x = LEFT;
            y += 18;
        }
        fprintf(out, "<rect x=\"%.0f\" y=\"%d\" width=\"12\" height=\"4\" fill=\"%s\"/>", x, y - 6,
                colour(i));
        fprintf(out, "<text x=\"%.0f\" y=\"%d\">", x + 17, y);
        draw_text(out, line[i].name);
        fprintf(out, "</text>\n");
        x += width;
    }
    fprintf(out,
            "<text x=\"%d\" y=\"%d\">solid, filled: sizes of a cut that exists; dashed, hollow: "
            "extrapolated from smaller cuts</text>\n",
            LEFT, HEIGHT - 14);
}

static void draw_panel(FILE *out, Panel panel, const PlanLine *line, int lines) {
    fit_axes(&panel, line, lines);
    draw_axes(out, &panel);
    for (int i = 0; i < lines; i++)
        draw_line(out, &panel, &line[i], i);
}

bool plan_svg(const char *path, const char *title, const PlanLine *line, int lines, Error *err) {
    char *text;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    CHECK(out != NULL, EXIT_MEMORY, "no memory for the picture of a plan");
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
            "<style>text{font:12px sans-serif;fill:#333}.title{font-weight:bold}"
            ".grid{stroke:#ddd}.checked{stroke-width:2}"
            ".extrapolated{stroke-width:2;stroke-dasharray:5 4}</style>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n<text x=\"%d\" y=\"20\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    draw_text(out, title);
    fprintf(out, "</text>\n");
    draw_panel(out, (Panel){.title = "Time of an epoch", .unit = "s", .scale = 1, .left = LEFT},
               line, lines);
    draw_panel(out,
               (Panel){.title = "Memory of a rank",
                       .unit = "GiB",
                       .scale = 1.0 / (1 << 30),
                       .memory = true,
                       .left = LEFT + PANEL + GAP},
               line, lines);
    draw_legend(out, line, lines);
    fprintf(out, "</svg>\n");
    fclose(out);
    bool ok = file_replace(path, text, bytes, err);
    free(text);
    return ok;
}
