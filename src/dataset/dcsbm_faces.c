// Which blocks of a block model have edges to each other, and to how many of them a node has.
//
// A block faces up to DCSBM_FACES others. By default these lie at fixed distances, and a carrier
// has edges to one of them. If a multiplicity is wanted, they are chosen by chance, and a carrier
// has edges to as many of them, s, as it takes. METIS keeps blocks together, somewhat more of those
// that face each other than chance would: a block that a node faces is taken to lie in the node's
// own of P parts with probability 3 / (2 P), and in each of the others alike, with probability o.
// With e edges in the mean a node has one to a certain block with probability h = 1 - exp(-e / s).
// So
//
//   (P - 1) (1 - (1 - h o)^s)        parts read its row in the mean,
//   1 - (1 - h o (P - 1))^s          is the chance that any does,
//
// and the multiplicity is the sum of the first over all carriers by the sum of the second.

#include "dcsbm.h"

// ---- how many blocks a carrier faces

// Adds for one node that faces s blocks: the parts that read it, and the chance that any does.
static void add_readers(double sum[2], double edges, int s, double parts, double part) {
    double own = 1.5 / parts, other = (1 - own) / (parts - 1);
    double has = -expm1(-edges / s);
    sum[0] += part * (parts - 1) * (1 - pow(1 - has * other, s));
    sum[1] += part * (1 - pow(1 - has * (1 - own), s));
}

// What METIS parts are expected to have if carriers face s blocks in the mean: s below and above.
static double multiplicity_of(const BlockModel *m, double s) {
    enum { SAMPLE = 2048 };
    double foreign = (1 - m->recipe->homophily) * (double)m->recipe->edges;
    double mean = foreign / ((double)m->recipe->nodes * m->carriers), sum[2] = {0};
    int below = (int)s;
    for (int64_t i = 0; i < m->recipe->nodes && i < SAMPLE && m->carriers > 0; i++) {
        add_readers(sum, mean * m->weight[i], below, (double)m->parts, 1 - (s - below));
        add_readers(sum, mean * m->weight[i], below + 1, (double)m->parts, s - below);
    }
    return sum[1] > 0 ? sum[0] / sum[1] : 0;
}

// The blocks that a carrier faces in the mean; 0: no number of them is enough.
static double blocks_of_carrier(const BlockModel *m, double most) {
    enum { BISECTIONS = 20 };
    double low = 1, high = most;
    if (multiplicity_of(m, most) < m->recipe->multiplicity - 1e-9)
        return 0;
    for (int step = 0; step < BISECTIONS; step++) {
        double middle = (low + high) / 2;
        *(multiplicity_of(m, middle) < m->recipe->multiplicity ? &low : &high) = middle;
    }
    return low;
}

static bool choose_blocks(const BlockModel *m, double *s, Error *err) {
    double most = fmin(DCSBM_FACES, (double)(m->blocks - 1));
    *s = m->recipe->multiplicity > 0 ? blocks_of_carrier(m, most) : 1;
    return *s > 0 ||
           error_config(err,
                        "%s: a row cannot be read by %g other parts of %ld in the mean, but by "
                        "%.2f; take a lower multiplicity, more edges, more parts or less homophily",
                        m->recipe->name, m->recipe->multiplicity, m->parts,
                        multiplicity_of(m, most));
}

// ---- which blocks face each other

// As many as leave room for the edges between two blocks: half of their pairs.
static int faces_of(const BlockModel *m, double s) {
    double carriers = (double)m->recipe->nodes * m->carriers * s;
    double foreign = (1 - m->recipe->homophily) * (double)m->recipe->edges + 1;
    double ways = carriers * carriers / (4 * (double)m->blocks * foreign);
    return 2 * (int)fmax(ceil(s / 2), fmin(DCSBM_FACES / 2, ways));
}

// Faces 2 j and 2 j + 1 lie the same way before and behind the block.
static void face_along_ways(const BlockModel *m) {
    static const int64_t ways[DCSBM_FACES / 2] = {1, 11, 29, 5, 47, 19, 71, 37};
    for (int64_t i = 0; i < m->blocks; i++)
        for (int face = 0; face < m->faces; face++) {
            int64_t way = ways[face / 2] % m->blocks;
            int64_t other = i + (face % 2 == 0 ? way : m->blocks - way);
            m->faced[i * m->faces + face] = (int32_t)(other % m->blocks);
        }
}

static void shuffle(int32_t *order, int64_t count, RandomKey key, int which) {
    for (int64_t i = 0; i < count; i++) {
        int64_t k = (int64_t)(random_uniform32(key, i, 0, which) * (double)(i + 1));
        order[i] = order[k];
        order[k] = (int32_t)i;
    }
}

// Face 2 j leads to the next block in an order by chance, and face 2 j + 1 to the one before.
static void face_by_chance(const BlockModel *m) {
    FREED int32_t *order = ALLOC(int32_t, m->blocks, "orders of blocks");
    for (int face = 0; face < m->faces; face += 2) {
        shuffle(order, m->blocks, draw_key(m->seed, DRAW_FACE), face);
        for (int64_t i = 0; i < m->blocks; i++) {
            int32_t here = order[i], next = order[(i + 1) % m->blocks];
            m->faced[here * m->faces + face] = next;
            m->faced[next * m->faces + face + 1] = here;
        }
    }
}

// ---- which of them a node faces

// So many of a block's faces, all sets of as many equally likely.
static uint16_t draw_faces(const BlockModel *m, int64_t node, int count) {
    unsigned set = 0;
    for (int k = 0; k < count && k < m->faces; k++) {
        int nth = (int)(dcsbm_uniform(m->seed, node, NODE_FACE + k) * (m->faces - k)), face = 0;
        for (; (set >> face & 1) != 0 || nth > 0; face++)
            nth -= (set >> face & 1) == 0;
        set |= 1U << face;
    }
    return (uint16_t)set;
}

static void draw_nodes(const BlockModel *m, double s) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < m->recipe->nodes; i++) {
        bool carries = dcsbm_uniform(m->seed, i, NODE_CARRIES) < m->carriers;
        int count = (int)(s + (s > 1 ? dcsbm_uniform(m->seed, i, NODE_FACES) : 0));
        m->facing[i] = carries ? draw_faces(m, i, count) : 0;
    }
}

bool dcsbm_faces(BlockModel *m, Error *err) {
    double s;
    m->facing = TRY(uint16_t, m->recipe->nodes, "blocks that nodes face", err);
    if (m->facing == NULL || !choose_blocks(m, &s, err))
        return false;
    m->faces = faces_of(m, s);
    m->faced = ALLOC(int32_t, m->blocks * m->faces, "blocks that blocks face");
    (m->recipe->multiplicity > 0 ? face_by_chance : face_along_ways)(m);
    draw_nodes(m, s);
    return true;
}

void dcsbm_faces_clear(BlockModel *m) { MEMORY_FREE(m->facing, m->faced); }
