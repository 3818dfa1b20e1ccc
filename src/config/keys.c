// Every key of a config but those that members of families bring along (members.c), once: what it
// is called, where it is stored, what it may be, what it is for. The loader, `fringe config show`,
// the JSON schema and docs/config.md walk this table.

#include "internal.h"

#include <string.h>

#define AT(field) offsetof(Config, field)
#define ANY NULL

// path, kind, where, default (JSON), range, choices, unit, help
const Key config_own_keys[] = {
    {"mode", KEY_WORD, AT(mode), "\"overlap\"", ANY, ANY, ANY,
     "Preset of quantization.codec, comm.schedule and lossless.*; an explicit key wins."},

    {"data.path", KEY_PATH, AT(data.path), "\"\"", ANY, ANY, ANY,
     "The graph: a file, or a dataset directory of fringe."},
    {"data.format", KEY_WORD, AT(data.format), "\"auto\"", ANY, ANY, ANY,
     "auto: told from the name of the file."},
    {"data.features", KEY_PATH, AT(data.features), "\"\"", ANY, ANY, ANY,
     "Features for a graph that has none: .npy [n, F]."},
    {"data.labels", KEY_PATH, AT(data.labels), "\"\"", ANY, ANY, ANY,
     "Labels beside the graph: .npy, [n] whole numbers or [n, K] 0/1 (multi-label)."},
    {"data.splits", KEY_PATH, AT(data.splits), "\"\"", ANY, ANY, ANY,
     "The .npz that holds the splits; empty: the dataset itself."},
    {"data.split_keys", KEY_WORDS, AT(data.split_keys),
     "[\"train_idx\", \"val_idx\", \"test_idx\"]", ANY, ANY, ANY,
     "Three arrays of node ids: training, validation, test. Names in the .npz, or .npy files."},
    {"data.undirected", KEY_BOOL, AT(data.undirected), "false", ANY, ANY, ANY,
     "Edge lists: each line stands for both directions."},
    {"data.transforms", KEY_WORDS, AT(data.transforms), "[]", ANY, ANY, ANY,
     "Steps in order: symmetrize, drop-loops, drop-duplicates, binary, row-normalize, standardize, "
     "random:D, degree."},
    {"data.cache", KEY_TEXT, AT(data.cache), "\"\"", ANY, ANY, ANY,
     "Folder of prepared data and partitions; empty: $XDG_CACHE_HOME/fringe or ~/.cache/fringe; "
     "where "
     "a machine has neither, /tmp/fringe-cache-UID, which must be this user's alone."},

    {"partition.method", KEY_TEXT, AT(partition.method), "\"metis\"", ANY, ANY, ANY,
     "How the graph is cut. metis: fewest edges between parts, best and slowest. fennel, fennel:N: "
     "nodes one after the other, in one pass or N, for graphs that METIS cannot hold. random, "
     "blocks: even parts, whatever the edges. file:PATH: one part number a line."},
    {"partition.seed", KEY_INT, AT(partition.seed), "1", "[0, 4294967295]", ANY, ANY,
     "Seed of the cut; apart from run.seed, so that runs share their parts."},
    {"partition.balance", KEY_WORDS, AT(partition.balance), "[]", ANY, "train edges", ANY,
     "What is balanced besides nodes (metis)."},
    {"partition.reorder", KEY_BOOL, AT(partition.reorder), "true", ANY, ANY, ANY,
     "Renumber the rows of a part so that neighbours lie close together."},

    {"model.layer", KEY_WORD, AT(model.layer), "\"gcn\"", ANY, ANY, ANY,
     "gcn and sage-gcn add the node itself: stored self-loops would "
     "count beside it (data.transforms drops them)."},
    {"model.layers", KEY_INT, AT(model.layers), "3", "[1, 16]", ANY, "layers",
     "Number of convolutions."},
    {"model.hidden", KEY_INTS, AT(model.hidden), "[256]", "[1, 65536]", ANY, "columns",
     "Width of each hidden layer; a single one serves all."},
    {"model.post", KEY_WORDS, AT(model.post), "[\"dropout\", \"norm\", \"activation\"]", ANY,
     "norm activation dropout", ANY, "What follows a convolution, in order; not after the last."},
    {"model.norm", KEY_WORD, AT(model.norm), "\"layer\"", ANY, "layer none", ANY,
     "Which norm \"norm\" in model.post means."},
    {"model.activation", KEY_WORD, AT(model.activation), "\"relu\"", ANY, "relu none", ANY,
     "Which function \"activation\" in model.post means."},
    {"model.dropout", KEY_DOUBLE, AT(model.dropout), "0.5", "[0, 1)", ANY, ANY,
     "Share of elements set to zero where model.post says dropout."},
    {"model.input_dropout", KEY_DOUBLE, AT(model.input_dropout), "0", "[0, 1)", ANY, ANY,
     "The same, before the first convolution."},
    {"model.bias", KEY_BOOL, AT(model.bias), "true", ANY, ANY, ANY, "Layers have a bias."},
    {"model.gain", KEY_DOUBLE, AT(model.gain), "1", "(0, 100]", ANY, ANY,
     "Factor on the bound of the Xavier-uniform initial weights."},
    {"model.weights", KEY_PATH, AT(model.weights), "\"\"", ANY, ANY, ANY,
     "Safetensors file to start from; empty: random weights."},

    {"train.epochs", KEY_INT, AT(train.epochs), "200", "[0, 1000000000]", ANY, "epochs",
     "Passes over the whole graph."},
    {"train.optimizer", KEY_WORD, AT(train.optimizer), "\"adam\"", ANY, ANY, ANY,
     "How gradients become steps."},
    {"train.lr", KEY_DOUBLE, AT(train.lr), "0.01", "[0, 1000]", ANY, ANY, "Learning rate."},
    {"train.momentum", KEY_DOUBLE, AT(train.momentum), "0", "[0, 1)", ANY, ANY, "Of sgd."},
    {"train.betas", KEY_DOUBLES, AT(train.betas), "[0.9, 0.999]", "[0, 1)", ANY, ANY,
     "Decay of Adam's first and second moment."},
    {"train.eps", KEY_DOUBLE, AT(train.eps), "1e-8", "[0, 1]", ANY, ANY,
     "Added to the root of Adam's second moment."},
    {"train.weight_decay", KEY_DOUBLES, AT(train.weight_decay), "[0]", "[0, 1000]", ANY, ANY,
     "L2 factor of each layer, added to its gradient; the last one serves the rest."},
    {"train.clip_norm", KEY_DOUBLE, AT(train.clip_norm), "0", "[0, 1e30]", ANY, ANY,
     "Largest norm of the whole gradient; 0: no limit."},
    {"train.lr_schedule", KEY_WORD, AT(train.lr_schedule), "\"constant\"", ANY, ANY, ANY,
     "How the learning rate goes."},
    {"train.lr_step_size", KEY_INT, AT(train.lr_step_size), "100", "[1, 1000000000]", ANY, "epochs",
     "Schedule step: every so many epochs the rate is multiplied ..."},
    {"train.lr_gamma", KEY_DOUBLE, AT(train.lr_gamma), "0.5", "(0, 1]", ANY, ANY, "... by this."},
    {"train.warmup", KEY_INT, AT(train.warmup), "0", "[0, 1000000000]", ANY, "epochs",
     "The rate rises linearly to its value."},
    {"train.eval_every", KEY_INT, AT(train.eval_every), "10", "[0, 1000000000]", ANY, "epochs",
     "Evaluation on the distributed graph; 0: only after the last epoch."},
    {"train.patience", KEY_INT, AT(train.patience), "0", "[0, 1000000000]", ANY, "evaluations",
     "Stop after so many without a better validation, which needs validation nodes and "
     "train.eval_every above 0; 0: never."},
    {"train.loss", KEY_WORD, AT(train.loss), "\"auto\"", ANY, "auto softmax bce", ANY,
     "auto: bce where nodes have several labels."},
    {"train.metric", KEY_WORD, AT(train.metric), "\"auto\"", ANY, ANY, ANY,
     "What says which validation is better; auto: micro-f1 where nodes have several labels."},

    {"quantization.codec", KEY_WORD, AT(quantization.codec), "\"fp32\"", ANY, ANY, ANY,
     "How rows are written into messages: fp32 | bf16 | integer (few bits, rounded at random "
     "without "
     "bias). The mode presets it."},
    {"quantization.assign", KEY_TEXT, AT(quantization.assign), "\"adaptive\"", ANY, ANY, ANY,
     "Codec integer, which rows get which width: adaptive (assigned anew every "
     "quantization.period) | "
     "uniform (quantization.initial_bits) | random | replay:RUN (what that run used)."},
    {"quantization.bits", KEY_INTS, AT(quantization.bits), "[2, 4, 8]", "[1, 16]", ANY, "bits",
     "Widths to choose from, ascending: 1 to 8, and 16."},
    {"quantization.initial_bits", KEY_INT, AT(quantization.initial_bits), "8", "[1, 16]", ANY,
     "bits", "Of all rows until the first assignment (quantization.period)."},
    {"quantization.scale_dtype", KEY_WORD, AT(quantization.scale_dtype), "\"bf16\"", ANY,
     "fp32 bf16", ANY, "How the minimum and the step of a row travel."},
    {"quantization.period", KEY_INT, AT(quantization.period), "100", "[1, 1000000000]", ANY,
     "epochs",
     "Between two assignments, and before the first: until then all rows have "
     "quantization.initial_bits."},
    {"quantization.delay", KEY_INT, AT(quantization.delay), "3", "[0, 1000000]", ANY, "epochs",
     "From asking the solver to taking its answer, or up to the next asking; training goes on "
     "meanwhile."},
    {"quantization.group_size", KEY_INT, AT(quantization.group_size), "100", "[1, 1000000000]", ANY,
     "rows", "Rows that share a width: neighbours in the order of their sensitivities."},
    {"quantization.lambda", KEY_DOUBLE, AT(quantization.lambda), "0.5", "[0, 1]", ANY, ANY,
     "Weight of the variance that rounding adds, against time: 1 is exact, 0 is fast."},
    {"quantization.sensitivity", KEY_WORD, AT(quantization.sensitivity), "\"paper\"", ANY,
     "paper safe", ANY,
     "What a row's noise counts: sum of the squares of its coefficients, or square of their sum."},
    {"quantization.time", KEY_WORD, AT(quantization.time), "\"sum\"", ANY, "sum hidden", ANY,
     "hidden: time that computation covers costs nothing."},
    {"quantization.wait", KEY_WORD, AT(quantization.wait), "\"round\"", ANY, "round sender", ANY,
     "What the slowest is taken of: the pairs of a ring round, or all that a rank sends."},
    {"quantization.link", KEY_DOUBLES, AT(quantization.link), "[]", "[0, 1e9]", ANY, "seconds",
     "Pinned link model for all pairs: seconds per byte (at least 1e-12) and per message, and with "
     "quantization.time hidden those of an exchange that computation hides; empty: measured at "
     "each "
     "assignment. For the same bytes twice pin it and take quantization.solver=exact."},
    {"quantization.solver", KEY_WORD, AT(quantization.solver), "\"glpk\"", ANY, "glpk exact", ANY,
     "glpk: fringe-solver looks for better widths than those found at once where these are not "
     "proven best, which is rare. It is not asked where computation covers time "
     "(quantization.time) or "
     "one term counts alone (quantization.lambda 0 or 1). exact: those found at once are taken."},
    {"quantization.solver_limit", KEY_DOUBLE, AT(quantization.solver_limit), "1", "[0.01, 100000]",
     ANY, "seconds", "For each problem (one per layer and direction)."},

    {"lossless.input_features", KEY_WORD, AT(lossless.input_features), "\"auto\"", ANY,
     "exchange auto", ANY,
     "auto: features are exchanged once. Their aggregate is made once, too; where they are dropped "
     "out, both ends drop the same values of rows that are kept. The mode presets it."},
    {"lossless.order", KEY_WORD, AT(lossless.order), "\"auto\"", ANY, "aggregate-first auto", ANY,
     "auto: multiply by the weights first where that makes rows narrower. The mode presets it."},
    {"lossless.receptive_field", KEY_WORD, AT(lossless.receptive_field), "\"auto\"", ANY,
     "all auto", ANY,
     "auto: rows that no training node can feel are neither computed nor sent, evaluation apart. "
     "The mode presets it."},
    {"lossless.cover", KEY_WORD, AT(lossless.cover), "\"min\"", ANY, "sources targets min", ANY,
     "What travels between two ranks: rows of sources | partial sums for targets | min (the fewest "
     "of both together). The mode presets it."},

    {"comm.schedule", KEY_WORD, AT(comm.schedule), "\"overlap\"", ANY, ANY, ANY,
     "blocking | overlap | central (hides rows behind central rows only, as AdaQP does): the "
     "order "
     "of the steps of an exchange. The mode presets it."},
    {"comm.timeout", KEY_DOUBLE, AT(comm.timeout), "300", "[0.1, 1e9]", ANY, "seconds",
     "How long a wait may last before a silent rank is named and the job ends."},
    {"comm.chunk", KEY_INT, AT(comm.chunk), "65280", "[4096, 1073741824]", ANY, "bytes",
     "A message travels in pieces of this size; Open MPI sends up to 65280 over TCP at once, "
     "larger "
     "ones by agreement with the receiver, which is slower."},

    {"run.dir", KEY_TEXT, AT(run.dir), "\"\"", ANY, ANY, ANY,
     "Folder of the run (from the current folder); empty: runs/<name of the config>. Without "
     "--resume a run begins anew there; what runs before made moves to DIR.1, DIR.2, ..."},
    {"run.seed", KEY_INT, AT(run.seed), "0", "[0, 9007199254740991]", ANY, ANY,
     "Of weights and dropout; run i of --runs has seed + i."},
    {"run.threads", KEY_INT, AT(run.threads), "0", "[0, 1024]", ANY, "threads",
     "Per rank; 0: cores / ranks on the machine."},
    {"run.checkpoint_every", KEY_INT, AT(run.checkpoint_every), "100", "[0, 1000000000]", ANY,
     "epochs", "Beside the one at the end; 0: only at the end and when stopped."},
    {"run.checkpoint_minutes", KEY_DOUBLE, AT(run.checkpoint_minutes), "30", "[0, 1000000]", ANY,
     "minutes",
     "A checkpoint also when so much time has passed since the last one; 0: never. With "
     "quantization.solver=glpk a checkpoint takes the solver's answer early, so that bit widths "
     "may "
     "depend on the clock."},
    {"run.keep_checkpoints", KEY_INT, AT(run.keep_checkpoints), "2", "[1, 1000000]", ANY,
     "checkpoints", "The newest ones that are kept."},
    {"run.stop_after", KEY_DOUBLE, AT(run.stop_after), "0", "[0, 1e9]", ANY, "seconds",
     "Wall clock after which a checkpoint is written and the program leaves with 75; 0: never."},
    {"run.lock_wait", KEY_DOUBLE, AT(run.lock_wait), "30", "[0, 1000000]", ANY, "seconds",
     "How long to wait while another run works in run.dir; with --resume four times as long."},
    {"run.log_every", KEY_INT, AT(run.log_every), "10", "[0, 1000000000]", ANY, "epochs",
     "Lines on the terminal; 0: none. metrics.jsonl has every epoch."},
    {"run.memory_limit", KEY_DOUBLE, AT(run.memory_limit), "0", "[0, 1000000]", ANY, "GiB",
     "What a rank may take; 0: what the machine has free / ranks on it."},
    {"run.trace", KEY_INTS, AT(run.trace), "[]", "[1, 1000000000]", ANY, "epochs",
     "First and last epoch whose spans and messages go into trace.json (for Perfetto); empty: "
     "none."},
    {"run.backend", KEY_WORD, AT(run.backend), "\"cpu\"", ANY, ANY, ANY,
     "Whose kernels and memory a training runs on."},
    {"run.simd", KEY_WORD, AT(run.simd), "\"auto\"", ANY, "auto plain avx2 avx512", ANY,
     "Vector width of the kernels; changes no bit."},
    {"run.panels", KEY_WORD, AT(run.panels), "\"auto\"", ANY, "auto rows 128 64 32", ANY,
     "Column panels of the sparse kernel; auto: measured at the start. Changes no bit."},
};
const int config_own_key_count = sizeof config_own_keys / sizeof config_own_keys[0];
const Key *config_keys = config_own_keys;
int config_key_count = sizeof config_own_keys / sizeof config_own_keys[0];

bool config_is_list(KeyKind kind) {
    return kind == KEY_WORDS || kind == KEY_INTS || kind == KEY_DOUBLES;
}

bool config_is_text(KeyKind kind) {
    return kind == KEY_WORD || kind == KEY_TEXT || kind == KEY_PATH || kind == KEY_WORDS;
}
