// If this fails, an array of a stream moves, or two of its lists share memory.
#include "support.h"

#include "fringe/growing.h"

TEST(an_array_grows_in_place) {
    Growing array;
    assert_true(growing_init(&array, (int64_t)1 << 33, sizeof(int64_t), "test", &(Error){0}));
    int64_t *at = array.at;
    for (int64_t count = 1; count < (int64_t)1 << 22; count = count * 3 + 1) {
        growing_reach(&array, count);
        assert_ptr_equal(array.at, at);
        assert_true(array.usable >= count);
        for (int64_t i = count / 3; i < count; i++) {
            assert_int_equal(at[i], 0); // new elements
            at[i] = i;
        }
        assert_int_equal(at[count / 2], count / 2);
    }
    growing_clear(&array);
    assert_null(array.at);
}

TEST(addresses_may_run_out) {
    Growing array;
    assert_refused(growing_init(&array, (int64_t)1 << 46, 64, "pins", &err), EXIT_MEMORY, // 4 PiB
                   "pins: cannot reserve");
}

// ---- lists in a pool against plain copies

enum { LISTS = 200, LONGEST = 300 };
typedef struct List {
    uint32_t place;
    int32_t count, copy[LONGEST];
} List;

static int32_t *at(const Pool *pool, const List *list) {
    return (int32_t *)pool->elements.at + list->place;
}

static void assert_lists(const Pool *pool, const List *list) {
    for (int i = 0; i < LISTS; i++)
        assert_memory_equal(at(pool, &list[i]), list[i].copy,
                            (size_t)list[i].count * sizeof(int32_t));
}

TEST(lists_keep_their_elements) {
    Pool pool;
    List *list = calloc(LISTS, sizeof *list);
    RandomKey key = random_key(1, RANDOM_GENERATE, 0, 0, 0);
    int64_t elements = 0, most = 0;
    assert_true(pool_init(&pool, sizeof(int32_t), "test", &(Error){0}));
    for (int64_t n = 0; n < 200000; n++) {
        uint32_t word[4];
        random_block(word, key, n, 0, 0);
        List *one = &list[word[0] % LISTS];
        bool grows = word[1] % 16 < (n / 20000 % 2 == 0 ? 9 : 7); // tides
        if (grows && one->count < LONGEST) {
            one->place = pool_lengthen(&pool, one->place, one->count);
            at(&pool, one)[one->count] = one->copy[one->count] = (int32_t)n;
            one->count++;
            elements++;
        } else if (!grows && one->count > 0) {
            one->place = pool_shorten(&pool, one->place, one->count--);
            elements--;
        }
        most = elements > most ? elements : most;
        if (n % 1000 == 0)
            assert_lists(&pool, list);
    }
    assert_lists(&pool, list);
    assert_true(most > 1000);
    assert_true(pool.used < 3 * most); // blocks that lists have left are used again
    pool_clear(&pool);
    free(list);
}
