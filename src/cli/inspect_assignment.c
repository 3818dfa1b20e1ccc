// fringe inspect of assignments/epoch-N.json: how bit widths were found, and what was predicted and
// measured.

#include "inspect.h"

static void show_rows(const Json *rows) {
    for (const Json *r = json_first(rows); r != NULL; r = json_next(r))
        printf("  %s bit %.0f", SHOWN(json_key(r)),
               json_type(r) == JSON_NUMBER ? json_number(r) : 0);
    printf("\n");
}

// False if the object has no such array.
static bool three_of(const Json *object, const char *key, double out[3]) {
    const Json *v = json_first(json_get_of(object, key, JSON_ARRAY));
    int count = 0;
    for (; v != NULL && count < 3 && json_type(v) == JSON_NUMBER; v = json_next(v))
        out[count++] = json_number(v);
    return count == 3;
}

// Prints nothing for rules that need no link model.
static void show_link(const Json *link) {
    double byte[3], message[3];
    if (link == NULL || !three_of(link, "seconds_per_byte", byte) || byte[2] <= 0 ||
        !three_of(link, "seconds_per_message", message))
        return;
    printf("  links (least, median, most): %.3g %.3g %.3g s per byte\n"
           "                               %.3g %.3g %.3g s per message\n",
           byte[0], byte[1], byte[2], message[0], message[1], message[2]);
}

static void show_bound(const Json *part, const char *key, const char *name) {
    double objective = json_get_amount(part, "objective"), bound = json_get_amount(part, key);
    if (json_get_of(part, key, JSON_NUMBER) != NULL)
        printf("%s %.5f gap %.2g %%", name, bound,
               objective > 0 ? 100 * (objective - bound) / objective : 0.0);
}

// Prints nothing for rules that solve no problem.
static void show_solution(const Json *part) {
    double hidden = json_get_amount(part, "hidden_seconds");
    if (json_get_amount(part, "predicted_seconds") <= 0)
        return;
    printf("    objective %.5f", json_get_amount(part, "objective"));
    show_bound(part, "bound", " bound");
    show_bound(part, "lp_bound", ", LP bound");
    printf("\n    found in %.3g s; predicted %.3g s", json_get_amount(part, "search_seconds"),
           json_get_amount(part, "predicted_seconds"));
    if (hidden > 0)
        printf(" hidden %.3g s", hidden);
    printf("\n");
}

void inspect_assignment(UNUSED const Inspection *at, const Json *assignment) {
    printf("assignment requested before epoch %.0f, applied before epoch %.0f, %.3f s%s%s\n",
           json_get_amount(assignment, "asked"), json_get_amount(assignment, "taken"),
           json_get_amount(assignment, "seconds"),
           json_get_text(assignment, "remark")[0] ? "; " : "",
           SHOWN(json_get_text(assignment, "remark")));
    show_link(json_get(assignment, "link"));
    const Json *parts = json_get_of(assignment, "parts", JSON_ARRAY);
    for (const Json *p = json_first(parts); p != NULL; p = json_next(p)) {
        printf("  layer %.0f %-8s %-7s", json_get_amount(p, "layer"),
               SHOWN(json_get_text(p, "direction")), SHOWN(json_get_text(p, "by")));
        if (json_get_of(p, "measured_seconds", JSON_NUMBER) != NULL)
            printf(" measured %.3g s;", json_get_amount(p, "measured_seconds"));
        show_rows(json_get_of(p, "rows", JSON_OBJECT));
        show_solution(p);
    }
}

bool inspect_assignments(const char *run_dir, Error *err) {
    CLEARED(epoch_list_clear) EpochList list = {0};
    Inspection at = inspect_at(PATH_IN(run_dir, "assignments"), NULL, err);
    bool ok = runfolder_epochs(&list, at.path, ".json", err);
    for (int i = 0; i < list.count && ok; i++) {
        char name[RUNFOLDER_NAME];
        ok = inspect_document(&at, runfolder_epoch_name(name, list.epoch[i], ".json"), NULL,
                              inspect_assignment);
    }
    return ok;
}
