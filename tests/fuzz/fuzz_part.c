// The reader of partition files: parts of 0 to 3 for as many rows as the length of the text says.

#include "fuzz.h"

#include "partition/internal.h"

FUZZER {
    enum { PARTS = 4 };
    int64_t rows = (int64_t)count / 2;
    int32_t *part = malloc((size_t)rows * sizeof *part);
    bool ok = part_file_parse(part, rows, count % 2 ? HYPEREDGES : NODES, PARTS, "fuzz",
                              (const char *)bytes, count, &err);
    fuzz_verdict(ok, &err);
    for (int64_t i = 0; ok && i < rows; i++)
        FUZZ_CHECK(part[i] >= 0 && part[i] < PARTS);
    free(part);
}
