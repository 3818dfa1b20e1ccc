// What users of PyG, DGL, OGB, AdaQP and compressors of gradients write, and what it is called
// here: one table. A row answers one thing, in one place: the word that is meant there, or a
// sentence where fringe offers nothing of the kind or another way. Whoever adds what a sentence
// denies deletes its row. The names of a row are separated by blanks; upper and lower case, '-' and
// '_' make no difference. Where names are alike, the first row counts.

#include "internal.h"

#define SETTINGS_OF_OPTIMIZER                                                                      \
    "train.optimizer names it; its settings are train.lr, train.weight_decay, train.momentum, "    \
    "train.betas and train.eps"
#define SETTINGS_OF_SCHEDULE                                                                       \
    "train.lr_schedule names it; its settings are train.lr_step_size, train.lr_gamma, "            \
    "train.lr_patience and train.warmup"
#define WHOLE_GRAPH                                                                                \
    "fringe trains on the whole graph in every epoch, without batches or loaders; "                \
    "train.sample=uniform:B takes the loss of B training nodes"
#define RANKS "the number of parts is the number of ranks: --ranks P"
#define STARTS_RANKS "--ranks P starts the ranks, with --hosts on several machines"
#define CLASSIFIES                                                                                 \
    "fringe classifies nodes, or predicts numbers of them where data.labels are numbers: "         \
    "train.loss and train.metric follow from the labels, and other tasks are not offered"
#define RECORDS                                                                                    \
    "nothing is sent elsewhere: metrics.jsonl in run.dir has every epoch, and fringe report RUN "  \
    "draws it"
#define SPLITS "data.splits=random:0.6,0.2 draws them, or per-class:20,500,1000 (so many a class)"
#define NO_ATTENTION                                                                               \
    "layers with attention are not offered; there are gcn, sage-mean, sage-gcn, gin, sgc"

// place: "key", of any section or with it; "section"; "command", the first word; "option";
// "--NAME", another name of that option; or a key, whose words they are.
static const Meaning meanings[] = {
    {"key", "data.weight edge_weight edge_weights weights", "data.weights"},
    {"key", "columns cols names usecols", "data.columns"},
    {"key", "edge_features edge_feats edge_feat edge_attr edge_attrs efeat",
     "features of edges are not used; data.weights names one number for each edge"},
    {"key", "train.adam_eps train.adam_epsilon optimizer.eps", "train.eps"},
    {"key", "model.eps model.epsilon train_eps", "model.gin_epsilon"},
    {"key", "model.name model.kind layer_type backbone", "model.layer"},
    {"key", "data.name", "data.path"},
    {"key", "data.type data.kind", "data.format"},
    {"key", "optimizer.name optimizer.type optim.name optim.type", "train.optimizer"},
    {"key", "scheduler.name scheduler.type lr_scheduler.name lr_scheduler.type",
     "train.lr_schedule"},
    {"key", "lr learning_rate base_lr init_lr", "train.lr"},
    {"key", "epoch n_epochs num_epoch num_epochs num_epoches max_epochs max_epoch n_epoch",
     "train.epochs"},
    {"key", "wd weight_decay weight_devay l2 l2_reg", "train.weight_decay"},
    {"key", "opt optim", "train.optimizer"},
    {"key", "scheduler lr_scheduler sched", "train.lr_schedule"},
    {"key", "step_size lr_step lr_decay_step", "train.lr_step_size"},
    {"key", "gamma lr_decay lr_decay_factor", "train.lr_gamma"},
    {"key", "warmup_epochs warmup_steps", "train.warmup"},
    {"key", "beta1 beta2 adam_betas", "train.betas"},
    {"key", "grad_clip max_norm max_grad_norm clip clip_grad", "train.clip_norm"},
    {"key", "early_stopping early_stop early_stopping_patience", "train.patience"},
    {"key", "eval_steps eval_interval eval_freq eval_every_n_epochs log_every_eval",
     "train.eval_every"},
    {"key", "criterion loss_fn loss_func", "train.loss"},
    {"key", "monitor metrics eval_metric score", "train.metric"},
    {"key", "class_weight loss_weight", "train.class_weights"},
    {"key", "pos_weight", "train.positive_weight"},
    {"key", "task task_type problem objective level regression link_prediction", CLASSIFIES},
    {"key", "multilabel multi_label",
     "labels that are a matrix (n, K) of 0 and 1 mean several labels a node"},
    {"key",
     "hidden_channels hidden_dim hidden_size hidden_feats n_hidden num_hidden nhid hidden_units "
     "hid_dim",
     "model.hidden"},
    {"key", "num_layers n_layers nlayers num_conv n_hops num_hops hops depth", "model.layers"},
    {"key", "model model_name model_type type arch architecture conv gnn aggregator_type aggr",
     "model.layer"},
    {"key", "drop_rate dropout_rate feat_drop drop p_drop", "model.dropout"},
    {"key", "input_drop in_drop", "model.input_dropout"},
    {"key", "normalization batch_norm use_norm norm_type use_bn bn use_layer_norm layer_norm",
     "model.norm"},
    {"key", "act nonlinearity act_fn activation_fn", "model.activation"},
    {"key", "heads num_heads n_heads attn_drop num_attention_heads", NO_ATTENTION},
    {"key", "residual skip_connection use_residual", "model.skip"},
    {"key", "jumping_knowledge jump jk_mode", "model.jk"},
    {"key", "teleport teleport_probability", "model.alpha"},
    {"key", "self_loop add_self_loop add_self_loops",
     "gcn and sage-gcn add the node itself; model.self_loops does so in sage-mean"},
    {"key", "use_pp use_precompute",
     "lossless.input_features=auto exchanges input features once and computes the first aggregate "
     "once"},
    {"key",
     "dataset dataset_path data_dir data_root root dataset_name file filename edges edge_index adj",
     "data.path"},
    {"key", "x feat feats feature node_features node_feat node_feats", "data.features"},
    {"key", "y label target targets", "data.labels"},
    {"key", "transform pre_transform preprocess preprocessing", "data.transforms"},
    {"key", "feat_norm norm_feat normalize_features normalize_feats row_normalize",
     "data.transforms=[\"row-normalize\"] does so"},
    {"key", "is_bidirected bidirected directed to_undirected symmetric",
     "data.undirected makes a list of edges undirected, data.transforms=[\"symmetrize\"] any "
     "graph"},
    {"key",
     "split split_ratio train_ratio val_ratio test_ratio train_split train_size random_split "
     "split_type",
     SPLITS},
    {"key", "train_mask val_mask test_mask train_idx val_idx test_idx", "data.split_keys"},
    {"key", "cache_dir data_cache processed_dir", "data.cache"},
    {"key",
     "in_channels in_dim in_feats num_feats num_features n_feat out_channels out_dim num_classes "
     "n_classes n_class num_nodes n_nodes",
     "the dataset says how many nodes, features and classes there are"},
    {"key", "inductive transductive",
     "training has the whole graph before it; nothing is inductive"},
    {"key",
     "batch_size num_neighbors fanout fan_out num_workers num_steps shuffle drop_last pin_memory "
     "sampler sampling walk_length num_clusters",
     WHOLE_GRAPH},
    {"key", "sampling_rate sample_rate boundary_sampling boundary_rate", "comm.sample"},
    {"key", "enable_pipeline pipeline staleness stale use_stale",
     "mode=pipegcn reads the rows of the epoch before"},
    {"key", "feat_corr grad_corr", "comm.smooth smooths features, gradients or both"},
    {"key", "corr_momentum", "comm.smooth_decay"},
    {"key", "partition_method part_method partitioner part_algo", "partition.method"},
    {"key",
     "num_parts n_partitions num_partitions n_parts nparts world_size nproc_per_node ranks "
     "num_ranks parts",
     RANKS},
    {"key", "num_gpus n_gpus ngpus gpus", "run.backend=cuda takes a GPU for each rank: --ranks P"},
    {"key", "hostfile hosts master_addr master_port local_rank rank dist_url init_method",
     STARTS_RANKS},
    {"key", "seed random_seed manual_seed", "run.seed"},
    {"key", "num_threads n_threads omp_num_threads nthreads", "run.threads"},
    {"key",
     "log_dir out_dir output_dir save_dir exp_path exp_name run_name name output checkpoint_dir",
     "run.dir"},
    {"key", "log_interval log_steps log_freq print_every log_step", "run.log_every"},
    {"key", "save_every save_interval checkpoint_interval ckpt_every save_freq",
     "run.checkpoint_every"},
    {"key", "pretrained init_from ckpt ckpt_path checkpoint checkpoint_path load", "model.weights"},
    {"key", "resume resume_from", "--resume auto continues the run in run.dir"},
    {"key", "runs n_runs num_runs repeats trials num_trials n_trials",
     "--runs N trains N times with seeds run.seed, run.seed + 1, ..."},
    {"key", "verbose quiet debug", "--verbose and --quiet are options of the command line"},
    {"key", "max_time time_limit walltime", "run.stop_after"},
    {"key", "profile profiler profiling", "run.trace"},
    {"key", "wandb use_wandb tensorboard logger mlflow project entity neptune", RECORDS},
    {"key", "amp fp16 bf16 half mixed_precision dtype use_amp", "run.precision"},
    {"key", "device gpu use_gpu cuda use_cuda gpu_id", "run.backend"},
    {"key", "bit_width bit_widths bitwidth nbits num_bits assign_bits quant_bits",
     "quantization.bits"},
    {"key", "coe_lambda", "quantization.lambda"},
    {"key", "assign_cycle assign_every assign_period", "quantization.period"},
    {"key", "assign_scheme", "quantization.assign"},
    {"key", "profile_data_length",
     "the link is measured at each assignment, unless quantization.link says it"},

    {"key",
     "grad_compression gradient_compression gradient_compressor compressor compression comm_hook "
     "ddp_comm_hook communication_hook",
     "gradients.method"},
    {"key", "bucket_size quantization_bucket_size", "gradients.bucket"},
    {"key", "error_feedback use_error_feedback ef_type memory_type", "gradients.memory"},
    {"key", "compress_ratio compression_ratio sparsity density topk_ratio", "gradients.top"},
    {"key", "matrix_approximation_rank powersgd_rank compressor_rank", "gradients.rank"},

    {"section", "optimizer optim opt", SETTINGS_OF_OPTIMIZER},
    {"section", "scheduler lr_scheduler lr_schedule", SETTINGS_OF_SCHEDULE},
    {"section", "dataset datasets input", "data"},
    {"section", "training trainer fit hyperparameters hparams", "train"},
    {"section", "network net gnn architecture", "model"},
    {"section", "quant quantizer quantize compression assign assigner", "quantization"},
    {"section", "communication mpi dist distributed", "comm"},
    {"section", "gradient grad grads grace gradsync", "gradients"},
    {"section", "runtime logging experiment", "run"},
    {"section", "wandb tensorboard mlflow logger", RECORDS},
    {"section", "loader dataloader sampler", WHOLE_GRAPH},

    {"command", "version -version -v -V", "--version"},
    {"command", "-help -? h usage", "--help"},
    {"command", "fit learn start run launch", "train"},
    {"command", "test eval validate val score", "evaluate"},
    {"command", "infer inference prediction forward embed", "predict"},
    {"command", "ls list history log experiments", "runs"},
    {"command", "benchmark bench", "compare"},
    {"command", "split cut metis gpmetis", "partition"},
    {"command", "export save transform", "convert"},
    {"command", "describe view open cat head stats", "inspect"},
    {"command", "estimate forecast", "plan"},
    {"command", "gen synth synthesize make", "generate"},
    {"command", "plot html dashboard tensorboard visualize", "report"},
    {"command", "diagnose env check-env selftest", "doctor"},
    {"command", "check validate-config lint",
     "fringe config check CONFIG finds all mistakes at once"},
    {"command", "clean clear prune", "fringe cache prune removes prepared data"},
    {"command", "sweep tune search grid", "fringe train CONFIG --sweep KEY=A,B tries values"},
    {"command", "resume continue", "fringe train CONFIG --resume auto continues a run"},
    {"command", "download get fetch data dataset",
     "fringe downloads nothing: data.path names a file (docs/data.md), and fringe generate NAME "
     "makes graphs that resemble public ones"},
    {"command", "mpirun mpiexec dist", "fringe train CONFIG --ranks P starts the ranks"},
    {"command", "completion completions bash zsh",
     "fringe help bash and fringe help zsh print the completion of a shell"},
    {"command", "man manual", "fringe help man prints the manual page"},
    {"command", "install build setup", "the README says how fringe is built"},

    {"--ranks",
     "n np nproc nproc_per_node num_parts n_partitions num_partitions world_size workers "
     "parts nparts p",
     "--ranks"},
    {"--parts", "n np k ranks num_parts n_partitions nparts n_parts p", "--parts"},
    {"--verbose", "debug vv", "--verbose"},
    {"--quiet", "silent", "--quiet"},
    {"--output", "out dest save_to", "--output"},
    {"--force", "overwrite replace", "--force"},
    {"--sweep", "grid tune search", "--sweep"},
    {"--runs", "num_runs repeat repeats n_runs trials", "--runs"},
    {"option", "c config cfg conf", "the config is an argument of its own: fringe train CONFIG"},
    {"option", "version", "fringe --version prints it"},
    {"option", "gpu cuda use_gpu use_cuda", "--set run.backend=cuda trains on NVIDIA GPUs"},
    {"option", "cpu no_cuda", "the CPU is the default; --set run.backend=cuda takes GPUs"},
    {"option", "backend dist_backend",
     "--set run.backend=cpu, cuda or auto chooses the kernels; messages are those of MPI"},
    {"option", "eval test inference", "fringe evaluate and fringe predict use trained weights"},
    {"option", "resume_from continue", "--resume auto continues the run in run.dir"},
    {"--hosts", "host hostfile H machinefile", "--hosts"},

    {"mode", "adaqp-q", "quantize"},
    {"mode", "adaqp-p", "overlap"},
    {"mode", "full fullbatch full-batch baseline dgl distdgl sync none", "vanilla"},
    {"mode", "pipe pipeline stale async asynchronous", "pipegcn"},
    {"mode", "skip", "sancus"},
    {"mode", "llcg",
     "rows of neighbours are read in every epoch; mode=pipegcn reads those of the epoch before, "
     "mode=sancus keeps those that hardly moved"},
    {"mode", "bns-gcn bnsgcn sampling sampled boundary-sampling", "bns"},
    {"mode", "int8 int4 int2 quantized quantization", "quantize"},
    {"model.layer", "gcnconv graphconv", "gcn"},
    {"model.layer", "sage graphsage sageconv mean", "sage-mean"},
    {"model.layer", "ginconv", "gin"},
    {"model.layer", "sgconv", "sgc"},
    {"model.layer", "hypergraphconv",
     "fringe calls it hgnn; it computes what HypergraphConv does with model.norm_hyper=row"},
    {"model.layer", "hypergcn allset unigcn unignn hypersage",
     "on hypergraphs there are hgnn and hnhn"},
    {"model.layer", "gat gatconv gatv2 gatv2conv transformer graphtransformer graphormer",
     NO_ATTENTION},
    {"model.layer", "rgcn rgcnconv rgat hgt han hetero",
     "all edges have one type here; data.path names the graph of one of them"},
    {"model.layer", "gcn2conv gcnii", "gcn2"},
    {"model.layer", "ppnp appnpnet", "appnp"},
    {"model.layer", "ssgc ssgconv sign", "sgc with model.mix adds all its aggregates"},
    {"model.layer", "dagnn",
     "it is not offered; appnp and gcn2 return to their input, and sgc with model.mix adds all its "
     "aggregates"},
    {"model.layer", "linear perceptron dense", "mlp"},
    {"model.layer", "cheb chebconv tag tagconv arma armaconv pna gine deepergcn clustergcn",
     "it is not offered; there are gcn, sage-mean, sage-gcn, gin, sgc, mlp, appnp, gcn2"},
    {"model.layer", "sage-max sage-pool sage-lstm max pool lstm",
     "neighbours are averaged: sage-mean, or sage-gcn with the node itself"},
    {"model.norm", "layernorm layer_norm ln", "layer"},
    {"model.norm", "batchnorm batch_norm bn batchnorm1d", "batch"},
    {"model.norm", "graph graphnorm pair pairnorm instance instancenorm rms rmsnorm group",
     "it is not offered; layer normalizes each row, batch each column, none leaves it out"},
    {"model.activation", "leakyrelu leaky_relu lrelu prelu", "leaky-relu"},
    {"model.activation", "tanh sigmoid silu swish selu celu mish softplus",
     "there are relu, leaky-relu, elu and gelu; none leaves it out"},
    {"model.post", "relu act", "activation"},
    {"model.post", "layernorm layer batchnorm bn normalization", "norm"},
    {"model.post", "drop", "dropout"},
    {"train.optimizer", "rmsprop adagrad adadelta nadam lamb lion lbfgs rprop",
     "it is not offered; adam, adamw and sgd are"},
    {"train.optimizer", "momentum nesterov", "sgd with train.momentum has momentum"},
    {"train.lr_schedule", "steplr", "step"},
    {"train.lr_schedule", "cosineannealing cosineannealinglr", "cosine"},
    {"train.lr_schedule", "none fixed no off", "constant"},
    {"train.lr_schedule", "linear warmup", "train.warmup rises linearly with every schedule"},
    {"train.lr_schedule", "multistep multisteplr onecycle poly",
     "it is not offered; step multiplies by train.lr_gamma every train.lr_step_size epochs"},
    {"train.lr_schedule", "exponentiallr", "exponential"},
    {"train.lr_schedule", "reducelronplateau", "plateau"},
    {"train.loss", "crossentropy cross_entropy crossentropyloss ce nll nllloss", "softmax"},
    {"train.loss", "bcewithlogits bcewithlogitsloss sigmoid", "bce"},
    {"train.loss", "mseloss l2 l2loss squared_error regression", "mse"},
    {"train.loss", "svm multimargin hingeloss hinge_loss", "hinge"},
    {"train.loss", "mae l1 huber smooth_l1", "it is not offered; mse is, and train.metric=mae"},
    {"train.loss", "focal kl kldiv margin", "it is not offered; softmax, bce and hinge are"},
    {"train.metric", "acc", "accuracy"},
    {"train.metric", "f1 f1-score micro f1-micro", "micro-f1"},
    {"train.metric", "macro f1-macro", "macro-f1"},
    {"train.metric", "auc rocauc roc_auc_score", "roc-auc"},
    {"train.metric", "ap aupr average_precision_score", "average-precision"},
    {"train.metric", "mse", "rmse"},
    {"train.metric", "r2_score r_squared", "r2"},
    {"train.metric", "loss val_loss", "the best epoch is chosen by a score: accuracy or an F1"},
    {"partition.method", "kahip parmetis scotch kaffpa kaminpar mtmetis mt-metis hmetis zoltan",
     "file:PATH takes the parts that another program made, one number a line"},
    {"partition.method", "hash", "random"},
    {"partition.method", "range contiguous", "blocks"},
    {"partition.method", "kway recursive metis-kway", "metis"},
    {"partition.method", "ldg hdrf", "fennel streams the nodes of a graph, srp the hyperedges"},
    {"data.transforms", "to_undirected toundirected undirected", "symmetrize"},
    {"data.transforms", "normalizefeatures normalize", "row-normalize"},
    {"data.transforms", "removeselfloops remove_self_loops", "drop-loops"},
    {"data.transforms", "addselfloops add_self_loops",
     "the layers gcn and sage-gcn add the node itself"},
    {"data.transforms", "gcnnorm tosparsetensor", "the layers see to this by themselves"},
    {"data.transforms", "randomnodesplit randomlinksplit", SPLITS},
    {"data.format", "csv tsv txt snap edgelist edge_list", "edges"},
    {"data.format", "hmetis hypergraph", "hgr"},
    {"data.format", "stream fringe-stream", "events"},
    {"data.format", "pyg scipy numpy", "npz"},
    {"data.format", "matrixmarket mm", "mtx"},
    {"data.format", "dgl pt pth pickle pkl bin parquet hdf5 torch",
     "it is not read; fringe inspect FILE says how to convert such a file"},
    {"data.format", "graphml gml gexf", "it is not read; write a list of edges, a pair a line"},
    {"quantization.codec", "int int2 int4 int8 uint8 quantize", "integer"},
    {"quantization.codec", "fp16 float16 half bfloat16", "bf16"},
    {"quantization.codec", "float32 float none", "fp32"},
    {"quantization.codec", "topk top-k randk sparse sparsify fp8 zip",
     "it is not offered; integer with small quantization.bits sends the fewest bytes"},
    {"quantization.codec", "signsgd sign terngrad qsgd onebit powersgd",
     "rows of neighbours are coded by integer in few quantization.bits; gradients.method codes "
     "weight gradients"},
    {"gradients.method", "none off allreduce allreduce_hook noop_hook float32 float", "fp32"},
    {"gradients.method", "u8bit bytegrad qadam uniform8bit 8bit int8 quantization_pertensor_hook",
     "zipml"},
    {"gradients.method",
     "fp16 bf16 half fp16_compress fp16_compress_hook bf16_compress bf16_compress_hook "
     "compression.fp16 fp16compressor",
     "halves are not offered; zipml takes half of their bytes, and gradients.bits=16 with "
     "gradients.codec=minmax as many"},
    {"gradients.method",
     "topk top-k topkcompressor dgc threshold sparse sparsification gradient-dropping",
     "topk:0.01"},
    {"gradients.method", "randk randomk",
     "values are not chosen at random; topk:0.01 sends the largest ones"},
    {"gradients.codec", "topk top-k sparse coo", "keys"},
    {"gradients.method", "sketch quantile quantiles minmaxsketch", "sketchml"},
    {"gradients.codec", "clpt logarithmic powers natural naturalcompression", "log"},
    {"gradients.method",
     "powersgd powersgd_hook batched_powersgd_hook powersgdcompressor acpsgd low-rank lowrank",
     "powersgd:4"},
    {"gradients.codec", "powersgd low-rank factors", "lowrank"},
    {"gradients.method", "localsgd post_localsgd_hook adasum decentralized gossip async",
     "gradients are summed over all ranks in every epoch"},
    {"gradients.memory", "residual ef error_feedback errorfeedback efsignsgd vanilla", "feedback"},
    {"gradients.memory", "diana ef21 delta", "difference"},
    {"quantization.assign", "fixed constant static", "uniform"},
    {"quantization.assign", "gurobi milp ilp", "adaptive"},
    {"quantization.solver", "gurobi cplex scip highs cbc", "glpk"},
    {"comm.schedule", "async asynchronous nonblocking", "overlap"},
    {"comm.schedule", "sync synchronous", "blocking"},
    {"comm.schedule", "pipegcn pipeline", "stale"},
    {"comm.schedule", "sancus", "skip"},
    {"run.precision", "float32 float single 32", "fp32"},
    {"run.precision", "bfloat16 fp16 float16 half mixed amp 16", "bf16"},
    {"run.backend", "host", "cpu"},
    {"run.backend", "gpu nvidia cuda:0 cuda:1", "cuda"},
    {"run.backend", "nccl gloo mpi", "cpu, cuda and auto choose the kernels; messages are MPI's"},
    {"run.backend", "rocm hip amd mps xpu tpu metal", "there are cpu and cuda"},
};

const Meaning *synonym_at(int i) {
    return i < (int)(sizeof meanings / sizeof *meanings) ? &meanings[i] : NULL;
}

static bool names(const Meaning *row, const char *name) {
    for (const char *at = row->names; at != NULL; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (config_is_alike(name, at))
            return true;
    }
    return false;
}

bool config_is_sentence(const char *meaning) { return strchr(meaning, ' ') != NULL; }

const char *config_meaning(const char *place, const char *word) {
    const Meaning *row;
    for (int i = 0; (row = synonym_at(i)) != NULL; i++)
        if (strcmp(row->place, place) == 0 && names(row, word))
            return row->answer;
    return NULL;
}

const char *synonym_of_word(const Key *key, const char *word, Choices choice) {
    int count = config_choices(key, choice);
    for (int i = 0; i < count; i++)
        if (config_is_alike(word, choice[i]))
            return choice[i];
    return config_meaning(key->path, word);
}
