// checkpoint.json: what a checkpoint stores besides its tensors, and the hashes that show damage.
// Writing and reading are in one file, so that a new member is added to both.
//
//   {"format": "fringe-checkpoint", "version": 2,
//    "config": {"model": {...}, "train": {...}, ...}, "data": HASH,
//    "parts": {"count": P, "hash": HASH}, "seed": S, "weights": null | {"path": P, "hash": HASH},
//    "epoch": N, "best_epoch": ..., "stale_evaluations": ..., "best_score": ...,
//    "best_metrics": [4], "last_metrics": [4],
//    "average_metrics": [4], only with train.average,
//    "plateau": {"factor": ..., "best": ..., "bad": ...}, only with train.lr_schedule=plateau,
//    "backend": {"name": NAME, "spmm": null | KERNEL, "bf16_sums": null | ORDER},
//    "files": [{"name": "model.safetensors", "hash": HASH}, ...],
//    "checksum": HASH}
//
// The checksum is the hash (XXH3, 128 bits) of the whole text with the checksum's own 32 digits
// written as zeros, so that a change of any bit is detected. All versions have it.
#include "internal.h"

enum { CHECKPOINT_VERSION = 2, MANIFEST_BYTES = 1 << 20, DIGITS = 32 };
const char checkpoint_manifest[] = "checkpoint.json";

char *checkpoint_file(char out[PATH_BYTES], const char *folder, const char *section) {
    char name[CHECKPOINT_NAME];
    snprintf(name, sizeof name, "%s.safetensors", section);
    return path_join(out, PATH_BYTES, folder, name);
}

// ---- the checksum

// The digits of the last checksum in the text, NULL if there is none.
static char *checksum_of(char *text, size_t bytes) {
    static const char key[] = "\"checksum\": \"";
    char *last = NULL;
    for (char *at = text; (at = strstr(at, key)) != NULL; at += strlen(key))
        last = at + strlen(key);
    return last != NULL && (size_t)(text + bytes - last) >= DIGITS ? last : NULL;
}

bool checkpoint_seal(char *text, size_t bytes) {
    char found[DIGITS], hash[DIGITS + 1], *digits = checksum_of(text, bytes);
    if (digits == NULL)
        return false;
    memcpy(found, digits, DIGITS);
    memset(digits, '0', DIGITS);
    hash_bytes_text(text, bytes, hash);
    memcpy(digits, hash, DIGITS);
    return memcmp(found, hash, DIGITS) == 0;
}

// ---- writing

static void put_metrics(JsonWriter *w, const char *key, const Metrics metrics[4]) {
    JSON_PUT_ARRAY(w, key)
        for (int s = 0; s < 4; s++)
            JSON_PUT_OBJECT(w, NULL) {
                for (int k = 0; k < metrics[s].count; k++)
                    json_put_double(w, score_row(metrics[s].score[k].of)->key,
                                    metrics[s].score[k].value);
                json_put_int(w, "rows", metrics[s].rows);
            }
}

static void put_counters(JsonWriter *w, const TrainerCounters *counters) {
    JSON_PUT(w, PAIR("epoch", counters->epoch), PAIR("best_epoch", counters->best_epoch),
             PAIR("stale_evaluations", counters->stale_evaluations),
             PAIR("best_score", counters->best_score));
    put_metrics(w, "best_metrics", counters->best_metrics);
    put_metrics(w, "last_metrics", counters->last_metrics);
    if (counters->average_metrics[SPLIT_VAL].count > 0)
        put_metrics(w, "average_metrics", counters->average_metrics);
    if (counters->plateau.factor > 0)
        JSON_PUT_OBJECT(w, "plateau")
            JSON_PUT(w, PAIR("factor", counters->plateau.factor),
                     PAIR("best", counters->plateau.best), PAIR("bad", counters->plateau.bad));
    JSON_PUT_OBJECT(w, "backend")
        JSON_PUT(w, PAIR("name", counters->kernels.backend),
                 PAIR("spmm", counters->kernels.spmm[0] != 0 ? counters->kernels.spmm : NULL),
                 PAIR("bf16_sums", counters->kernels.sums[0] != 0 ? counters->kernels.sums : NULL));
}

static void put_files(JsonWriter *w, const StateSections *sections, const char *folder,
                      Error *err) {
    JSON_PUT_ARRAY(w, "files")
        for (int i = 0; i < sections->count; i++) {
            char hash[33];
            const char *path = CHECKPOINT_FILE(folder, sections->section[i].name);
            if (!hash_file(path, hash, err))
                break;
            JSON_PUT_OBJECT(w, NULL)
                JSON_PUT(w, PAIR("name", path_name(path)), PAIR("hash", hash));
        }
}

bool checkpoint_manifest_write(const Training *t, const char *folder, Error *err) {
    TrainerCounters counters = trainer_counters(t->trainer);
    JsonWriter w;
    const char *path = PATH_IN(folder, checkpoint_manifest);
    json_writer_begin(&w, true);
    JSON_PUT(&w, PAIR("format", "fringe-checkpoint"), PAIR("version", CHECKPOINT_VERSION));
    identity_put(&w, t);
    put_counters(&w, &counters);
    put_files(&w, trainer_sections(t->trainer), folder, err);
    json_put_string(&w, "checksum", "00000000000000000000000000000000");
    json_end_object(&w);
    checkpoint_seal(w.text, w.bytes);
    return json_writer_store(&w, path, err);
}

// ---- reading counters

// null stands for a number that is not finite.
static bool read_number(const Json *object, const char *key, double *out) {
    const Json *number = json_get(object, key);
    if (number == NULL || (json_type(number) != JSON_NUMBER && json_type(number) != JSON_NULL))
        return false;
    *out = json_type(number) == JSON_NULL ? NAN : json_number(number);
    return true;
}

// What is no score is passed over.
static bool read_split(const Json *split, Metrics *metrics) {
    *metrics = (Metrics){0};
    for (const Json *at = json_first(split); at != NULL; at = json_next(at)) {
        const Score *score = score_find(json_key(at));
        if (score == NULL)
            continue;
        if (metrics->count == SCORES_MOST ||
            !read_number(split, score->key, &metrics->score[metrics->count].value))
            return false;
        metrics->score[metrics->count++].of = score_row_of(score);
    }
    return metrics->count > 0 && json_get_int(split, "rows", &metrics->rows);
}

static bool read_metrics(const Json *document, const char *key, Metrics metrics[4]) {
    const Json *list = json_get_of(document, key, JSON_ARRAY);
    if (list == NULL || json_size(list) != 4)
        return false;
    int s = 0;
    for (const Json *m = json_first(list); m != NULL; m = json_next(m))
        if (json_type(m) != JSON_OBJECT || !read_split(m, &metrics[s++]))
            return false;
    return true;
}

void checkpoint_read_kernels(KernelChoice *choice, const Json *document) {
    const Json *backend = json_get_of(document, "backend", JSON_OBJECT);
    *choice = (KernelChoice){0};
    snprintf(choice->backend, CONFIG_WORD, "%s", json_get_text(backend, "name"));
    snprintf(choice->spmm, CONFIG_WORD, "%s", json_get_text(backend, "spmm"));
    snprintf(choice->sums, CONFIG_WORD, "%s", json_get_text(backend, "bf16_sums"));
    const Json *run = json_get_of(json_get_of(document, "config", JSON_OBJECT), "run", JSON_OBJECT);
    snprintf(choice->precision, CONFIG_WORD, "%s", json_get_text(run, "precision"));
}

// Of train.lr_schedule=plateau; the other schedules have none.
static bool read_plateau(const Json *document, Plateau *plateau) {
    const Json *at = json_get_of(document, "plateau", JSON_OBJECT);
    *plateau = (Plateau){.best = NAN};
    return at == NULL ||
           (read_number(at, "factor", &plateau->factor) &&
            read_number(at, "best", &plateau->best) && json_get_int(at, "bad", &plateau->bad));
}

// Of train.average; without it there are none.
static bool read_average(const Json *document, Metrics metrics[4]) {
    memset(metrics, 0, 4 * sizeof *metrics);
    return json_get(document, "average_metrics") == NULL ||
           read_metrics(document, "average_metrics", metrics);
}

static bool read_counters(const Json *document, TrainerCounters *counters) {
    return json_get_int(document, "epoch", &counters->epoch) &&
           json_get_int(document, "best_epoch", &counters->best_epoch) &&
           json_get_int(document, "stale_evaluations", &counters->stale_evaluations) &&
           read_number(document, "best_score", &counters->best_score) &&
           read_metrics(document, "best_metrics", counters->best_metrics) &&
           read_metrics(document, "last_metrics", counters->last_metrics) &&
           read_average(document, counters->average_metrics) &&
           read_plateau(document, &counters->plateau);
}

// ---- checks of the values

// Shares are from 0 to 1, or NaN if not measured.
static bool metrics_fit(const Metrics metrics[4]) {
    for (int s = 0; s < 4; s++)
        for (int k = 0; k < metrics[s].count; k++) {
            double share =
                score_row(metrics[s].score[k].of)->percent ? metrics[s].score[k].value : NAN;
            if (metrics[s].rows < 0 || share < 0 || share > 1)
                return false;
        }
    return true;
}

// The best score is one of its validation, whose first is the loss.
static bool score_fits(const TrainerCounters *counters) {
    const Metrics *best = &counters->best_metrics[SPLIT_VAL];
    double score = counters->best_score;
    if (counters->best_epoch == 0)
        return score == -1;
    for (int k = 1; best->rows > 0 && k < best->count; k++)
        if (score == best->score[k].value)
            return true;
    return false;
}

static bool plateau_fits(const Plateau *plateau, int64_t epoch) {
    return plateau->factor >= 0 && plateau->factor <= 1 && plateau->bad >= 0 &&
           plateau->bad <= epoch;
}

// The first member with an impossible value, NULL if all are possible. There is at most one
// evaluation per epoch.
static const char *misfit(const TrainerCounters *counters, const char *folder) {
    int64_t named = runfolder_epoch_of(path_name(folder), ""), epoch = counters->epoch;
    int64_t best = counters->best_epoch, stale = counters->stale_evaluations;
    return epoch < 0 || (named >= 0 && named != epoch) ? "epoch"
           : best < 0 || best > epoch                  ? "best_epoch"
           : stale < 0 || stale > epoch - best         ? "stale_evaluations"
           : !metrics_fit(counters->best_metrics)      ? "best_metrics"
           : !metrics_fit(counters->last_metrics)      ? "last_metrics"
           : !metrics_fit(counters->average_metrics)   ? "average_metrics"
           : !score_fits(counters)                     ? "best_score"
           : !plateau_fits(&counters->plateau, epoch)  ? "plateau"
                                                       : NULL;
}

// ---- reading the list of files

static bool is_hash(const char *text) {
    return strlen(text) == DIGITS && strspn(text, "0123456789abcdef") == DIGITS;
}

static bool take_file(Manifest *m, const char *folder, const char *name, const char *said,
                      Error *err) {
    if (name[0] == 0 || name[0] == '.' || strlen(name) > 100 || strchr(name, '/') != NULL ||
        !is_hash(said))
        return error_data(err, "%s/checkpoint.json: an entry of 'files' is not a file name",
                          folder);
    snprintf(m->hash[m->files], sizeof m->hash[0], "%s", said);
    snprintf(m->file[m->files++], CHECKPOINT_NAME, "%s", name);
    return true;
}

bool checkpoint_manifest_needs(const Manifest *m, const char *folder, const char *section,
                               Error *err) {
    const char *file = CHECKPOINT_FILE("", section);
    for (int i = 0; i < m->files; i++)
        if (strcmp(m->file[i], file) == 0)
            return true;
    return error_data(err, "%s/checkpoint.json: 'files' does not list %s", folder, file);
}

static bool take_files(Manifest *m, const char *folder, Error *err) {
    const Json *files = json_get_of(m->document, "files", JSON_ARRAY);
    if (files == NULL || json_size(files) > CHECKPOINT_FILES)
        return error_data(err, "%s/checkpoint.json: 'files' is not a list", folder);
    for (const Json *f = json_first(files); f != NULL; f = json_next(f))
        if (!take_file(m, folder, json_get_text(f, "name"), json_get_text(f, "hash"), err))
            return false;
    return true;
}

// ---- reading it

// Reports a newer version only if its checksum is right; else the file is damaged.
static bool check_version(Manifest *m, char *text, size_t bytes, const char *path, Error *err) {
    int64_t version;
    if (strcmp(json_get_text(m->document, "format"), "fringe-checkpoint") != 0 ||
        !json_get_int(m->document, "version", &version) || version < CHECKPOINT_VERSION)
        return error_data(err, "%s: not a checkpoint manifest", path);
    if (!checkpoint_seal(text, bytes))
        return error_data(err, "%s: its checksum is not that of its text; the file is damaged",
                          path);
    if (version > CHECKPOINT_VERSION)
        return error_config(err,
                            "%s: version %ld is of a newer fringe, this one reads version %d; "
                            "continue with the newer one",
                            path, version, CHECKPOINT_VERSION);
    return true;
}

static bool read_members(Manifest *m, const char *folder, const char *path, Error *err) {
    checkpoint_read_kernels(&m->counters.kernels, m->document);
    if (!read_counters(m->document, &m->counters) || !identity_read(&m->identity, m->document))
        return error_data(err, "%s: not a checkpoint manifest of version %d", path,
                          CHECKPOINT_VERSION);
    const char *wrong = misfit(&m->counters, folder);
    return wrong == NULL ||
           error_data(err, "%s: '%s' is not what a checkpoint of %s can hold; the file is damaged",
                      path, wrong, path_name(folder));
}

bool checkpoint_manifest_parse(Manifest *m, char *text, size_t bytes, const char *folder,
                               Error *err) {
    *m = (Manifest){0};
    const char *path = PATH_IN(folder, checkpoint_manifest);
    m->document = json_parse(text, bytes, path, err);
    bool ok = m->document != NULL && check_version(m, text, bytes, path, err) &&
              read_members(m, folder, path, err) && take_files(m, folder, err);
    if (!ok)
        checkpoint_manifest_clear(m);
    return ok;
}

static bool check_file(const char *folder, const char *name, const char *said, Error *err) {
    char hash[33];
    const char *path = PATH_IN(folder, name);
    if (!hash_file(path, hash, err))
        return false;
    return strcmp(hash, said) == 0 ||
           error_data(err, "%s: its hash is not the one checkpoint.json gives; the file is damaged",
                      path);
}

bool checkpoint_manifest_read(Manifest *m, const char *folder, Error *err) {
    size_t bytes;
    *m = (Manifest){0};
    FREED char *text = file_read(PATH_IN(folder, checkpoint_manifest), MANIFEST_BYTES, &bytes, err);
    bool ok = text != NULL && checkpoint_manifest_parse(m, text, bytes, folder, err);
    for (int i = 0; ok && i < m->files; i++)
        ok = check_file(folder, m->file[i], m->hash[i], err);
    // every checkpoint has weights
    ok = ok && checkpoint_manifest_needs(m, folder, "model", err) &&
         checkpoint_manifest_needs(m, folder, "best", err);
    if (!ok)
        checkpoint_manifest_clear(m);
    return ok;
}

void checkpoint_manifest_clear(Manifest *m) {
    json_free(m->document);
    *m = (Manifest){0};
}
