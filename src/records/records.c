// Reads one run, and finds the runs below a folder.

#include "fringe/records.h"

#include "fringe/dataset.h"
#include "fringe/runfolder.h"

#include <dirent.h>

enum { EPOCHS_MOST = 1000000, LEVELS_MOST = 4 }; // a sweep of comparisons of --runs

// --- members

const Json *record_member(const RunRecord *record, const char *path) {
    const Json *at = record->json;
    char words[256], *rest = words;
    snprintf(words, sizeof words, "%s", path);
    for (char *word; at != NULL && (word = strsep(&rest, ".")) != NULL;)
        at = json_type(at) == JSON_OBJECT ? json_get(at, word) : NULL;
    return at;
}

const char *record_text(const RunRecord *record, const char *path) {
    const Json *value = record_member(record, path);
    return value != NULL && json_type(value) == JSON_STRING ? json_string(value) : NULL;
}

const char *record_look_alike(const RunRecord *record) {
    const char *origin = record_text(record, "data.origin");
    return dataset_look_alike(origin != NULL ? origin : "");
}

double record_number(const RunRecord *record, const char *path) {
    const Json *value = record_member(record, path);
    return value != NULL && json_type(value) == JSON_NUMBER ? json_number(value) : NAN;
}

// --- one run

static int64_t lines_of(const char *path) {
    int64_t bytes, lines = 0;
    CLEARED(stream_drop) FILE *file = file_stream(path, &bytes, &(Error){0});
    if (file == NULL)
        return 0;
    for (int letter; (letter = getc_unlocked(file)) != EOF;)
        lines += letter == '\n';
    return lines < EPOCHS_MOST ? lines : EPOCHS_MOST;
}

static bool is_true(const RunRecord *record, const char *path) {
    const Json *value = record_member(record, path);
    return value != NULL && json_type(value) == JSON_BOOL && json_bool(value);
}

static bool read_epochs(RunRecord *record, Error *err) {
    const char *metric = record_text(record, "config.train.metric");
    record->score = score_shown(metric != NULL ? metric : "",
                                is_true(record, "data.numeric")      ? LABEL_NUMBERS
                                : is_true(record, "data.multilabel") ? LABEL_CLASSES
                                                                     : LABEL_CLASS);
    const char *path = PATH_IN(record->folder, "metrics.jsonl");
    int64_t most = file_exists(path) ? lines_of(path) : 0;
    record->epoch = ALLOC(RecordedEpoch, most + 1, "epochs of a run");
    return most == 0 ||
           record_history(record->folder, record->score, record->epoch, most, &record->epochs, err);
}

static RecordState state_of(const RunRecord *record) {
    if (runfolder_is_locked(record->folder))
        return RECORD_RUNNING;
    return record_member(record, "result") != NULL ? RECORD_FINISHED : RECORD_UNFINISHED;
}

bool record_read(RunRecord *record, const char *folder, Error *err) {
    *record = (RunRecord){0};
    snprintf(record->folder, sizeof record->folder, "%s", folder);
    const char *path = PATH_IN(folder, "run.json");
    record->json = json_read(path, err);
    if (record->json != NULL && json_type(record->json) != JSON_OBJECT)
        error_data(err, "%s: expected an object", path);
    if (err->code == 0 && read_epochs(record, err)) {
        record->state = state_of(record);
        return true;
    }
    record_clear(record);
    return false;
}

void record_clear(RunRecord *record) {
    json_free(record->json);
    memory_free(record->epoch);
    *record = (RunRecord){0};
}

// --- several runs

static void append(RunRecords *records, const RunRecord *record) {
    size_t used = (size_t)records->count * sizeof *record;
    records->run = memory_grown(records->run, used, used + sizeof *record, "runs");
    records->run[records->count++] = *record;
}

static int can_hold_runs(const struct dirent *entry) {
    return entry->d_name[0] != '.' && strcmp(entry->d_name, "checkpoints") != 0;
}

// The number of NAME-N, with NAME in `base`. The folders run-1, run-2, ... of --runs count as
// names.
static int split(char base[256], const char *name) {
    int bytes, number = runfolder_number(name, &bytes);
    bool of_runs = bytes == 3 && strncmp(name, "run-", 4) == 0;
    snprintf(base, 256, "%.*s", of_runs ? 255 : bytes, name);
    return of_runs ? 1 : number;
}

// By name, but of the starts of one name, NAME, NAME-2, NAME-3, ..., the newest first.
static int newest_first(const struct dirent **a, const struct dirent **b) {
    char one[256], other[256];
    int first = split(one, (*a)->d_name), second = split(other, (*b)->d_name);
    int order = strverscmp(one, other);
    return order != 0 ? order : second - first;
}

static void look(RunRecords *records, const char *folder, int level, const Sink *sink) {
    char path[PATH_BYTES];
    struct dirent **entry;
    Error err = {0};
    RunRecord record;
    path_join(path, sizeof path, folder, "run.json");
    if (file_exists(path) && record_read(&record, folder, &err))
        append(records, &record);
    if (err.code != 0)
        sink_warn(sink, "%s", SHOWN(err.text));
    int count = level < LEVELS_MOST ? scandir(folder, &entry, can_hold_runs, newest_first) : 0;
    for (int i = 0; i < count; i++) {
        path_join(path, sizeof path, folder, entry[i]->d_name);
        if (file_is_folder(path))
            look(records, path, level + 1, sink);
        free(entry[i]);
    }
    if (count > 0)
        free(entry);
}

bool records_add(RunRecords *records, const char *folder, const Sink *sink, Error *err) {
    int before = records->count;
    look(records, folder, 0, sink);
    return records->count > before ||
           error_set(err, EXIT_NO_INPUT, "%s: there is no run in it", folder);
}

void records_clear(RunRecords *records) {
    for (int i = 0; i < records->count; i++)
        record_clear(&records->run[i]);
    memory_free(records->run);
    *records = (RunRecords){0};
}
