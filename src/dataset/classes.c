// Words of classes become numbers: in ascending order of their bytes, or, if all of them are whole
// numbers, as they are.

#include "roster.h"

// -1 to the most classes there may be, also as 3.0; an empty one is none.
static bool whole_number(const Cell *cell, int64_t *out) {
    static const Table plain = {.separator = ','};
    float value;
    *out = -1;
    if (cell->length == 0)
        return true;
    if (!cell_number(&plain, cell, &value) || value < -1 || value >= (float)DATASET_MAX_CLASSES ||
        value != (float)(int64_t)value)
        return false;
    *out = (int64_t)value;
    return true;
}

static bool take_numbers(Dataset *d, const ClassWords *words, int32_t *label) {
    int64_t largest = -1, number;
    for (int64_t i = 0; i < words->count; i++) {
        Cell cell = cell_of_span(words->text, words->span[i]);
        if (!whole_number(&cell, &number))
            return false;
        label[i] = (int32_t)number;
        largest = number > largest ? number : largest;
    }
    d->classes = largest + 1;
    return true;
}

// The parts of a cell between separators, or the cell itself.
static bool next_part(Cell *rest, Cell *part, bool several) {
    if (rest->length < 0)
        return false;
    const char *end = several ? memchr(rest->at, ';', (size_t)rest->length) : NULL;
    *part = (Cell){rest->at, end != NULL ? end - rest->at : rest->length, false, false};
    rest->length = end != NULL ? rest->length - part->length - 1 : -1;
    rest->at += part->length + 1;
    for (; part->length > 0 && part->at[0] == ' '; part->length--)
        part->at++;
    while (part->length > 0 && part->at[part->length - 1] == ' ')
        part->length--;
    return true;
}

// All words that are not empty, as spans; `where` gets the node of each.
static int64_t list_parts(const ClassWords *words, int64_t *span, int64_t *where) {
    int64_t count = 0;
    Cell part;
    for (int64_t i = 0; i < words->count; i++) {
        Cell rest = cell_of_span(words->text, words->span[i]);
        while (next_part(&rest, &part, words->several)) {
            if (part.length > 0 && span != NULL) {
                span[count] = span_of(part.at - words->text, part.length);
                where[count] = i;
            }
            count += part.length > 0;
        }
    }
    return count;
}

static bool too_many(const ClassWords *words, int64_t classes, int64_t labelled, Error *err) {
    if (words->most == 0 || classes <= 2 || classes <= words->most)
        return false;
    return !error_data(err,
                       "its labels are %ld different words in %ld rows, so they are names rather "
                       "than classes; data.columns={\"label\": ...} says which column holds the "
                       "classes, and data.labels_are=numbers that they are numbers to predict",
                       classes, labelled);
}

void labels_drop(Dataset *dataset) {
    dataset_drop(dataset, &dataset->label);
    dataset_drop(dataset, &dataset->labels);
    dataset_drop(dataset, &dataset->numbers);
    dataset->multilabel = dataset->numeric = false;
}

static bool alloc_labels(Dataset *d, const ClassWords *words, int64_t classes, Error *err) {
    labels_drop(d);
    d->label = words->several ? NULL : TRY(int32_t, words->count, "labels", err);
    d->labels = words->several ? TRY(uint8_t, words->count * classes, "labels", err) : NULL;
    d->multilabel = words->several;
    d->classes = classes;
    for (int64_t i = 0; d->label != NULL && i < words->count; i++)
        d->label[i] = -1;
    return err->code == 0;
}

static bool take_words(Dataset *d, const ClassWords *words, Error *err) {
    int64_t count = list_parts(words, NULL, NULL);
    FREED int64_t *span = TRY(int64_t, count, "words of classes", err);
    FREED int64_t *where = TRY(int64_t, count, "words of classes", err);
    IdColumns columns = {"class", false, 1, {{count, span, words->text}}};
    bool ok = span != NULL && where != NULL && count > 0;
    if (ok)
        list_parts(words, span, where);
    node_ids_clear(&d->names);
    ok = ok && ids_number_text(&columns, &d->names, err) &&
         !too_many(words, d->names.count, count, err) &&
         alloc_labels(d, words, d->names.count, err);
    for (int64_t k = 0; ok && k < count; k++)
        if (words->several)
            d->labels[where[k] * d->classes + span[k]] = 1;
        else
            d->label[where[k]] = (int32_t)span[k];
    return ok || err->code != 0 ? ok : error_data(err, "there is no label in it");
}

static int64_t count_classes(const Dataset *d, const int32_t *label) {
    FREED uint8_t *seen = ALLOC(uint8_t, d->classes + 1, "classes that occur");
    int64_t count = 0;
    for (int64_t i = 0; i < d->nodes; i++)
        if (label[i] >= 0 && !seen[label[i]]) {
            seen[label[i]] = 1;
            count++;
        }
    return count;
}

// Numbers to predict; an empty word is not a number: no label.
static bool take_floats(Dataset *d, const ClassWords *words, Error *err) {
    d->numbers = TRY(float, words->count, "labels", err);
    d->numeric = true;
    d->classes = 1;
    for (int64_t i = 0; err->code == 0 && i < words->count; i++) {
        Cell cell = cell_of_span(words->text, words->span[i]);
        char word[48];
        d->numbers[i] = NAN;
        if (cell.length == 0 || cell_number(words->table, &cell, &d->numbers[i]))
            continue;
        snprintf(word, sizeof word, "%.*s", (int)(cell.length < 40 ? cell.length : 40), cell.at);
        error_data(err,
                   "the label '%s' of row %ld is no number, which data.labels_are=numbers says",
                   SHOWN(word), i + 1);
    }
    return err->code == 0;
}

static bool are_numbers(const ClassWords *words) {
    float number;
    for (int64_t i = 0; words->table != NULL && i < words->count; i++) {
        Cell cell = cell_of_span(words->text, words->span[i]);
        if (cell.length > 0 && !cell_number(words->table, &cell, &number))
            return false;
    }
    return words->table != NULL;
}

bool classes_take(Dataset *d, const ClassWords *words, Error *err) {
    if (words->numbers)
        return take_floats(d, words, err);
    if (words->several)
        return take_words(d, words, err);
    int32_t *label = TRY(int32_t, words->count, "labels", err);
    if (label == NULL)
        return false;
    if (!take_numbers(d, words, label)) {
        memory_free(label);
        return are_numbers(words) ? take_floats(d, words, err) : take_words(d, words, err);
    }
    labels_drop(d);
    d->label = label;
    return d->classes == 0 || !too_many(words, count_classes(d, label), words->count, err);
}
