// The table of all keys of a config, except those that members of families add (members.c): name,
// field of Config, allowed values and help. The loader, `fringe config show`, the JSON schema and
// docs/config.md use this table.

#include "internal.h"

#define AT(field) offsetof(Config, field)
#define ANY NULL

// path, kind, where, default (JSON), range, choices, unit, help
const Key config_own_keys[] = {
    {"mode", KEY_WORD, AT(mode), "\"overlap\"", ANY, ANY, ANY,
     "Preset: the defaults of keys of quantization.*, comm.* and lossless.*; explicit keys "
     "override it."},

    {"data.path", KEY_PATH, AT(data.path), "\"\"", ANY, ANY, ANY,
     "The graph or hypergraph: a file, or a dataset directory of fringe."},
    {"data.format", KEY_WORD, AT(data.format), "\"auto\"", ANY, ANY, ANY,
     "Format of data.path; auto: detected from the file's name or first bytes."},
    {"data.features", KEY_PATH, AT(data.features), "\"\"", ANY, ANY, ANY,
     "Features of a graph whose file has none: .npy [n, F], .csv, or .npz: a matrix of "
     "scipy.sparse.save_npz, attr_... (CSR) or x."},
    {"data.features_as", KEY_WORD, AT(data.features_as), "\"dense\"", ANY, "auto dense sparse", ANY,
     "How features are kept, on disk and in memory. dense: all numbers. sparse: those that are "
     "not 0; the first layer then multiplies before it aggregates, so that other sums round "
     "otherwise. auto: sparse where less than a tenth is not 0."},
    {"data.labels", KEY_PATH, AT(data.labels), "\"\"", ANY, ANY, ANY,
     "Labels in a file beside the graph: .npy, [n] whole numbers or [n, K] 0/1; or .csv."},
    {"data.labels_are", KEY_WORD, AT(data.labels_are), "\"auto\"", ANY,
     "auto classes several numbers", ANY,
     "What labels are. Those [n, K] of 0 and 1, auto: classes, if each row has at most one 1. "
     "numbers: what a regression predicts, [n] or [n, K]; auto: floats that are not whole."},
    {"data.nodes", KEY_PATH, AT(data.nodes), "\"\"", ANY, ANY, ANY,
     "Features, labels and splits beside the graph: an .npz (x, y, train_idx, ...; with ids, "
     "train_ids, ... by id), or a .csv whose header has a column id."},
    {"data.columns", KEY_MAP, AT(data.columns), "{}", ANY,
     "source target weight node hyperedge id label split features", ANY,
     "Which columns of a text file are what, by names or by numbers from 1: {\"source\": \"from\", "
     "\"target\": 2}. Pins have node and hyperedge; data.nodes id, label, split, features."},
    {"data.ids", KEY_WORD, AT(data.ids), "\"auto\"", ANY, "auto number text", ANY,
     "What ids in text files are. auto: numbers if all are, text if none is of digits alone."},
    {"data.hyperedges", KEY_WORD, AT(data.hyperedges), "\"auto\"", ANY, "auto columns rows", ANY,
     "Which side of a Matrix Market file is hyperedges: its entries are then pins. auto: columns "
     "where it is not square, else it is a graph."},
    {"data.weights", KEY_TEXT, AT(data.weights), "\"\"", ANY, ANY, ANY,
     "Weights of edges: an array of the dataset's .npz, or an .npy in the order of the input."},
    {"data.splits", KEY_TEXT, AT(data.splits), "\"\"", ANY, ANY, ANY,
     "The .npz that holds the splits; empty: the dataset itself. Or how to draw them: random:T,V "
     "(shares), per-class:T,V,S (T of each class, V and S of the rest), shchur:T,V. ./random:x is "
     "a path."},
    {"data.split_seed", KEY_INT, AT(data.split_seed), "0", "[0, 4294967295]", ANY, ANY,
     "Seed of splits that are drawn; run.seed and --runs do not change it."},
    {"data.split_keys", KEY_PATHS, AT(data.split_keys),
     "[\"train_idx\", \"val_idx\", \"test_idx\"]", ANY, ANY, ANY,
     "Three arrays of node ids, or masks: training, validation, test. Each is a name in the .npz, "
     "or a .npy file. train_mask, val_mask and test_mask are found without this key."},
    {"data.split_row", KEY_INT, AT(data.split_row), "0", "[0, 1000000]", ANY, ANY,
     "Arrays that hold several splits, [splits, T]: the row to use, from 0."},
    {"data.undirected", KEY_BOOL, AT(data.undirected), "false", ANY, ANY, ANY,
     "Edge lists: each line is an edge in both directions."},
    {"data.transforms", KEY_WORDS, AT(data.transforms), "[]", ANY, ANY, ANY,
     "Preprocessing steps, applied in order."},
    {"data.fitted", KEY_PATH, AT(data.fitted), "\"\"", ANY, ANY, ANY,
     "The fitted.safetensors of a run: standardize and one-hot apply its means, deviations and "
     "values instead of those of this dataset. predict --data sets it."},
    {"data.cache", KEY_TEXT, AT(data.cache), "\"\"", ANY, ANY, ANY,
     "Folder of prepared data and partitions. Empty: $XDG_CACHE_HOME/fringe or ~/.cache/fringe; "
     "without either, /tmp/fringe-cache-UID, which no other user may own or read."},

    {"partition.method", KEY_TEXT, AT(partition.method), "\"metis\"", ANY, ANY, ANY,
     "metis: fewest edges between parts; best and slowest. fennel, fennel:N: one pass or N over "
     "the nodes, for graphs too large for METIS. srp: replays the data as a stream (section "
     "stream). random, blocks: equal sizes. file:PATH: one part number per line. Hyperedges go to "
     "the part with most of their pins (file: or as PATH.hpart.K says); metis:star cuts nodes and "
     "hyperedges at once, for fewest pins between parts."},
    {"partition.seed", KEY_INT, AT(partition.seed), "1", "[0, 4294967295]", ANY, ANY,
     "Seed of the partition; separate from run.seed, so that runs share their parts."},
    {"partition.balance", KEY_WORDS, AT(partition.balance), "[]", ANY, "train edges", ANY,
     "What metis balances besides the number of nodes: train, the training nodes; edges, the "
     "edges, or the pins of a hypergraph, which decide how long a rank computes."},
    {"partition.reorder", KEY_BOOL, AT(partition.reorder), "true", ANY, ANY, ANY,
     "Renumber the rows of a part so that neighbours are close in memory."},

    {"stream.order", KEY_WORD, AT(stream.order), "\"hyperedges\"", ANY, ANY, ANY,
     "How partition.method=srp replays a dataset. hyperedges: each with all of its pins. nodes: "
     "each with its hyperedges, of which only the pins so far are known. full: hyperedges in the "
     "order of their first node. pins: one by one. A node of a graph has a hyperedge of itself "
     "and all that read its row."},
    {"stream.score", KEY_WORD, AT(stream.score), "\"marginal\"", ANY, ANY, ANY,
     "How an arriving hyperedge or node chooses its part. marginal: fewest new replicas, and few "
     "pins. fennel: nodes go where their hyperedges are, hyperedges where most pins are; best "
     "where nodes arrive with hyperedges. thesis: |nodes there and its pins| + pins there. "
     "Baselines: random, balance-big, aweto."},
    {"stream.refine", KEY_WORD, AT(stream.refine), "\"both\"", ANY, "none during after both", ANY,
     "When nodes and hyperedges move to the parts of their neighbours: during, inside a window "
     "that slides along the stream; after, all of them once, for a snapshot."},
    {"stream.window", KEY_INT, AT(stream.window), "4096", "[0, 100000000]", ANY, "nodes",
     "Size of the window; it is refined each time half of it is new. 0: none."},
    {"stream.iterations", KEY_INT, AT(stream.iterations), "10", "[1, 1000]", ANY, "passes",
     "Most passes of a refinement."},
    {"stream.epsilon", KEY_DOUBLE, AT(stream.epsilon), "0.1", "[0, 1000]", ANY, ANY,
     "Share above the mean that a part of a snapshot, or of partition.method=srp, may have in "
     "pins of its hyperedges. Hyperedges above it move away; where that cannot be, a warning "
     "names the share that can."},
    {"stream.capacity", KEY_INT, AT(stream.capacity), "0", "[0, 2147483647]", ANY, "pins",
     "Pins that a part may have instead; 0: as stream.epsilon says."},
    {"stream.votes", KEY_WORD, AT(stream.votes), "\"all\"", ANY, "all window", ANY,
     "Pins that decide the part of a hyperedge: all so far, or only those in the window."},
    {"stream.balance", KEY_WORD, AT(stream.balance), "\"global\"", ANY, "global window", ANY,
     "Pins that make a part less attractive to a node: all, or those of the window's hyperedges."},
    {"stream.passes", KEY_INT, AT(stream.passes), "1", "[1, 1000]", ANY, "passes",
     "The first pass is the stream itself; each further one (restreaming) places everything again "
     "before the refinement of a snapshot."},
    {"stream.strict", KEY_BOOL, AT(stream.strict), "true", ANY, ANY, ANY,
     "Deleting what is not there is an error; false: such events are skipped and counted."},
    {"stream.snapshot_every", KEY_INT, AT(stream.snapshot_every), "0", "[0, 9007199254740991]", ANY,
     "events", "Events between two snapshots of `fringe stream`; 0: only those of the stream."},
    {"stream.checkpoint_every", KEY_INT, AT(stream.checkpoint_every), "0", "[0, 9007199254740991]",
     ANY, "events",
     "Events between two checkpoints of `fringe stream`; 0: only at the end and when stopped."},

#include "model_keys.def"

#include "train_keys.def"

    {"quantization.codec", KEY_WORD, AT(quantization.codec), "\"fp32\"", ANY, ANY, ANY,
     "Encoding of halo rows: fp32 | bf16 | integer (1 to 8 or 16 bits, unbiased stochastic "
     "rounding)."},
    {"quantization.exchanges", KEY_TEXT, AT(quantization.exchanges), "\"all\"", ANY, ANY, ANY,
     "Exchanges of training (one per layer and direction) that use quantization.codec; the others "
     "send fp32. all | measured (those that the first epochs show to take longer with fp32) | "
     "replay:RUN (as in an earlier run)."},
    {"quantization.before", KEY_WORD, AT(quantization.before), "\"post\"", ANY, "post conv", ANY,
     "Which rows training sends for a layer behind model.post. post: those that enter the "
     "convolution. conv: those before model.post, which change little from epoch to epoch; the "
     "reader applies it, with the same dropout mask. Such a layer aggregates before it multiplies "
     "and gets rows of sources alone; where a codec rounds, model.post makes a bias of the order "
     "of the noise squared."},
    {"quantization.assign", KEY_TEXT, AT(quantization.assign), "\"adaptive\"", ANY, ANY, ANY,
     "How codec integer chooses the bit widths of rows: adaptive (solves a problem every "
     "quantization.period epochs) | uniform (quantization.initial_bits) | random | replay:RUN "
     "(the widths of an earlier run)."},
    {"quantization.bits", KEY_INTS, AT(quantization.bits), "[2, 4, 8]", "[1, 16]", ANY, "bits",
     "Bit widths to choose from, ascending: 1 to 8, and 16."},
    {"quantization.initial_bits", KEY_INT, AT(quantization.initial_bits), "8", "[1, 16]", ANY,
     "bits", "Bit width of all rows before the first assignment (quantization.period)."},
    {"quantization.scale_dtype", KEY_WORD, AT(quantization.scale_dtype), "\"bf16\"", ANY,
     "fp32 bf16", ANY, "Type in which the minimum and the step of a row are sent."},
    {"quantization.memory", KEY_WORD, AT(quantization.memory), "\"none\"", ANY,
     "none feedback difference anchor ef21 auto", ANY,
     "What both ends remember of a halo row, at the cost of a copy of the rows at each: "
     "difference (sends the difference from a memory that follows the row: pays where rows change "
     "little from epoch to epoch, so without dropout in front of the exchange) | ef21 (that, "
     "rounded to the nearest value, biased until rows settle) | anchor (the difference from the "
     "last row sent in fp32) | feedback (adds what rounding lost to the next row) | auto "
     "(difference in the exchanges whose rows have changed little, measured every "
     "quantization.period epochs) | none."},
    {"quantization.alpha", KEY_DOUBLE, AT(quantization.alpha), "0", "[0, 1]", ANY, ANY,
     "How far the memory of a row follows what was sent: 1 wholly; 0: by the bits of the row, as "
     "far as converges for rows of normal values."},
    {"quantization.refresh", KEY_INT, AT(quantization.refresh), "50", "[2, 1000000000]", ANY,
     "epochs", "Exchanges from one in fp32 to the next, the first one included."},
    {"quantization.period", KEY_INT, AT(quantization.period), "100", "[1, 1000000000]", ANY,
     "epochs", "Epochs between two assignments, and before the first one."},
    {"quantization.delay", KEY_INT, AT(quantization.delay), "3", "[0, 1000000]", ANY, "epochs",
     "Epochs between starting the solver and applying its solution, at most until the next "
     "assignment; training continues in the meantime."},
    {"quantization.group_size", KEY_INT, AT(quantization.group_size), "100", "[1, 1000000000]", ANY,
     "rows", "Rows that share one bit width; rows of similar sensitivity form a group."},
    {"quantization.lambda", KEY_DOUBLE, AT(quantization.lambda), "0.5", "[0, 1]", ANY, ANY,
     "Weight of the quantization variance against transfer time: 1 minimizes only the variance, "
     "0 only the time."},
    {"quantization.sensitivity", KEY_WORD, AT(quantization.sensitivity), "\"paper\"", ANY,
     "paper safe", ANY,
     "Sensitivity of a row: the sum of its squared edge coefficients (paper) or the square of the "
     "sum of their magnitudes (safe, an upper bound)."},
    {"quantization.time", KEY_WORD, AT(quantization.time), "\"sum\"", ANY, "sum hidden", ANY,
     "Transfer time in the objective: all of it (sum), or only the part that computation does not "
     "hide (hidden)."},
    {"quantization.wait", KEY_WORD, AT(quantization.wait), "\"round\"", ANY, "round sender", ANY,
     "Unit of the time constraint: one ring step (round: pairs in parallel) or one rank (sender: "
     "all its messages in sequence)."},
    {"quantization.link", KEY_DOUBLES, AT(quantization.link), "[]", "[0, 1e9]", ANY, "seconds",
     "Fixed link model for all pairs: seconds per byte (at least 1e-12) and per message; with "
     "quantization.time=hidden also the seconds of an exchange that computation hides. Empty: "
     "measured at each assignment. For reproducible bytes set it, and quantization.solver=exact."},
    {"quantization.solver", KEY_WORD, AT(quantization.solver), "\"glpk\"", ANY, "glpk exact", ANY,
     "exact: the widths of the built-in solver. glpk: where these are not proven optimal, which "
     "is rare, fringe-solver searches for better ones; never with quantization.time=hidden, or "
     "quantization.lambda 0 or 1."},
    {"quantization.solver_limit", KEY_DOUBLE, AT(quantization.solver_limit), "1", "[0.01, 100000]",
     ANY, "seconds", "Time limit of fringe-solver for each problem (one per layer and direction)."},

    {"gradients.method", KEY_WORD, AT(gradients.method), "\"fp32\"", ANY, ANY, ANY,
     "How weight gradients travel to be summed over the ranks: a preset of this section; explicit "
     "keys override it."},
    {"gradients.codec", KEY_WORD, AT(gradients.codec), "\"none\"", ANY, ANY, ANY,
     "Values that a weight gradient may have in a message, chosen for each row (gradients.bucket): "
     "minmax (steps from the least to the greatest) | max, l2 (sign and magnitude, steps to the "
     "greatest magnitude or to the 2-norm) | mean (the mean magnitude, with the sign) | log (a "
     "power of two not below the greatest magnitude, its halves, and 0, with the sign) | keys "
     "(floats that are not 0, with their places; see gradients.top) | sketch (means of quantiles "
     "of a message; where fewer than half of its values are not 0, of those alone, with their "
     "places) | lowrank (two thin factors of a large matrix, all floats of others) | none (fp32)."},
    {"gradients.bits", KEY_INT, AT(gradients.bits), "4", "[1, 16]", ANY, "bits",
     "Bits of a value: 1 to 8, and 16, with codec minmax; 2 to 8 with max and l2; 1 with mean; 3 "
     "to 8 with log, of which more add smaller values and no precision."},
    {"gradients.bucket", KEY_INT, AT(gradients.bucket), "512", "[16, 65536]", ANY, "values",
     "Values of a row, which share a scale; a multiple of 16. No row has values of two parameters. "
     "Fewer add less noise and send more scales."},
    {"gradients.rank", KEY_INT, AT(gradients.rank), "4", "[1, 8]", ANY, ANY,
     "Columns of each of the two factors that travel in the place of a matrix."},
    {"gradients.top", KEY_DOUBLE, AT(gradients.top), "1", "(0, 1]", ANY, ANY,
     "Part of the values of each message that travel, the largest ones; what gradients.memory "
     "remembers of the others travels later."},
    {"gradients.sketch_buckets", KEY_INT, AT(gradients.sketch_buckets), "256", "[2, 256]", ANY, ANY,
     "Most quantiles of a message, half of them for each sign (127, and a code of 0, of 256), and "
     "one for 16 values."},
    {"gradients.sketch_groups", KEY_INT, AT(gradients.sketch_groups), "8", "[1, 128]", ANY, ANY,
     "Groups of a sign's quantiles: of values with places, those of a group have a list and a "
     "MinMaxSketch of their own, by which no value leaves it. More err less and take longer "
     "places."},
    {"gradients.sketch_tables", KEY_INT, AT(gradients.sketch_tables), "2", "[1, 8]", ANY, ANY,
     "Tables of a MinMaxSketch, of which the largest entry of a value counts."},
    {"gradients.sketch_bins", KEY_DOUBLE, AT(gradients.sketch_bins), "0.3", "(0, 4]", ANY, ANY,
     "Entries of a table for each value. Values that share an entry take the smallest quantile."},
    {"gradients.recalibrate", KEY_BOOL, AT(gradients.recalibrate), "true", ANY, ANY, ANY,
     "What stands for a quantile is the mean of the values that MinMaxSketches take for it, so "
     "that their sum is right; false: of those that it has, so that no value grows beyond its "
     "quantile."},
    {"gradients.rounding", KEY_WORD, AT(gradients.rounding), "\"random\"", ANY, "random nearest",
     ANY,
     "random: up or down by chance, so that the mean of a value is unchanged. nearest: to the "
     "nearest step, which is biased."},
    {"gradients.scale_dtype", KEY_WORD, AT(gradients.scale_dtype), "\"bf16\"", ANY, "fp32 bf16",
     ANY, "Type in which the scale of a row is sent."},
    {"gradients.memory", KEY_WORD, AT(gradients.memory), "\"none\"", ANY, ANY, ANY,
     "What is remembered from one sum to the next, at the cost of a copy of the gradient at each "
     "end: feedback (adds what coding lost to the next gradient) | difference (sends the "
     "difference from a memory that follows the gradient) | anchor (the difference from the last "
     "gradient sent in fp32) | none."},
    {"gradients.alpha", KEY_DOUBLE, AT(gradients.alpha), "0", "[0, 1]", ANY, ANY,
     "How far the memory follows what was sent: 1 wholly; 0: as far as converges for sure, 1 / (1 "
     "+ w), where w is the most noise that the codec adds, relative to what it codes."},
    {"gradients.refresh", KEY_INT, AT(gradients.refresh), "50", "[2, 1000000000]", ANY, "epochs",
     "Epochs from one sum in fp32 to the next, the first one included."},
    {"gradients.down", KEY_WORD, AT(gradients.down), "\"same\"", ANY, "same fp32", ANY,
     "How sums come back to the ranks: coded as the gradients that were added (same), or fp32."},
    {"gradients.wire", KEY_WORD, AT(gradients.wire), "\"packed\"", ANY, "packed entropy", ANY,
     "packed: each value takes its bits. entropy: frequent values take fewer, where that is "
     "shorter; for links below some hundred Mbit/s."},
    {"gradients.bits_rule", KEY_WORD, AT(gradients.bits_rule), "\"fixed\"", ANY, ANY, ANY,
     "How bits change over time, from 2 to 8, for an end as good as with gradients.bits in every "
     "epoch: fixed (not at all) | dq (DQ-SGD: by what the noise of an epoch costs at the end) | "
     "rms, adaqs (by the size of gradients, or by their mean over their deviation; DQ-SGD's "
     "baselines)."},
    {"gradients.bits_period", KEY_INT, AT(gradients.bits_period), "50", "[1, 1000000000]", ANY,
     "epochs", "Epochs between two choices, and before the first one."},

    {"lossless.input_features", KEY_WORD, AT(lossless.input_features), "\"auto\"", ANY,
     "exchange auto", ANY,
     "auto: exchanges input features once and computes the first aggregate once; with input "
     "dropout both ranks apply the same mask to cached halo features instead. exchange: every "
     "epoch."},
    {"lossless.order", KEY_WORD, AT(lossless.order), "\"auto\"", ANY,
     "aggregate-first auto transform-first", ANY,
     "auto: a layer multiplies by its weights before it aggregates if that makes rows narrower. "
     "aggregate-first: never. transform-first: layer 0, too, where its features are dropped out, "
     "whose rows are then sent in every epoch."},
    {"lossless.receptive_field", KEY_WORD, AT(lossless.receptive_field), "\"auto\"", ANY,
     "all auto", ANY,
     "auto: training neither computes nor sends rows outside the receptive field of the training "
     "nodes; evaluation uses all rows. all: training, too."},
    {"lossless.cover", KEY_WORD, AT(lossless.cover), "\"min\"", ANY, "sources targets replicas min",
     ANY,
     "What one rank sends to another: rows of sources (sources) | partial aggregates for targets "
     "(targets) | rows of nodes, and partial aggregates of hyperedges (replicas; on a graph the "
     "same as sources) | the fewest of both kinds, a minimum vertex cover (min)."},

    {"comm.schedule", KEY_WORD, AT(comm.schedule), "\"overlap\"", ANY, ANY, ANY,
     "Order of the steps of an exchange: blocking | overlap | central (overlaps with central rows "
     "only, as AdaQP does) | stale (reads the rows of the epoch before, so that a whole epoch "
     "hides messages; of a layer that multiplies before it aggregates, the rows after that) | "
     "skip (blocking, without messages of rows that hardly moved: comm.skip)."},
    {"comm.timeout", KEY_DOUBLE, AT(comm.timeout), "300", "[0.1, 1e9]", ANY, "seconds",
     "Longest wait for a rank; after it, the job reports the rank and ends."},
    {"comm.chunk", KEY_INT, AT(comm.chunk), "65280", "[4096, 1073741824]", ANY, "bytes",
     "Messages are sent in chunks of this size. Over TCP Open MPI sends up to 65280 bytes at "
     "once; larger chunks need a handshake with the receiver, which is slower."},
    {"comm.sample", KEY_DOUBLE, AT(comm.sample), "1", "(0, 1]", ANY, ANY,
     "Probability P that a row of another rank travels in an epoch of training. One that does "
     "counts 1/P, in all layers and on the way back (BNS-GCN). Evaluation is exact. Below 1, "
     "lossless.cover=min is the same as sources."},

    {"program.iterations", KEY_INT, AT(program.iterations), "0", "[0, 1000000]", ANY, ANY,
     "Most iterations; 0: 10 of random-walk, 1,000 of harmonic, 100 of label-propagation."},
    {"program.tolerance", KEY_DOUBLE, AT(program.tolerance), "1e-5", "[5e-6, 1]", ANY, ANY,
     "harmonic ends at this residual, relative to that of zeros; floats cannot reach less than "
     "5e-6."},
    {"program.restart", KEY_DOUBLE, AT(program.restart), "0.15", "[0, 1]", ANY, ANY,
     "random-walk: probability of going back to the start instead of on."},
    {"program.start", KEY_TEXT, AT(program.start), "\"\"", ANY, ANY, ANY,
     "classes: one walk for each class, from its training nodes (random-walk); ids: each node has "
     "a label of its own (label-propagation); labels: training nodes keep their classes "
     "(label-propagation); or a .npy of the ids of nodes: one walk from all of them. Empty: the "
     "first of these that the program knows."},
    {"program.pairs", KEY_INT, AT(program.pairs), "16", "[1, 512]", ANY, ANY,
     "spectral: number of eigenvalues and vectors."},
    {"program.blocks", KEY_INT, AT(program.blocks), "64", "[2, 4096]", ANY, ANY,
     "spectral: most blocks of 16 vectors in memory."},
    {"program.codec", KEY_WORD, AT(program.codec), "\"fp32\"", ANY, "fp32 bf16", ANY,
     "Rows in messages of random-walk, harmonic and spectral."},

    {"run.dir", KEY_TEXT, AT(run.dir), "\"\"", ANY, ANY, ANY,
     "Folder of the run, relative to the current folder; empty: runs/<name of the config>. "
     "A run that starts where one is takes the first free folder of DIR-2, DIR-3, ..."},
    {"run.seed", KEY_INT, AT(run.seed), "0", "[0, 9007199254740991]", ANY, ANY,
     "Seed of initial weights, dropout and rounding; run i of --runs uses seed + i."},
    {"run.random", KEY_WORD, AT(run.random), "\"philox10\"", ANY, "philox10 philox7", ANY,
     "Random numbers of dropout and rounding: philox4x32 of ten rounds, or of seven, the fewest "
     "that pass all tests of its paper, which cost less. Results differ, as with another seed."},
    {"run.random_bits", KEY_INT, AT(run.random_bits), "16", "[8, 16]", ANY, "bits",
     "Of the random numbers that round values to 8 bits or fewer: 16, or 8, which cost half; then "
     "the mean of a rounded value is off by up to 1/512 of a step."},
    {"run.threads", KEY_INT, AT(run.threads), "0", "[0, 1024]", ANY, "threads",
     "Threads per rank; 0: cores / ranks on the machine."},
    {"run.checkpoint_every", KEY_INT, AT(run.checkpoint_every), "100", "[0, 1000000000]", ANY,
     "epochs",
     "Epochs between two checkpoints; 0: only at the end and when stopped. A run always writes one "
     "at its end."},
    {"run.checkpoint_minutes", KEY_DOUBLE, AT(run.checkpoint_minutes), "30", "[0, 1000000]", ANY,
     "minutes",
     "Longest time between two checkpoints; 0: no limit. With quantization.solver=glpk such a "
     "checkpoint applies the solver's solution early, so that bit widths may depend on the clock."},
    {"run.keep_checkpoints", KEY_INT, AT(run.keep_checkpoints), "2", "[1, 1000000]", ANY,
     "checkpoints", "Number of newest checkpoints to keep."},
    {"run.stop_after", KEY_DOUBLE, AT(run.stop_after), "0", "[0, 1e9]", ANY, "seconds",
     "Wall-clock time after which the run writes a checkpoint and exits with 75; 0: never."},
    {"run.lock_wait", KEY_DOUBLE, AT(run.lock_wait), "120", "[0, 1000000]", ANY, "seconds",
     "With --resume: longest wait for a run that still works in the folder to go on with."},
    {"run.log_every", KEY_INT, AT(run.log_every), "10", "[0, 1000000000]", ANY, "epochs",
     "Epochs between two lines on the terminal; 0: none. metrics.jsonl has every epoch."},
    {"run.memory_limit", KEY_DOUBLE, AT(run.memory_limit), "0", "[0, 1000000]", ANY, "GiB",
     "Memory that a rank may use; 0: free memory of the machine / ranks on it."},
    {"run.trace", KEY_INTS, AT(run.trace), "[]", "[1, 1000000000]", ANY, "epochs",
     "First and last epoch whose timers and messages are written to trace.json (for Perfetto); "
     "empty: none."},
    {"run.backend", KEY_WORD, AT(run.backend), "\"cpu\"", ANY, ANY, ANY,
     "Backend: the kernels and the memory that a training uses. cpu: this machine's cores. cuda: "
     "an NVIDIA GPU for each rank, or shared by several, by the plug-in libfringe-cuda.so. auto: "
     "cuda where it starts on all ranks, else cpu."},
    {"run.simd", KEY_WORD, AT(run.simd), "\"auto\"", ANY, "auto plain avx2 avx512", ANY,
     "Vector instructions of the kernels; results do not depend on them."},
    {"run.spmm", KEY_WORD, AT(run.spmm), "\"own\"", ANY, "own cusparse auto", ANY,
     "Which kernel adds up the rows of neighbours on a CUDA device: own, that of fringe; cusparse, "
     "NVIDIA's library; auto, what is faster here, measured at the start. Results of the two "
     "differ in rounding. The CPU ignores it."},
    {"run.precision", KEY_WORD, AT(run.precision), "\"fp32\"", ANY, "fp32 bf16 bf16x3 auto", ANY,
     "Precision of a training, which keeps it, and of what reads its weights: fp32; bf16, the rows "
     "of features, layers and gradients are bf16 in memory, and what is added up, dense products "
     "above all, is added up in fp32; bf16x3, inputs of dense products are sums of two bf16, for "
     "AMX alone; auto, the faster of fp32 and bf16 that run.precision_error allows, measured at "
     "the start. Weights, the optimizer, the loss and logits stay fp32. Programs compute in fp32."},
    {"run.precision_error", KEY_DOUBLE, AT(run.precision_error), "0.01", "[0, 1]", ANY, ANY,
     "Largest relative error that run.precision=auto allows: of products of the features with the "
     "first weights, layer after layer, against sums in double. fp32 has 1e-7, bf16 0.003."},
    {"run.device_messages", KEY_BOOL, AT(run.device_messages), "false", ANY, ANY, ANY,
     "Gives MPI the halo messages in the memory of CUDA devices, if the MPI library of every rank "
     "is CUDA-aware; otherwise they go through pinned memory of the host. Results do not depend on "
     "it. Not tried on hardware yet."},
    {"run.panels", KEY_WORD, AT(run.panels), "\"auto\"", ANY, "auto rows 128 64 32", ANY,
     "Column panels of the sparse kernel; auto: measured at the start. Results do not depend on "
     "it."},
};
const int config_own_key_count = sizeof config_own_keys / sizeof config_own_keys[0];
const Key *config_keys = config_own_keys;
int config_key_count = sizeof config_own_keys / sizeof config_own_keys[0];
