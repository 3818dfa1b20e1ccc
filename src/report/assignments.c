// Files of assignments. <run.dir>/assignments/epoch-N.json says how the bit widths used from epoch
// N on were found, and what was predicted and measured; epoch-N.safetensors beside it holds the bit
// widths themselves, for quantization.assign=replay:RUN.

#include "internal.h"

#include "fringe/runfolder.h"

static void assignment_path(char out[PATH_BYTES], const char *folder, int64_t epoch,
                            const char *ending) {
    char name[RUNFOLDER_NAME];
    path_join(out, PATH_BYTES, folder, runfolder_epoch_name(name, epoch, ending));
}

static void put_part(JsonWriter *w, const AssignmentPart *part) {
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(w, PAIR("layer", part->id.layer),
                 PAIR("direction", direction_name(part->id.direction)), PAIR("by", part->by),
                 PAIR("objective", part->objective), PAIR("bound", part->bound),
                 PAIR("lp_bound", part->lp_bound), PAIR("search_seconds", part->search),
                 PAIR("predicted_seconds", part->predicted), PAIR("hidden_seconds", part->hidden),
                 PAIR("measured_seconds", part->measured));
        JSON_PUT_OBJECT(w, "rows")
            for (int b = 0; b <= WIDTH_MOST; b++) {
                char bits[12];
                snprintf(bits, sizeof bits, "%d", b);
                if (part->rows[b] > 0)
                    json_put_int(w, bits, part->rows[b]);
            }
    }
}

static void put_assignment(JsonWriter *w, const Assignment *a) {
    JSON_PUT_OBJECT(w, NULL) {
        JSON_PUT(w, PAIR("asked", a->requested), PAIR("taken", a->applied),
                 PAIR("seconds", a->seconds));
        JSON_PUT_OBJECT(w, "link") {
            json_put_list(w, "seconds_per_byte", a->byte_seconds, 3);
            json_put_list(w, "seconds_per_message", a->message_seconds, 3);
        }
        if (a->warning[0] != 0)
            json_put_string(w, "remark", a->warning);
        JSON_PUT_ARRAY(w, "parts")
            for (int i = 0; i < a->parts; i++)
                put_part(w, &a->part[i]);
    }
}

typedef struct Assigned {
    Assignment assignment;
    int count;
    Tensor widths[ASSIGNED_CHANNELS]; // owned
} Assigned;

static bool write_assigned(const Report *report, const Assigned *assigned, Error *err) {
    const Assignment *assignment = &assigned->assignment;
    char path[PATH_BYTES];
    JsonWriter w;
    const char *folder = PATH_IN(report->folder, "assignments");
    if (!file_make_folder(folder, err))
        return false;
    assignment_path(path, folder, assignment->applied, ".safetensors");
    if (!tensors_replace(path, assigned->widths, assigned->count, NULL, err))
        return false;
    json_writer_init(&w, true);
    put_assignment(&w, assignment);
    assignment_path(path, folder, assignment->applied, ".json");
    return json_writer_store(&w, path, err);
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
        sink_warn(report->sink, "epoch %ld: %s", assignment->applied, SHOWN(assignment->warning));
    return writer_put(report->writer, store, report, &assigned, sizeof assigned, err);
}

static bool cut_files(const char *folder, const char *ending, int64_t last, Error *err) {
    CLEARED(epoch_list_clear) EpochList list = {0};
    char path[PATH_BYTES];
    bool ok = runfolder_epochs(&list, folder, ending, err);
    for (int i = list.count; ok && i-- > 0 && list.epoch[i] > last;) {
        assignment_path(path, folder, list.epoch[i], ending);
        ok = file_remove(path, err);
    }
    return ok;
}

bool report_cut_assignments(const char *folder, int64_t last, Error *err) {
    file_sweep(folder);
    return cut_files(folder, ".json", last, err) && cut_files(folder, ".safetensors", last, err);
}
