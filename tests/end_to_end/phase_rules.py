"""What phase retrieval must make, as docs/phase.md says, with numpy's transforms in float64: cases and
refusals for kind_runs.py.
"""
import math

import numpy as np

from kind_rules import Case

TOLERANCE = 1e-5  # relative to the largest value; without the logarithm
KEYS = {"energy": 25.0, "distance": 0.5, "pixel_size": 2.0, "delta_beta": 150.0}


def padded(extent):
    """The least product of 2, 3, 5 and 7 that is not below the extent."""
    while True:
        left = extent
        for prime in (2, 3, 5, 7):
            while left % prime == 0:
                left //= prime
        if left == 1:
            return extent
        extent += 1


def strength(keys):
    wavelength = 12.398419843320026e-10 / keys["energy"]  # metres
    return keys["delta_beta"] * wavelength * keys["distance"] / (4 * math.pi * (keys["pixel_size"] * 1e-6) ** 2)


def term(count, method):
    omega = 2 * np.pi * np.fft.fftfreq(count)
    return omega ** 2 if method == "paganin" else 2 - 2 * np.cos(omega)


def filtered(frame, keys, method="paganin", margin=None):
    """One projection, before the logarithm."""
    a = strength(keys)
    pads, lengths = [], []
    for extent in frame.shape:
        added = min(math.ceil(8 * math.sqrt(a)), -(-extent // 2)) if margin is None else margin
        length = padded(extent + 2 * added)
        before = (length - extent) // 2
        pads.append((before, length - extent - before))
        lengths.append(length)
    whole = np.pad(frame.astype("f8"), pads, "symmetric")
    divisor = 1 + a * np.add.outer(*(term(length, method) for length in lengths))
    whole = np.fft.ifft2(np.fft.fft2(whole) / divisor).real
    return whole[tuple(slice(before, before + extent) for (before, _), extent in zip(pads, frame.shape))]


def retrieved(array, keys, method="paganin", margin=None, floor=None):
    """`floor`: of the logarithm; None: without it."""
    frames = array.reshape(-1, *array.shape[-2:])
    made = np.stack([filtered(frame, keys, method, margin) for frame in frames]).reshape(array.shape)
    return (made if floor is None else -np.log(np.maximum(made, floor))).astype("f4")


def lines(keys, **more):
    words = {key: f'"{value}"' if isinstance(value, str) else str(value).lower()
             for key, value in {**keys, **more}.items() if value is not None}
    return "".join(f"{key} = {value}\n" for key, value in words.items())


def transmissions(random, shape, dtype="float32"):
    values = random.uniform(0.2, 1.1, shape)
    return (values * (1 if np.dtype(dtype).kind == "f" else 100)).astype(dtype)


def cases(random):
    for shape, dtype, method, margin, floor in [
            ((37, 41), "float32", "paganin", None, None), ((5, 23, 31), "uint16", "pixel", None, None),
            ((3, 2, 19, 7), "float64", "paganin", 3, 1e-6), ((4, 64, 130), "float32", "paganin", 0, 1e-6),
            ((3, 1, 17), "int32", "pixel", 20, None), ((6, 33, 1), "uint8", "paganin", None, None),
            ((2, 13, 211), "float32", "pixel", 100, 0.5), ((1, 1), "float32", "paganin", None, 1e-6)]:
        array = transmissions(random, shape, dtype)
        keys = lines(KEYS, method=method, margin=margin, negative_log=floor is not None,
                     floor=floor if floor is not None else None)
        yield Case(f"{shape} {dtype}, {method}, margin {margin}, floor {floor}", array, keys, None,
                   retrieved(array, KEYS, method, margin, floor), tolerance=TOLERANCE)


PROJECTION = np.ones((3, 4), "float32")
USUAL = lines(KEYS)
REFUSALS = [
    (3, ["phase needs at least two axes", "input.dataset", "[4]"], PROJECTION[0], USUAL, None),
    (3, ["too large for its transform", "16385 columns", "Bin"], np.ones((1, 16385), "uint8"), USUAL, None),
    (3, ["too large for its transform", "phase.margin", "8200"], PROJECTION, USUAL + "margin = 8200", None),
    (2, ["output.dtype", "phase", "rescale"], PROJECTION, USUAL, "uint16"),
    (2, ["phase.delta_beta", "missing"], PROJECTION, "", None),
    (2, ["phase.energy, phase.distance, phase.pixel_size", "keV", "metres", "micrometres"], PROJECTION,
     "delta_beta = 1.0", None),
    (2, ["phase.energy", "above 0", "got 0"], PROJECTION, lines({**KEYS, "energy": 0}), None),
    (2, ["phase.delta_beta", "got -1"], PROJECTION, lines({**KEYS, "delta_beta": -1}), None),
    (2, ["the filter is not finite", "metres"], PROJECTION, lines({**KEYS, "pixel_size": 1e-200}), None),
    (2, ["phase.method", "pixel"], PROJECTION, USUAL + 'method = "bronnikov"', None),
    (2, ["phase.margin", "0 to 16384"], PROJECTION, USUAL + "margin = -1", None),
    (2, ["phase.floor", "above 0"], PROJECTION, USUAL + "floor = 0.0", None),
]
