"""The sections of a config as dataclasses: fringe.Model(layer="gcn", hidden=[256]). What is not given keeps its default,
which docs/config.md lists with unit, range and help.

Written by python/write_keys.py from the table of keys of the program; not to be edited.

SPDX-License-Identifier: Apache-2.0
"""
from dataclasses import dataclass
from typing import Any, Literal, Mapping, Optional, Sequence, Union


@dataclass
class DataSection:
    """Section "data"."""

    path: Optional[Any] = None
    format: Optional[
        Literal["reddit", "npz", "metis", "hgr", "pins", "members", "events", "mtx", "ogb", "graphsaint", "edges",
                "fringe", "auto"]
    ] = None
    features: Optional[str] = None
    features_as: Optional[Literal["auto", "dense", "sparse"]] = None
    labels: Optional[str] = None
    labels_are: Optional[Literal["auto", "classes", "several", "numbers"]] = None
    nodes: Optional[str] = None
    columns: Optional[Mapping[str, Any]] = None
    ids: Optional[Literal["auto", "number", "text"]] = None
    hyperedges: Optional[Literal["auto", "columns", "rows"]] = None
    weights: Optional[str] = None
    splits: Optional[str] = None
    split_seed: Optional[int] = None
    split_keys: Optional[Union[Sequence[str], str]] = None
    split_row: Optional[int] = None
    undirected: Optional[bool] = None
    transforms: Optional[Union[Sequence[str], str]] = None
    fitted: Optional[str] = None
    cache: Optional[str] = None


@dataclass
class Partition:
    """Section "partition"."""

    method: Optional[str] = None
    seed: Optional[int] = None
    balance: Optional[Union[Sequence[Literal["train", "edges"]], Literal["train", "edges"]]] = None
    reorder: Optional[bool] = None


@dataclass
class Stream:
    """Section "stream"."""

    order: Optional[Literal["hyperedges", "nodes", "full", "pins"]] = None
    score: Optional[Literal["marginal", "thesis", "fennel", "random", "balance-big", "aweto"]] = None
    refine: Optional[Literal["none", "during", "after", "both"]] = None
    window: Optional[int] = None
    iterations: Optional[int] = None
    epsilon: Optional[float] = None
    capacity: Optional[int] = None
    votes: Optional[Literal["all", "window"]] = None
    balance: Optional[Literal["global", "window"]] = None
    passes: Optional[int] = None
    strict: Optional[bool] = None
    snapshot_every: Optional[int] = None
    checkpoint_every: Optional[int] = None


@dataclass
class Model:
    """Section "model"."""

    layer: Optional[
        Literal["gcn", "sage-mean", "sage-gcn", "gin", "sgc", "mlp", "appnp", "gcn2", "hgnn", "hnhn"]
    ] = None
    layers: Optional[int] = None
    hidden: Optional[Union[Sequence[int], int]] = None
    post: Optional[
        Union[Sequence[Literal["norm", "activation", "dropout"]], Literal["norm", "activation", "dropout"]]
    ] = None
    norm: Optional[Literal["layer", "batch", "none"]] = None
    activation: Optional[Literal["relu", "none", "leaky-relu", "elu", "gelu"]] = None
    slope: Optional[float] = None
    dropout: Optional[float] = None
    input_dropout: Optional[float] = None
    bias: Optional[bool] = None
    steps: Optional[int] = None
    alpha: Optional[float] = None
    theta: Optional[float] = None
    mix: Optional[Union[Sequence[float], float]] = None
    skip: Optional[Literal["none", "residual"]] = None
    jk: Optional[Literal["none", "last", "cat", "max"]] = None
    gain: Optional[float] = None
    weights: Optional[str] = None
    gcn_norm: Optional[Literal["both", "in"]] = None
    gcn_self: Optional[bool] = None
    self_loops: Optional[bool] = None
    gin_epsilon: Optional[float] = None
    gin_learn_epsilon: Optional[bool] = None
    norm_hyper: Optional[Literal["sym", "row"]] = None


@dataclass
class Train:
    """Section "train"."""

    epochs: Optional[int] = None
    optimizer: Optional[Literal["adam", "adamw", "sgd"]] = None
    lr: Optional[float] = None
    momentum: Optional[float] = None
    betas: Optional[Union[Sequence[float], float]] = None
    eps: Optional[float] = None
    weight_decay: Optional[Union[Sequence[float], float]] = None
    l1: Optional[float] = None
    clip_norm: Optional[float] = None
    lr_schedule: Optional[Literal["constant", "cosine", "step", "exponential", "inverse", "plateau"]] = None
    lr_step_size: Optional[int] = None
    lr_gamma: Optional[float] = None
    lr_patience: Optional[int] = None
    warmup: Optional[int] = None
    eval_every: Optional[int] = None
    average: Optional[int] = None
    patience: Optional[int] = None
    loss: Optional[Literal["softmax", "bce", "hinge", "mse", "auto"]] = None
    metric: Optional[
        Literal["accuracy", "micro-f1", "macro-f1", "roc-auc", "average-precision", "rmse", "mae", "r2", "auto"]
    ] = None
    class_weights: Optional[Union[Literal["none", "balanced"], Sequence[float]]] = None
    positive_weight: Optional[float] = None
    label_smoothing: Optional[float] = None
    sample: Optional[str] = None
    label_input: Optional[str] = None
    sample_period: Optional[int] = None


@dataclass
class Quantization:
    """Section "quantization"."""

    codec: Optional[Literal["fp32", "bf16", "integer"]] = None
    exchanges: Optional[str] = None
    before: Optional[Literal["post", "conv"]] = None
    assign: Optional[str] = None
    bits: Optional[Union[Sequence[int], int]] = None
    initial_bits: Optional[int] = None
    scale_dtype: Optional[Literal["fp32", "bf16"]] = None
    memory: Optional[Literal["none", "feedback", "difference", "anchor", "ef21", "auto"]] = None
    alpha: Optional[float] = None
    refresh: Optional[int] = None
    period: Optional[int] = None
    delay: Optional[int] = None
    group_size: Optional[int] = None
    lambda_: Optional[float] = None
    sensitivity: Optional[Literal["paper", "safe"]] = None
    time: Optional[Literal["sum", "hidden"]] = None
    wait: Optional[Literal["round", "sender"]] = None
    link: Optional[Union[Sequence[float], float]] = None
    solver: Optional[Literal["glpk", "exact"]] = None
    solver_limit: Optional[float] = None


@dataclass
class Gradients:
    """Section "gradients"."""

    method: Optional[str] = None
    codec: Optional[Literal["none", "minmax", "max", "l2", "mean", "log", "keys", "sketch", "lowrank"]] = None
    bits: Optional[int] = None
    bucket: Optional[int] = None
    rank: Optional[int] = None
    top: Optional[float] = None
    sketch_buckets: Optional[int] = None
    sketch_groups: Optional[int] = None
    sketch_tables: Optional[int] = None
    sketch_bins: Optional[float] = None
    recalibrate: Optional[bool] = None
    rounding: Optional[Literal["random", "nearest"]] = None
    scale_dtype: Optional[Literal["fp32", "bf16"]] = None
    memory: Optional[Literal["none", "feedback", "difference", "anchor"]] = None
    alpha: Optional[float] = None
    refresh: Optional[int] = None
    down: Optional[Literal["same", "fp32"]] = None
    wire: Optional[Literal["packed", "entropy"]] = None
    bits_rule: Optional[Literal["fixed", "dq", "rms", "adaqs"]] = None
    bits_period: Optional[int] = None


@dataclass
class Lossless:
    """Section "lossless"."""

    input_features: Optional[Literal["exchange", "auto"]] = None
    order: Optional[Literal["aggregate-first", "auto", "transform-first"]] = None
    receptive_field: Optional[Literal["all", "auto"]] = None
    cover: Optional[Literal["sources", "targets", "replicas", "min"]] = None


@dataclass
class Comm:
    """Section "comm"."""

    schedule: Optional[Literal["blocking", "overlap", "central", "stale", "skip"]] = None
    timeout: Optional[float] = None
    chunk: Optional[int] = None
    sample: Optional[float] = None
    first: Optional[Literal["exchange", "zero"]] = None
    smooth: Optional[Literal["none", "features", "gradients", "both"]] = None
    smooth_decay: Optional[float] = None
    skip: Optional[str] = None
    skip_backward: Optional[bool] = None


@dataclass
class Program:
    """Section "program"."""

    iterations: Optional[int] = None
    tolerance: Optional[float] = None
    restart: Optional[float] = None
    start: Optional[str] = None
    pairs: Optional[int] = None
    blocks: Optional[int] = None
    codec: Optional[Literal["fp32", "bf16"]] = None


@dataclass
class RunSection:
    """Section "run"."""

    dir: Optional[str] = None
    seed: Optional[int] = None
    random: Optional[Literal["philox10", "philox7"]] = None
    random_bits: Optional[int] = None
    threads: Optional[int] = None
    checkpoint_every: Optional[int] = None
    checkpoint_minutes: Optional[float] = None
    keep_checkpoints: Optional[int] = None
    stop_after: Optional[float] = None
    lock_wait: Optional[float] = None
    log_every: Optional[int] = None
    memory_limit: Optional[float] = None
    trace: Optional[Union[Sequence[int], int]] = None
    backend: Optional[Literal["cpu", "cuda", "auto"]] = None
    simd: Optional[Literal["auto", "plain", "avx2", "avx512", "amx"]] = None
    spmm: Optional[Literal["own", "cusparse", "auto"]] = None
    precision: Optional[Literal["fp32", "bf16", "bf16x3", "auto"]] = None
    bf16_sums: Optional[Literal["auto", "pairs", "tiles"]] = None
    precision_error: Optional[float] = None
    device_messages: Optional[bool] = None
    panels: Optional[Literal["auto", "rows", "128", "64", "32"]] = None


@dataclass
class Config:
    """A whole config."""

    mode: Optional[
        Literal["vanilla", "lossless", "overlap", "quantize", "adaqp", "auto", "sancus", "adaqp-published", "pipegcn",
                "pipegcn-published", "pipeadaqp", "bns"]
    ] = None
    data: Union[DataSection, Mapping[str, Any], None] = None
    partition: Union[Partition, Mapping[str, Any], None] = None
    stream: Union[Stream, Mapping[str, Any], None] = None
    model: Union[Model, Mapping[str, Any], None] = None
    train: Union[Train, Mapping[str, Any], None] = None
    quantization: Union[Quantization, Mapping[str, Any], None] = None
    gradients: Union[Gradients, Mapping[str, Any], None] = None
    lossless: Union[Lossless, Mapping[str, Any], None] = None
    comm: Union[Comm, Mapping[str, Any], None] = None
    program: Union[Program, Mapping[str, Any], None] = None
    run: Union[RunSection, Mapping[str, Any], None] = None


__all__ = ["Config", "DataSection", "Partition", "Stream", "Model", "Train", "Quantization", "Gradients", "Lossless",
           "Comm", "Program", "RunSection"]
