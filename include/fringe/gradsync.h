// gradsync: weight gradients between ranks. Each element is summed over ranks in rank order
// (MPI_Allreduce changes bits with its algorithm, TRAPS 8): slices go to their owners all-to-all,
// are added there, and come back. The backward pass makes the flat gradient from its end to its
// beginning, so finished parts are summed while the rest is computed.
//
// A compressor may turn shares and sums into fewer bytes, or sum two thin factors in the place of a
// matrix. Then all of it runs on the host, by the CPU's operations, whatever backend trains: shares
// are there already when they are sent.
#pragma once

#include "fringe/backend.h"
#include "fringe/base.h"
#include "fringe/wire.h"

enum { RANK_MOST = 8 };

// A parameter in the flat gradient.
typedef struct GradSpan {
    const char *name; // borrowed, outlives the sum
    int64_t begin, rows, columns;
} GradSpan;

// Rules of bits over time, which choose those of the next sums from what past gradients were.
typedef struct BitsRule BitsRule;
extern const Family bits_rule_family;

// What is summed, and how. Zero but for `count`: in fp32.
typedef struct GradForm {
    int64_t count;        // floats of the gradient
    CodecOptions options; // codec NULL: fp32
    int64_t bucket;       // coding looks at rows of so many floats of one parameter, the last row
                          // of which is filled up with zeros; not read without a codec
    bool full_sums;       // only shares are coded; sums come back in fp32
    int rank;             // 1 .. RANK_MOST: of the sums of matrices, without a codec; 0: all floats
    bool remembers;       // with a rank: what a sum leaves out is added to the next gradient
    struct {
        const BitsRule *rule; // NULL: bits stay those of the options
        int64_t first;        // bits until the first choice; what the run shall be as good as
        int64_t period;       // epochs from one choice to the next
        int64_t epochs;       // of the training
    } bits;
    const GradSpan *spans; // [span_count] borrowed: in order, without gaps; read during the call
    int span_count;        // 0: all is one parameter
    uint64_t seed;         // of the random numbers of coding
    RandomKind random;     // how they are made
} GradForm;

typedef struct Compressor {
    const char *name;
    // Fills in the options (the codec and its residuals), or the rank. NULL: floats travel as they
    // are, without headers.
    bool (*configure)(GradForm *form, const Config *config, Error *err);
} Compressor;
extern const Family compressor_family; // of gradients.codec

// Fills in what the config says of it: options, bucket, rank, full_sums, bits and random. False
// with EXIT_CONFIG.
bool gradsync_configure(GradForm *form, const Config *config, Error *err);
// The most that random rounding adds to a sum that is coded, relative to it: the mean of the square
// over the square. 0: nothing is random.
double compressor_noise(const GradForm *form);

typedef struct GradSync GradSync;
// Collective.
GradSync *gradsync_new(const Comm *comm, const Backend *backend, const GradForm *form);
void gradsync_free(GradSync *sync); // collective; not before a sum is finished
CLEARED_POINTER(sync_drop, GradSync, gradsync_free)
// Of this rank: where there is coding, ranks differ. Of `comm` it reads rank and size only.
void gradsync_forecast(MemoryForecast *forecast, const Backend *backend, const GradForm *form,
                       const Comm *comm);
// The epoch of the next sum, before the first gradsync_made: it names messages and random numbers.
// fp32 needs none of it.
void gradsync_begin(GradSync *sync, uint32_t epoch);
// Reports that elements [from, count) of gradient [count] are made on this rank. Until
// gradsync_finish the caller may not read, write or free them. `from` decreases from call to call.
// Never blocks; ranks may report different parts at different times, or nothing.
void gradsync_made(GradSync *sync, DeviceFloat *gradient, int64_t from);
// A Poll function: progresses messages, and codes at most one slice of each chunk; never blocks.
void gradsync_progress(void *sync);
// Completes the sum: gradient [count] = sum over ranks, with the same bits on every rank, whatever
// was reported when. A value that cannot be coded ends the job with the name of its
// parameter (EXIT_DIVERGED). Collective.
void gradsync_finish(GradSync *sync, DeviceFloat *gradient);
// What is known of a gradient, to be added over ranks. Zeros where nobody asks for it.
typedef struct GradMoments {
    double sum, square; // of all values, and of their squares: where a rule chooses bits
    double coded, left; // where there is a memory: squares of the values that were coded, and of
                        // what it left of them; of feedback, of what it added
} GradMoments;
enum { GRADIENT_MOMENTS = sizeof(GradMoments) / sizeof(double) };
// After the sum: of this rank. The same whatever was made when.
GradMoments gradsync_moments(const GradSync *sync);
bool gradsync_measures(const GradSync *sync); // whether any of it is asked for; same on all ranks
// |g - h| / |g| (of feedback |e| / |g|) by the moments, added over ranks. NaN: there is no memory,
// or no gradient.
double gradsync_memory(const GradMoments *moments);
// Chooses bits after epoch `epoch` (from 1) by its loss and the moments, added over ranks. The same
// on all ranks.
void gradsync_after(GradSync *sync, int64_t epoch, double loss, const GradMoments *moments);
int64_t gradsync_bits(const GradSync *sync);  // of the next sum; 0: no rule chooses them
int64_t gradsync_bytes(const GradSync *sync); // sent by this rank: per sum; coded: in the last one
int64_t gradsync_bytes_of(int64_t count, int size, int rank); // fp32: by rank `rank` of `size`
// By all ranks, in a sum that is no refresh and has the bits of the options: exact, or at most if
// the codec varies. Local; for plans.
int64_t gradsync_bytes_most_of(const GradForm *form, int size);
// What residuals remember, for checkpoints. NULL name: nothing.
StateSection gradsync_section(GradSync *sync);
