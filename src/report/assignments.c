// Files of assignments. <run.dir>/assignments/epoch-N.json says how the bit widths used from epoch
// N on were found, and what was predicted and measured; epoch-N.safetensors beside it holds the bit
// widths themselves, for quantization.assign=replay:RUN.

#include "internal.h"

#include "fringe/runfolder.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void assignment_path(char out[PATH_BYTES], const char *folder, int64_t epoch,
                            const char *ending) {
    char name[RUNFOLDER_NAME];
    path_join(out, PATH_BYTES, folder, runfolder_epoch_name(name, epoch, ending));
}

// ---- writing

static void put_three(JsonWriter *w, const char *key, const double value[3]) {
    json_begin_array(w, key);
    for (int i = 0; i < 3; i++)
        json_put_double(w, NULL, value[i]);
    json_end_array(w);
}

static void put_part(JsonWriter *w, const AssignmentPart *part) {
    json_begin_object(w, NULL);
    json_put_int(w, "layer", part->id.layer);
    json_put_string(w, "direction", direction_name(part->id.direction));
    json_put_string(w, "by", part->by);
    json_put_double(w, "objective", part->objective);
    json_put_double(w, "bound", part->bound);
    json_put_double(w, "lp_bound", part->lp_bound);
    json_put_double(w, "search_seconds", part->search);
    json_put_double(w, "predicted_seconds", part->predicted);
    json_put_double(w, "hidden_seconds", part->hidden);
    json_put_double(w, "measured_seconds", part->measured);
    json_begin_object(w, "rows");
    for (int b = 0; b <= WIDTH_MOST; b++) {
        char bits[12];
        snprintf(bits, sizeof bits, "%d", b);
        if (part->rows[b] > 0)
            json_put_int(w, bits, part->rows[b]);
    }
    json_end_object(w);
    json_end_object(w);
}

static void put_assignment(JsonWriter *w, const Assignment *a) {
    json_begin_object(w, NULL);
    json_put_int(w, "asked", a->requested);
    json_put_int(w, "taken", a->applied);
    json_put_double(w, "seconds", a->seconds);
    json_begin_object(w, "link");
    put_three(w, "seconds_per_byte", a->byte_seconds);
    put_three(w, "seconds_per_message", a->message_seconds);
    json_end_object(w);
    if (a->warning[0] != 0)
        json_put_string(w, "remark", a->warning);
    json_begin_array(w, "parts");
    for (int i = 0; i < a->parts; i++)
        put_part(w, &a->part[i]);
    json_end_array(w);
    json_end_object(w);
}

typedef struct Assigned {
    Assignment assignment;
    int count;
    Tensor widths[ASSIGNED_CHANNELS]; // owned
} Assigned;

static bool write_assigned(const Report *report, const Assigned *assigned, Error *err) {
    const Assignment *assignment = &assigned->assignment;
    char folder[PATH_BYTES], path[PATH_BYTES];
    JsonWriter w;
    path_join(folder, sizeof folder, report->folder, "assignments");
    if (!file_make_folder(folder, err))
        return false;
    assignment_path(path, folder, assignment->applied, ".safetensors");
    if (!tensors_replace(path, assigned->widths, assigned->count, NULL, err))
        return false;
    json_writer_init(&w, true);
    put_assignment(&w, assignment);
    assignment_path(path, folder, assignment->applied, ".json");
    bool ok = file_replace(path, w.text, w.bytes, err);
    json_writer_clear(&w);
    return ok;
}

static void store(void *context, const void *payload, size_t bytes, Error *err) {
    Assigned assigned;
    memcpy(&assigned, payload, bytes);
    if (err->code == 0)
        write_assigned(context, &assigned, err);
    assigner_widths_free(assigned.widths, assigned.count);
}

bool report_assignment(Report *report, const Assignment *assignment, const Tensor *widths,
                       int count, Error *err) {
    Assigned assigned = {.assignment = *assignment, .count = count};
    memcpy(assigned.widths, widths, (size_t)count * sizeof *widths);
    if (assignment->warning[0] != 0)
        terminal_say("warning    epoch %lld: %s\n", (long long)assignment->applied,
                     SHOWN(assignment->warning));
    return writer_put(report->writer, store, report, &assigned, sizeof assigned, err);
}

static bool cut_files(const char *folder, const char *ending, int64_t last, Error *err) {
    EpochList list;
    char path[PATH_BYTES];
    bool ok = runfolder_epochs(&list, folder, ending, err);
    for (int i = list.count; ok && i-- > 0 && list.epoch[i] > last;) {
        assignment_path(path, folder, list.epoch[i], ending);
        ok = file_remove(path, err);
    }
    memory_free(list.epoch);
    return ok;
}

bool report_cut_assignments(const char *folder, int64_t last, Error *err) {
    file_sweep(folder);
    return cut_files(folder, ".json", last, err) && cut_files(folder, ".safetensors", last, err);
}

// ---- showing

static double number(const Json *object, const char *key) {
    double number = json_get_number(object, key);
    return isnan(number) ? 0 : number;
}

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
    double objective = number(part, "objective"), bound = number(part, key);
    if (json_get_of(part, key, JSON_NUMBER) != NULL)
        printf("%s %.5f gap %.2g %%", name, bound,
               objective > 0 ? 100 * (objective - bound) / objective : 0.0);
}

// Prints nothing for rules that solve no problem.
static void show_solution(const Json *part) {
    double hidden = number(part, "hidden_seconds");
    if (number(part, "predicted_seconds") <= 0)
        return;
    printf("    objective %.5f", number(part, "objective"));
    show_bound(part, "bound", " bound");
    show_bound(part, "lp_bound", ", LP bound");
    printf("\n    found in %.3g s; predicted %.3g s", number(part, "search_seconds"),
           number(part, "predicted_seconds"));
    if (hidden > 0)
        printf(" hidden %.3g s", hidden);
    printf("\n");
}

static void show(const Json *assignment) {
    printf("assignment requested before epoch %.0f, applied before epoch %.0f, %.3f s%s%s\n",
           number(assignment, "asked"), number(assignment, "taken"), number(assignment, "seconds"),
           json_get_text(assignment, "remark")[0] ? "; " : "",
           SHOWN(json_get_text(assignment, "remark")));
    show_link(json_get(assignment, "link"));
    const Json *parts = json_get_of(assignment, "parts", JSON_ARRAY);
    for (const Json *p = json_first(parts); p != NULL; p = json_next(p)) {
        printf("  layer %.0f %-8s %-7s", number(p, "layer"), SHOWN(json_get_text(p, "direction")),
               SHOWN(json_get_text(p, "by")));
        if (json_get_of(p, "measured_seconds", JSON_NUMBER) != NULL)
            printf(" measured %.3g s;", number(p, "measured_seconds"));
        show_rows(json_get_of(p, "rows", JSON_OBJECT));
        show_solution(p);
    }
}

bool report_show_assignment(const char *path, Error *err) {
    Json *assignment = json_read(path, err);
    if (assignment != NULL && json_type(assignment) == JSON_OBJECT)
        show(assignment);
    else
        error_set(err, EXIT_DATA, "%s: it is not an assignment", path);
    json_free(assignment);
    return err->code == 0;
}

bool report_show_assignments(const char *run_dir, Error *err) {
    char folder[PATH_BYTES], path[PATH_BYTES];
    EpochList list;
    path_join(folder, sizeof folder, run_dir, "assignments");
    bool ok = runfolder_epochs(&list, folder, ".json", err);
    for (int i = 0; i < list.count && ok; i++) {
        assignment_path(path, folder, list.epoch[i], ".json");
        ok = report_show_assignment(path, err);
    }
    memory_free(list.epoch);
    return ok;
}
