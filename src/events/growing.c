// Growing arrays: PROT_NONE addresses become memory from the front. The kernel gives pages when
// they are touched first, so what is usable and never touched takes no memory.
#include "fringe/growing.h"

#include <errno.h>
#include <sys/mman.h>

enum {
    STEP = 4 << 20,  // bytes: how far usable memory runs ahead at least
    SMALL = 16 << 20 // bytes at the beginning that have small pages
};

static size_t reserved_bytes(const Growing *growing) {
    return memory_product(growing->most, growing->item);
}

// Large pages for all but the beginning: reads at random places of a large array then miss fewer
// translations of addresses, and a small one takes no more memory than it needs.
static void advise(const Growing *growing) {
    size_t all = reserved_bytes(growing);
    if (all > SMALL)
        (void)madvise((char *)growing->at + SMALL, all - SMALL, MADV_HUGEPAGE);
}

bool growing_init(Growing *growing, int64_t most, size_t item, const char *what, Error *err) {
    *growing = (Growing){.most = most, .item = item, .what = what};
    void *at = mmap(NULL, reserved_bytes(growing), PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return error_set(err, EXIT_MEMORY,
                         "%s: cannot reserve %.3g GiB of addresses (%s); ulimit -v limits them",
                         what, (double)reserved_bytes(growing) / (1 << 30), strerror(errno));
    growing->at = at;
    advise(growing);
    return true;
}

void growing_clear(Growing *growing) {
    if (growing->at != NULL)
        munmap(growing->at, reserved_bytes(growing));
    *growing = (Growing){0};
}

// An eighth more than asked for, so that steps grow with the array.
void growing_reach_slowly(Growing *growing, int64_t count) {
    assert(count <= growing->most);
    size_t wanted = memory_product(count, growing->item);
    size_t bytes = (wanted + wanted / 8) / STEP * STEP + STEP, all = reserved_bytes(growing);
    bytes = bytes < all ? bytes : all;
    CHECK(mprotect(growing->at, bytes, PROT_READ | PROT_WRITE) == 0, EXIT_MEMORY,
          "no memory for %s (%ld elements): %s", growing->what, count, strerror(errno));
    growing->usable = bytes == all ? growing->most : (int64_t)(bytes / growing->item);
}
