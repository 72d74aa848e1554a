"""The tables of a job file as types of dicts, for ``mypy`` and for editors; see docs/python.md.

Made by scripts/python-kinds from the keys that the program declares: change those, not this file.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Union

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from typing_extensions import Required


class Input(TypedDict, total=False):
    """The table [input]."""

    file: str | PathLike[str]
    dataset: str
    raw: Mapping[str, Any]
    generate: Mapping[str, Any]
    region: Mapping[str, Any]
    frames: str | Mapping[str, Any]
    axes: str
    spacing: Sequence[float] | Mapping[str, Any]
    select: Mapping[str, Any]
    colour: bool
    invalid: str | float | Mapping[str, Any]
    allow_external: bool
    missing: str
    max_logical_bytes: str | int


class Output(TypedDict, total=False):
    """The table [output]."""

    file: str | PathLike[str]
    dataset: str
    dtype: str
    overwrite: bool
    keep_fields: bool
    sync: bool
    parts: int | Literal["auto"]
    chunk: Sequence[int]
    shard: Sequence[int]
    compression: str
    level: int
    levels: int | Literal["auto"]
    level_factors: Sequence[int]
    ngff: str
    tile: Sequence[int]
    pyramid: bool
    downsample: str
    shuffle: bool


class Batch(TypedDict, total=False):
    """The table [batch]."""

    inputs: Sequence[str] | str
    output: str
    state: str


class Run(TypedDict, total=False):
    """The table [run]."""

    backend: str
    host_memory: str | int
    device_memory: str | int
    chunk_rows: int | Literal["auto"]
    lanes: int | Literal["auto"]
    io_threads: int | Literal["auto"]
    halo_depth: int | Literal["auto"]
    halo_exchange: str
    resume: str
    resume_check: str
    commit_seconds: float
    stall_seconds: float


class Bin(TypedDict, total=False):
    """The table [bin]."""

    factors: int | Sequence[int]
    value: Literal["mean", "sum"]
    edge: Literal["drop", "partial"]


class Convolve(TypedDict, total=False):
    """The table [convolve]."""

    row_taps: NDArray[Any] | Sequence[float] | Mapping[str, Any]
    column_taps: NDArray[Any] | Sequence[float] | Mapping[str, Any]
    depth_taps: NDArray[Any] | Sequence[float] | Mapping[str, Any]
    sigma: float | Sequence[float]
    boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"]
    fill: float


class Correct(TypedDict, total=False):
    """The table [correct]."""

    dark: float | Any | Mapping[str, Any]
    flat: float | Any | Mapping[str, Any]
    dead: float | Literal["invalid"]
    clip: Sequence[float]
    negative_log: bool
    floor: float
    air: Mapping[str, Any]


class Denoise(TypedDict, total=False):
    """The table [denoise]."""

    method: Literal["nlm", "bm4d"]
    sigma: float | Literal["auto"]
    strength: float
    stabilise: Literal["none", "anscombe"]
    patch: Sequence[int]
    window: Sequence[int]
    count: int | Literal["all"]
    step: int
    threshold: float
    order: Literal["ascending", "descending"]
    selection: Literal["fast", "serial", "min_and_swap"]


class Fill(TypedDict, total=False):
    """The table [fill]."""

    method: Literal["nearest", "mean", "number"]
    value: float
    reach: Sequence[int]
    rest: float


class Match(TypedDict, total=False):
    """The table [match]."""

    patch: Sequence[int]
    window: Sequence[int]
    count: int
    step: int
    threshold: float
    order: Literal["ascending", "descending"]
    selection: Literal["fast", "serial", "min_and_swap"]


class Median(TypedDict, total=False):
    """The table [median]."""

    size: int | Sequence[int]
    boundary: Literal["constant", "nearest", "reflect", "mirror", "wrap"]
    fill: float
    difference: float
    side: Literal["both", "above", "below"]


class Phase(TypedDict, total=False):
    """The table [phase]."""

    energy: float
    distance: float
    pixel_size: float
    delta_beta: float
    method: Literal["paganin", "pixel"]
    margin: int
    negative_log: bool
    floor: float


# The table [reduce].
Reduce = TypedDict("Reduce", {
    "operation": 'Literal["mean", "sum", "min", "max", "std", "median", "histogram", "percentiles"]',
    "over": 'Sequence[str] | str',
    "percentiles": 'Sequence[float]',
    "bins": 'int',
    "from": 'Sequence[float]',
}, total=False)


# The table [rescale].
Rescale = TypedDict("Rescale", {
    "from": 'Sequence[float] | Literal["extremes"] | Mapping[str, Sequence[float]]',
    "to": 'Sequence[float]',
}, total=False)


class Sand(TypedDict, total=False):
    """The table [sand]."""

    generations: int
    snapshot_every: int
    input_frame: int
    start_generation: int
    seed: int
    chances: Mapping[str, float]


class Stitch(TypedDict, total=False):
    """The table [stitch]."""

    overlap: int
    side: Literal["left", "right"]
    blend: Literal["linear", "none"]
    order: Literal["projections", "sinograms"]


class Stripes(TypedDict, total=False):
    """The table [stripes]."""

    method: Literal["sort", "large", "dead", "all"]
    size: int
    snr: float
    small: int


class Transpose(TypedDict, total=False):
    """The table [transpose]."""

    permutation: Sequence[int]


class BinStep(Bin, total=False):
    """A step of the kind bin."""

    kind: Required[Literal["bin"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class ConvolveStep(Convolve, total=False):
    """A step of the kind convolve."""

    kind: Required[Literal["convolve"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class CorrectStep(Correct, total=False):
    """A step of the kind correct."""

    kind: Required[Literal["correct"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class DenoiseStep(Denoise, total=False):
    """A step of the kind denoise."""

    kind: Required[Literal["denoise"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class FillStep(Fill, total=False):
    """A step of the kind fill."""

    kind: Required[Literal["fill"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class MatchStep(Match, total=False):
    """A step of the kind match."""

    kind: Required[Literal["match"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class MedianStep(Median, total=False):
    """A step of the kind median."""

    kind: Required[Literal["median"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class PhaseStep(Phase, total=False):
    """A step of the kind phase."""

    kind: Required[Literal["phase"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class ReduceStep(Reduce, total=False):
    """A step of the kind reduce."""

    kind: Required[Literal["reduce"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class RescaleStep(Rescale, total=False):
    """A step of the kind rescale."""

    kind: Required[Literal["rescale"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class SandStep(Sand, total=False):
    """A step of the kind sand."""

    kind: Required[Literal["sand"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class StitchStep(Stitch, total=False):
    """A step of the kind stitch."""

    kind: Required[Literal["stitch"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class StripesStep(Stripes, total=False):
    """A step of the kind stripes."""

    kind: Required[Literal["stripes"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


class TransposeStep(Transpose, total=False):
    """A step of the kind transpose."""

    kind: Required[Literal["transpose"]]
    name: str
    dtype: Any
    save: str | PathLike[str]


Step = Union[BinStep, ConvolveStep, CorrectStep, DenoiseStep, FillStep, MatchStep, MedianStep,
             PhaseStep, ReduceStep, RescaleStep, SandStep, StitchStep, StripesStep, TransposeStep]


class Tables(TypedDict, total=False):
    """A whole job file."""

    kind: Literal["bin", "convolve", "correct", "denoise", "fill", "match", "median", "phase",
                  "reduce", "rescale", "sand", "stitch", "stripes", "transpose"]
    name: str
    until: str
    until_saved: str
    input: str | PathLike[str] | Input
    output: str | PathLike[str] | Output
    batch: Batch
    sweep: Mapping[str, Sequence[Any]]
    run: Run
    step: Sequence[Step]
    bin: Bin
    convolve: Convolve
    correct: Correct
    denoise: Denoise
    fill: Fill
    match: Match
    median: Median
    phase: Phase
    reduce: Reduce
    rescale: Rescale
    sand: Sand
    stitch: Stitch
    stripes: Stripes
    transpose: Transpose
