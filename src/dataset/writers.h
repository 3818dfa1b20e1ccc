// Inside the dataset room: the formats that datasets are written in, and what their writers share.
#pragma once

#include "internal.h"

typedef struct Writing { // one conversion
    const Dataset *dataset;
    const Conversion *to;
    const char *path;  // to->path without slashes at its end
    Warnings *remarks; // on what the format cannot hold
} Writing;

typedef struct FormatWriter {
    const char *name;
    const char *endings; // of its files; NULL: it is a folder
    // False with a sentence about what must be mended if the format cannot hold the dataset; adds a
    // remark on what it leaves out.
    bool (*fits)(const Writing *writing, Error *err);
    // Writes it under a temporary name, flushes it and moves it to its place. Nothing is left of a
    // failure.
    bool (*write)(const Writing *writing, Error *err);
    // Of a folder: true if the one at `path` may be replaced.
    bool (*may_replace)(const char *path, Error *err);
} FormatWriter;
extern const FormatWriter writer_npz, writer_metis, writer_ogb;

// Remarks on features, labels and splits, as far as there are any, which the format leaves out.
void remark_nodes_left_out(const Writing *writing);
// Remarks if readers, who count the classes by the largest label, will find fewer of them.
void remark_classes(const Writing *writing);

// ---- decimals.c: numbers as text; each returns the end of what it puts
enum { DECIMAL_INT = 20, DECIMAL_FLOAT = 18 }; // bytes at most
char *put_int(char *out, int64_t value);
// The fewest digits that strtof reads as the same float; whole numbers end in ".0".
char *put_float(char *out, float value);
// The same without ".0": the weights of METIS are whole numbers.
char *put_weight(char *out, float value);

// ---- text_write.c: text made of pieces, by several threads, maybe compressed with gzip. The file
// depends on the pieces alone. Takes at most 40 MiB.
typedef struct TextPieces {
    int64_t count;
    size_t most; // bytes of a piece, at most
    // Puts the pieces `begin` to `end` and returns the end of what it put. Called by several
    // threads.
    char *(*put)(const void *context, int64_t begin, int64_t end, char *out);
    const void *context; // borrowed
} TextPieces;
typedef struct TextFile {
    FileWriter file;
    bool packed;         // with gzip
    int64_t done, total; // pieces of the whole file, for the activity's line; total 0: unknown
} TextFile;
// The row of a piece, where a row has `more` pieces than entries: the last one that does not begin
// after it.
int64_t row_of_piece(const int64_t *offset, int64_t rows, int64_t more, int64_t piece);
// Appends the pieces to the open file.
bool text_put(TextFile *text, const TextPieces *pieces, Error *err);
bool text_put_line(TextFile *text, const char *line, Error *err); // "12 3\n"

// ---- npz_arrays.c: the arrays of a dataset as members of an npz, made piece by piece
typedef struct ArraySource ArraySource;
// Makes the elements from `first` on, which ascend from call to call.
typedef void MakeElements(ArraySource *source, int64_t first, int64_t count, void *out);
struct ArraySource { // of one of them
    MakeElements *make;
    const Dataset *dataset; // borrowed
    size_t item;            // bytes of an element
    const void *from;       // of arrays that are copied: their elements; borrowed
    int64_t shape[2];       // of a matrix whose shape it is
    uint8_t split;          // of the lists of nodes
    int64_t at, row, sum;   // where the next elements are
};
typedef struct DatasetArrays {
    const Dataset *dataset; // borrowed
    bool packed;
    int count;
    NpzOut out[NPZ_OUT];         // [count] whose contexts are
    ArraySource source[NPZ_OUT]; // these, so that the struct stays where it is
} DatasetArrays;
// Lists the arrays of arrays->dataset.
void npz_arrays(DatasetArrays *arrays);
