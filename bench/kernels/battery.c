// The random numbers of dropout and rounding as endless bytes, for batteries of tests (battery.py):
// one word of the counter (base/random.h) runs as it does in a training, and what it leaves alone
// follows when it has gone round.
//
// bench_battery column|row|peer|epoch|layer ROUNDS: columns of a row of 256, then the next row; the
// first 8 columns of one row after the other; of 8 readers, of 200 epochs, of 8 layers in both
// directions.
//
// Numbers of 8 bits are the same bytes as numbers of 16.
#include "fringe/base.h"

enum { BLOCKS = 4096 };

typedef struct Axis {
    const char *name;
    uint32_t count; // of the word that runs, before the row moves on
} Axis;
static const Axis axes[] = {{"column", 32}, {"row", 1}, {"peer", 8}, {"epoch", 200}, {"layer", 16}};

static const Axis *axis_of(const char *name) {
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++)
        if (strcmp(axes[i].name, name) == 0)
            return &axes[i];
    return NULL;
}

static void block_of(uint32_t out[4], const Axis *axis, uint64_t at, RandomKind kind) {
    uint32_t step = (uint32_t)(at % axis->count);
    int64_t row = (int64_t)(at / axis->count);
    bool layer = strcmp(axis->name, "layer") == 0;
    uint32_t epoch = strcmp(axis->name, "epoch") == 0 ? step : 7;
    RandomKey key =
        random_key(0, RANDOM_ROUNDING, epoch, layer ? (int)step / 2 : 1, layer ? (int)step % 2 : 0);
    random_block(out, random_of_kind(key, kind), row,
                 strcmp(axis->name, "peer") == 0 ? (int)step : 1,
                 strcmp(axis->name, "column") == 0 ? step : 0);
}

int main(int argc, char **argv) {
    const Axis *axis = argc == 3 ? axis_of(argv[1]) : NULL;
    int rounds = argc == 3 ? atoi(argv[2]) : 0;
    if (axis == NULL || (rounds != 7 && rounds != 10)) {
        fprintf(stderr, "usage: %s column|row|peer|epoch|layer 7|10\n", argv[0]);
        return EXIT_USAGE;
    }
    static uint32_t out[BLOCKS][4];
    RandomKind kind = {.seven = rounds == 7};
    for (uint64_t at = 0;; at += BLOCKS) {
        for (uint64_t i = 0; i < BLOCKS; i++)
            block_of(out[i], axis, at + i, kind);
        if (fwrite(out, sizeof out, 1, stdout) != 1) // whoever reads has seen enough
            return 0;
    }
}
