"""Random steps of pipelines, for pipelines.py: each gives the lines of a [[step]] table."""
import h5py

BOUNDARIES = ["constant", "nearest", "reflect", "mirror", "wrap"]
TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64"]


def taps(random):
    radius = int(random.choice([0, 1, 2, 5, 20], p=[0.2, 0.35, 0.25, 0.15, 0.05]))
    return str([float(tap) for tap in random.normal(size=2 * radius + 1) / (radius + 1)])


def convolve(random, shape, dtype):
    if len(shape) < 2:
        return None
    deep = len(shape) == 3 and random.random() < 0.4
    text = (f"row_taps = {taps(random)}\ncolumn_taps = {taps(random)}\n"
            f'{f"depth_taps = {taps(random)}" if deep else ""}\n'
            f'boundary = "{random.choice(BOUNDARIES)}"\nfill = 1.5\n')
    return text + (f'dtype = "{random.choice(TYPES)}"\n' if random.random() < 0.6 else "")


def patches(random, shape):
    """Keys of the two kinds that match patches."""
    z = int(random.integers(1, 3)) if len(shape) == 3 and shape[0] > 1 else 1
    return f"patch = [{z}, 2, 2]\nwindow = [{2 * z - 1}, 3, 5]\ncount = 4\n"


def is_volume(shape, dtype):
    return len(shape) in (2, 3) and min(shape[-2:]) >= 3 and dtype in ("uint8", "uint16", "float32")


def denoise(random, shape, dtype):
    if not is_volume(shape, dtype):
        return None
    sigma = random.choice(['"auto"', "0.1", "3.0"])
    method = random.choice(["nlm", "bm4d"], p=[0.8, 0.2])
    same = f'dtype = "{dtype}"\n' if random.random() < 0.5 else ""
    return f'method = "{method}"\nsigma = {sigma}\nstep = 1\n{patches(random, shape)}{same}'


def rescale(random, shape, dtype):
    wide = {"uint8": 255.0, "uint16": 65535.0}.get(dtype, 1.0)
    source = random.choice([f"[0.0, {wide}]", '"extremes"', "{ percentiles = [5, 90] }"],
                           p=[0.6, 0.2, 0.2])
    return (f"from = {source}\n"
            f'dtype = "{random.choice(["uint8", "uint16", "float32", "float64", "int16"])}"\n')


def bin(random, shape, dtype):
    if len(shape) < 2:
        return None
    axes = 3 if len(shape) == 3 and random.random() < 0.5 else 2
    factors = [int(random.integers(1, min(4, n) + 1)) for n in shape[-axes:]]
    edge = random.choice(["drop", "partial"])
    value = random.choice(["mean", "sum"], p=[0.7, 0.3])
    kept = f'dtype = "{dtype}"\n' if random.random() < 0.7 else ""
    return f'factors = {factors}\nedge = "{edge}"\nvalue = "{value}"\n{kept}'


def correct(random, shape, dtype):
    """Fields by number, or images in a file of their own, some of whose pixels are dead."""
    if len(shape) < 2:
        return None
    name = f"fields{random.integers(1 << 30)}.h5"
    wide = {"uint8": 255.0, "uint16": 65535.0}.get(dtype, 1.0)
    with h5py.File(name, "w") as file:
        file["flat"] = (random.random((3, *shape[-2:])) * wide).astype("float32")
    dark = random.choice(["0.125", f'{{ file = "{name}", dataset = "/flat", reduce = "mean" }}'])
    flat = random.choice([f"{0.9 * wide}",
                          f'{{ file = "{name}", dataset = "/flat", reduce = "median" }}'])
    more = random.choice(["", "clip = [0.1, 0.75]\n", "negative_log = true\nfloor = 0.25\n"])
    return f"dark = {dark}\nflat = {flat}\ndead = 0.5\n{more}"


def phase(random, shape, dtype):
    if len(shape) < 2:
        return None
    method = random.choice(["paganin", "pixel"])
    return (f'energy = 25\ndistance = {random.choice([0.1, 0.5])}\npixel_size = 2\ndelta_beta = 150\n'
            f'method = "{method}"\nnegative_log = {random.choice(["true", "false"])}\n')


def reduce(random, shape, dtype):
    names = ["x", "y", "z"][:min(3, len(shape))]
    over = random.choice(names, random.integers(1, len(names) + 1), replace=False).tolist()
    if len(shape) < 3 or len(over) == len(shape):
        return None
    operation = random.choice(["mean", "sum", "min", "max", "std", "median"])
    return f'operation = "{operation}"\nover = {over}\n'.replace("'", '"')


def stripes(random, shape, dtype):
    method = random.choice(["sort", "large", "dead", "all"], p=[0.4, 0.2, 0.2, 0.2])
    return f'method = "{method}"\nsize = {random.choice([1, 2, 5, 21])}\n' if len(shape) > 1 else None


def transpose(random, shape, dtype):
    if len(shape) != 3:
        return None
    return f"permutation = {[int(axis) for axis in random.permutation(3)]}\n"


def match(random, shape, dtype):
    return patches(random, shape) + "step = 2\n" if is_volume(shape, dtype) else None


# Each with how often it is chosen; the last may only end a pipeline.
BETWEEN = {convolve: 6, correct: 3, denoise: 2, rescale: 3, bin: 3, phase: 2, stripes: 2, transpose: 1}
LAST = {match: 1, reduce: 1}


def random_step(random, shape, dtype, last):
    """The kind and the lines of a step that takes this input."""
    choices = {**BETWEEN, **(LAST if last else {})}
    weights = [weight / sum(choices.values()) for weight in choices.values()]
    while True:
        kind = list(choices)[random.choice(len(choices), p=weights)]
        lines = kind(random, shape, dtype)
        if lines is not None:
            return kind.__name__, lines
        if all(other(random, shape, dtype) is None for other in choices):
            return None
