// What users of PyG, DGL and AdaQP write, and what it is called here. A row answers one thing: the
// key that it means, or a sentence where fringe offers nothing of the kind. The names of a row are
// separated by blanks; upper and lower case, '-' and '_' make no difference.

#include "internal.h"

#include <ctype.h>
#include <string.h>

typedef struct Synonym {
    const char *names;  // "lr learning_rate"
    const char *answer; // a key, or a word of the key; a sentence if it has a blank
} Synonym;

static const char whole_graph[] =
    "fringe trains on the whole graph in every epoch, without batches, samples or loaders";
static const char ranks[] = "the number of parts is the number of ranks: --ranks P";

static const Synonym keys[] = {
    {"lr learning_rate base_lr", "train.lr"},
    {"epoch n_epochs num_epoch num_epochs num_epoches max_epochs", "train.epochs"},
    {"wd weight_decay weight_devay l2 l2_reg", "train.weight_decay"},
    {"opt optim", "train.optimizer"},
    {"scheduler lr_scheduler", "train.lr_schedule"},
    {"step_size lr_step", "train.lr_step_size"},
    {"gamma", "train.lr_gamma"},
    {"grad_clip max_norm max_grad_norm clip clip_grad", "train.clip_norm"},
    {"early_stopping early_stop", "train.patience"},
    {"eval_steps eval_interval", "train.eval_every"},
    {"criterion loss_fn", "train.loss"},
    {"hidden_channels hidden_dim hidden_size hidden_feats n_hidden num_hidden nhid",
     "model.hidden"},
    {"num_layers n_layers nlayers", "model.layers"},
    {"model model_name model_type type arch conv gnn aggregator_type aggr", "model.layer"},
    {"drop_rate dropout_rate feat_drop", "model.dropout"},
    {"normalization batch_norm use_norm norm_type", "model.norm"},
    {"act nonlinearity", "model.activation"},
    {"dataset dataset_path data_dir root dataset_name", "data.path"},
    {"transform pre_transform", "data.transforms"},
    {"partition_method part_method", "partition.method"},
    {"seed random_seed", "run.seed"},
    {"num_threads n_threads", "run.threads"},
    {"log_dir out_dir output_dir save_dir exp_path", "run.dir"},
    {"log_interval log_steps log_freq print_every", "run.log_every"},
    {"bit_width bit_widths bitwidth nbits num_bits", "quantization.bits"},
    {"coe_lambda", "quantization.lambda"},
    {"assign_cycle assign_every", "quantization.period"},
    {"assign_scheme", "quantization.assign"},
    {"batch_size num_neighbors fanout fan_out num_workers num_steps", whole_graph},
    {"num_parts n_partitions num_partitions world_size nproc_per_node", ranks},
    {"heads num_heads n_heads attn_drop", "fringe has no layers with attention, such as GAT"},
    {"in_channels in_dim in_feats num_feats num_features out_channels out_dim num_classes "
     "n_classes",
     "the dataset says how many features and classes there are"},
    {"device gpu use_gpu cuda", "run.backend"},
};

// "key: names". Words of the key itself in other letters ("GCN") need no row.
static const struct {
    const char *key;
    Synonym word;
} words[] = {
    {"mode", {"adaqp-q", "quantize"}},
    {"mode", {"adaqp-p", "overlap"}},
    {"model.layer", {"gcnconv graphconv", "gcn"}},
    {"model.layer", {"sage graphsage sageconv mean", "sage-mean"}},
    {"model.layer", {"ginconv", "gin"}},
    {"model.layer", {"sgconv", "sgc"}},
    {"model.layer",
     {"hypergraphconv",
      "fringe calls it hgnn; it computes what HypergraphConv does with model.norm_hyper=row"}},
    {"model.layer", {"hypergcn allset unigcn", "on hypergraphs there are hgnn and hnhn"}},
    {"model.layer",
     {"gat gatconv gatv2 gatv2conv transformer graphtransformer",
      "layers with attention are not offered"}},
    {"model.norm", {"layernorm layer_norm", "layer"}},
    {"model.norm", {"batch batchnorm batch_norm bn", "batch normalization is not offered"}},
    {"train.optimizer", {"adamw rmsprop adagrad", "AdamW, RMSprop and Adagrad are not offered"}},
    {"train.lr_schedule", {"steplr", "step"}},
    {"train.lr_schedule", {"cosineannealing cosineannealinglr", "cosine"}},
    {"train.loss", {"crossentropy cross_entropy crossentropyloss ce nll", "softmax"}},
    {"train.loss", {"bcewithlogits bcewithlogitsloss sigmoid", "bce"}},
    {"train.metric", {"acc", "accuracy"}},
    {"train.metric", {"f1 f1-score micro", "micro-f1"}},
    {"train.metric", {"auc rocauc roc-auc", "the area under the ROC curve is not offered"}},
    {"data.transforms", {"to_undirected toundirected undirected", "symmetrize"}},
    {"data.transforms", {"normalizefeatures normalize", "row-normalize"}},
    {"data.transforms", {"removeselfloops remove_self_loops", "drop-loops"}},
    {"data.transforms",
     {"addselfloops add_self_loops", "the layers gcn and sage-gcn add the node itself"}},
    {"data.format", {"csv tsv txt snap edgelist edge_list", "edges"}},
    {"data.format", {"hmetis hypergraph", "hgr"}},
    {"data.format", {"stream fringe-stream", "events"}},
    {"data.format", {"pyg scipy numpy", "npz"}},
    {"quantization.codec", {"int int2 int4 int8 uint8 quantize", "integer"}},
    {"quantization.codec", {"fp16 float16 half", "bf16"}},
    {"quantization.codec", {"float32 float none", "fp32"}},
    {"run.backend", {"host", "cpu"}},
    {"run.backend", {"gpu nvidia", "cuda"}},
};

// Equal up to letters' case, '-' and '_'. `b` ends at a blank or its end.
static bool alike(const char *a, const char *b) {
    for (;; a++, b++) {
        while (*a == '-' || *a == '_')
            a++;
        while (*b == '-' || *b == '_')
            b++;
        bool ended = *b == 0 || *b == ' ';
        if (*a == 0 || ended)
            return *a == 0 && ended;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    }
}

static bool names(const Synonym *row, const char *name) {
    for (const char *at = row->names; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (alike(name, at))
            return true;
    }
    return false;
}

bool synonym_is_sentence(const char *answer) { return strchr(answer, ' ') != NULL; }

const char *synonym_of_key(const char *name) {
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (names(&keys[i], name))
            return keys[i].answer;
    return NULL;
}

const char *synonym_of_word(const Key *key, const char *word, Choices choice) {
    int count = config_choices(key, choice);
    for (int i = 0; i < count; i++)
        if (alike(word, choice[i]))
            return choice[i];
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(words[i].key, key->path) == 0 && names(&words[i].word, word))
            return words[i].word.answer;
    return NULL;
}
