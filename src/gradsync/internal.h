// Inside gradsync: the chunks of a sum, and what coding adds to them.
#pragma once

#include "fringe/gradsync.h"

enum { UP, DOWN, WAYS }; // shares to their owners, sums back; as `direction` of random numbers

// Of a chunk in flight. Shares are sent once all are coded; they are added once all have arrived.
typedef enum State {
    SHARES_DOWNLOADED,
    SHARES_FLY,
    SHARES_ARRIVED,
    SUMS_FLY,
    SUMS_ARRIVED,
    SUMMED
} State;

// The unit of slices is a float, or a bucket where there is coding.
typedef struct Chunk {
    State state;
    int coded;               // slices that were coded in this state
    int64_t own_bytes;       // of the coded sum of the own slice
    int64_t begin, end;      // units
    int64_t slice;           // units that a rank owns; the last ranks may own fewer
    DeviceEvent *downloaded; // owned: its shares are on the host
    RingTransfer ring;       // its messages: shares, then sums
} Chunk;

// Where units lie: bucket b holds the floats [bucket[b], bucket[b + 1]).
typedef struct Cut {
    int64_t floats, units;
    int64_t *bucket; // [units + 1] owned; NULL: units are floats
} Cut;

static inline int64_t unit_begin(const Cut *cut, int64_t unit) {
    return cut->bucket == NULL ? unit : cut->bucket[unit];
}

typedef struct Coding Coding;   // NULL: fp32
typedef struct LowRank LowRank; // NULL: all floats travel

struct GradSync {
    const Comm *comm;  // borrowed
    Endpoint endpoint; // of all chunks
    Cut cut;
    int64_t made;           // floats [made, count) are made
    const Backend *backend; // borrowed
    DeviceFloat *gradient;  // borrowed from the first gradsync_made to gradsync_finish
    float *shares;          // its host mirror, which messages are made of
    float *pinned;          // [count] owned: that, where the host may not touch the gradient
    int chunks;
    int flown; // chunks that were sent for this sum: the last ones of the array
    Chunk *chunk;
    float *received; // [size, slice] of every chunk; NULL where there is coding
    Taken *taken;    // owned: the blocks of messages
    uint64_t seed;
    RandomKind random;
    uint32_t epoch;
    int64_t sums;       // that were begun, this one included
    int64_t bytes_sent; // before this sum
    Coding *coding;     // owned
    LowRank *low_rank;  // owned; then there are no chunks
};

// Of a parameter's gradient, or, where name is NULL, of all: one that is not finite ends the job.
static inline void check_gradient(bool finite, const char *name, uint32_t epoch) {
    CHECK(finite, EXIT_DIVERGED,
          "the gradient%s%s is not finite in epoch %u; lower train.lr or set train.clip_norm",
          name == NULL ? "" : " of ", name == NULL ? "" : name, epoch);
}

// The slice of rank r, in units.
static inline int64_t slice_begin(const Chunk *chunk, int r) {
    int64_t begin = chunk->begin + r * chunk->slice;
    return begin < chunk->end ? begin : chunk->end;
}
static inline int64_t slice_units(const Chunk *chunk, int r) {
    return slice_begin(chunk, r + 1) - slice_begin(chunk, r);
}

// ---- chunks.c
enum { SLICE = 8192 }; // least floats of a slice: MPI sends them eagerly, and fewer cost the same
// Chunks that know what they hold.
GradSync sync_of(const Comm *comm, const Backend *backend, const GradForm *form);

// ---- sum.c: functions of gradsync.h, for a sum that has chunks; one of low rank has none
GradSync *sum_new(const Comm *comm, const Backend *backend, const GradForm *form);
void sum_forecast(MemoryForecast *forecast, const Backend *backend, const GradForm *form,
                  const Comm *comm);
void sum_free(GradSync *sync);
void sum_begin(GradSync *sync, uint32_t epoch);
void sum_made(GradSync *sync, DeviceFloat *gradient, int64_t from);
void sum_progress(void *sync);
void sum_finish(GradSync *sync, DeviceFloat *gradient);
int64_t sum_bytes(const GradSync *sync);
// True once the floats [from, count) of this sum are summed.
bool sum_is_over(const GradSync *sync, int64_t from);

// ---- bits.c
typedef struct GradBits GradBits;
struct BitsRule {
    const char *name;
    // The factor of the levels that epoch t (from 0) asks for; NULL: bits stay.
    double (*levels)(const GradBits *bits, int64_t t);
};
enum { GRADIENT_BITS_MOST = 8 };
struct GradBits {
    const BitsRule *rule;
    int64_t epochs, period; // of the training; epochs between two choices
    int64_t first_bits;     // that the user gave
    int64_t bits;           // of the next sums
    double *square;         // [epochs] owned: G_t^2; NULL if bits stay
    double first_loss, loss, first_ratio, ratio;
};
// After epoch `epoch` (from 0), whose `values` values on each rank have this sum and sum of
// squares, over all ranks. The same on all ranks.
void grad_bits_after(GradBits *bits, int64_t epoch, double loss, double sum, double square,
                     double values, int ranks);

// ---- buckets.c
// Parameters. Without spans the whole gradient is one.
int form_spans(const GradForm *form);
GradSpan form_span(const GradForm *form, int i);
int64_t bucket_count(const GradForm *form);
void buckets_fill(int64_t *bucket, const GradForm *form); // [bucket_count + 1]
void bucket_lengths(int32_t *length, const Cut *cut);     // [units]

struct Coding {
    const Backend *cpu;
    CodecOptions options[WAYS];
    int size, rank;
    MessageBox box[WAYS][FLOWS];
    MessageBlock block[WAYS][FLOWS];
    Taken *taken;                 // owned: all blocks of this and of its boxes, but offset and span
    int64_t *offset[WAYS][FLOWS]; // owned
    int32_t *length;              // [units] owned: floats of each bucket
    const int32_t **lengths[WAYS][FLOWS]; // owned: where the lengths of each message begin
    Rows slice;          // [units of the longest slice] owned: of the share or sum at hand
    Rows sum;            // [units of the own slices] owned
    int64_t *id;         // [units] owned: 0, 1, 2, ...
    int32_t *row;        // [units of the longest slice] owned: likewise
    GradMoments *moment; // [chunks, size] owned: of each own share
    GradSpan *span;      // [spans] owned
    int spans;
    GradBits bits;
};

// Messages of a chunk.
static inline int messages_of(const Coding *c, int way, int flow) {
    return way == UP ? c->size - 1 : flow == OUTGOING ? 1 : c->size;
}

static inline float *row_at(const Coding *c, Rows rows, int64_t i) {
    return (float *)host_mirror(c->cpu, rows.at, NULL) + i * rows.stride;
}

// ---- coding_new.c; plan NULL: allocates
void *alloc_anyway(MemoryForecast *forecast, size_t bytes, const char *name); // also to plan
Coding *coding_new(const GradSync *sync, const GradForm *form, MemoryForecast *forecast);
void coding_open(GradSync *sync); // once the chunks are cut
void coding_free(Coding *coding);

// ---- coding.c: what a chunk does besides where there is a compressor
// Codes one slice in the state that the chunk is in; true if it was the last one, so that messages
// can be posted, or the sum is complete.
bool coding_step(GradSync *sync, Chunk *chunk);
void coding_set_incoming(GradSync *sync, Chunk *chunk, int way); // before they are posted

// ---- moments.c: of the own share that goes to `owner`, as it was gathered
void note_moments(Coding *c, int chunk, int owner, Rows rows);
// Before `rows` are coded as message `message`.
void note_memory(Coding *c, int chunk, int owner, int message, Rows rows);
// How much of the squares of gradients travels: 1, or what a memory that both ends hold leaves.
double moments_share(const Coding *c, const GradMoments *moments);

// ---- coding_state.c
void coding_set_bits(Coding *c, int64_t bits);
StateSection coding_section(GradSync *sync);

// ---- low_rank.c: what a GradSync does whose gradient is not summed as it is
LowRank *low_rank_new(const GradSync *sync, const GradForm *form, MemoryForecast *forecast);
void low_rank_free(LowRank *low_rank, const Backend *backend);
void low_rank_begin(GradSync *sync);
void low_rank_progress(void *sync);
void low_rank_finish(GradSync *sync);
int64_t low_rank_bytes(const LowRank *low_rank);
StateSection low_rank_section(LowRank *low_rank);
void low_rank_floats(const GradForm *form, int64_t floats[2]); // of both sums

// ---- factors.c: M [rows, columns] is a span, P [rows, rank] and Q [columns, rank] its factors
typedef struct LowRankSpan {
    const char *name;             // borrowed: of the parameter; NULL without spans
    int64_t begin, rows, columns; // in the gradient
    int64_t at[2];                // where its floats lie in the first sum and in the second
    int64_t error;                // where those lie that it remembers
    bool factored;                // else it travels as it is
    DeviceEvent *downloaded;      // owned: it is on the host
} LowRankSpan;
void factors_left(float *p, const float *m, const float *q, LowRankSpan w, int rank); // P = M Q
// Q = M^T P; scratch [columns * rank]
void factors_right(float *q, const float *m, const float *p, LowRankSpan w, int rank,
                   double *scratch);
void factors_product(float *m, const float *p, const float *q, LowRankSpan w,
                     int rank); // M = P Q^T
// E = M - P Q^T
void factors_rest(float *e, const float *m, const float *p, const float *q, LowRankSpan w,
                  int rank);
// Makes the columns of P orthonormal, or zero where less than 2^-40 of one is left. False: P is not
// finite. scratch [rows * rank]
bool factors_orthonormal(float *p, int64_t rows, int rank, double *scratch);
// Columns of Q whose column of P is not zero.
void factors_keep(float *kept, const float *q, const float *p, LowRankSpan w, int rank);
