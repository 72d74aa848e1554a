"""What matching and denoising are to make, for small volumes: plain numpy, apart from the kernels."""
import itertools

import numpy as np

NONE = np.uint64(2**64 - 1)


def fused(e, q):
    """e·e + q in float32, rounded once: the sum in float64 is rounded to odd first."""
    product = e.astype("f8") ** 2
    q = q.astype("f8")
    total = product + q
    part = total - product
    rest = (product - (total - part)) + (q - part)
    bits = total.view("i8")
    even = (rest != 0) & (bits % 2 == 0)
    return (bits + np.where(even, np.sign(rest).astype("i8"), 0)).view("f8").astype("f4")


def corners(extent, patch, step):
    last = extent - patch
    at = list(range(0, last + 1, step))
    return at if at[-1] == last else at + [last]


def squares(a, b, patch):
    """D of the patches of two volumes of one shape, at every corner."""
    e = a - b
    pz, py, px = patch
    z, y, x = (n - p + 1 for n, p in zip(e.shape, patch))
    q = e[:z] * e[:z]
    for i in range(1, pz):
        q = fused(e[i:i + z], q)
    rows = q[:, :y].copy()
    for j in range(1, py):
        rows += q[:, j:j + y]
    sums = rows[:, :, :x].copy()
    for k in range(1, px):
        sums += rows[:, :, k:k + x]
    return sums


def match(volume, patch=(3, 3, 3), window=(11, 11, 11), count=16, step=1, threshold=np.inf,
          order="ascending"):
    """index, distance, count as the job stores them."""
    volume = volume.astype("f4")
    grids = [corners(n, p, step) for n, p in zip(volume.shape, patch)]
    grid = np.stack(np.meshgrid(*grids, indexing="ij"), -1).reshape(-1, 3)
    last = np.array(volume.shape) - patch
    half = [min(w // 2, int(n)) for w, n in zip(window, last)]
    sums, places = [], []
    for offset in itertools.product(*(range(-h, h + 1) for h in half)):
        low = [max(0, -o) for o in offset]
        high = [n - max(0, o) for n, o in zip(volume.shape, offset)]
        own = tuple(slice(a, b) for a, b in zip(low, high))
        other = tuple(slice(a + o, b + o) for a, b, o in zip(low, high, offset))
        d = squares(volume[own], volume[other], patch)
        found = np.full(len(grid), np.inf, "f4")
        to = grid + offset
        there = np.all((to >= 0) & (to <= last), axis=1)
        found[there] = d[tuple((grid[there] - low).T)]
        sums.append(found)
        places.append(np.ravel_multi_index(tuple(np.where(there, to.T, 0)), volume.shape))
    sums, places = np.array(sums).T, np.array(places).T.astype("u8")
    distance = sums / np.float32(np.prod(patch))
    sums[~(distance.astype("f8") <= threshold)] = np.inf
    chosen = np.argsort(sums, axis=1, kind="stable")[:, :count]
    distance = np.take_along_axis(np.where(np.isinf(sums), np.inf, distance), chosen, 1)
    index = np.where(np.isinf(distance), NONE, np.take_along_axis(places, chosen, 1))
    missing = count - index.shape[1]
    index = np.pad(index, ((0, 0), (0, max(0, missing))), constant_values=NONE)
    distance = np.pad(distance, ((0, 0), (0, max(0, missing))), constant_values=np.inf)
    counts = (index != NONE).sum(1).astype("i4")
    if order == "descending":
        for i, n in enumerate(counts):
            index[i, :n] = index[i, :n][::-1]
            distance[i, :n] = distance[i, :n][::-1]
    return index, distance.astype("f4"), counts


def nlm(volume, sigma, strength=0.6, patch=(3, 3, 3), window=(11, 11, 11), count=16, step=1,
        threshold=np.inf):
    """In float64."""
    index, distance, counts = match(volume, patch, window, count, step, threshold)
    grids = [corners(n, p, step) for n, p in zip(volume.shape, patch)]
    sums, covering = np.zeros(volume.shape), np.zeros(volume.shape)
    h2 = (strength * sigma) ** 2
    for row, corner in enumerate(itertools.product(*grids)):
        total, weights = np.zeros(patch), 0.0
        for place, d in zip(index[row, :counts[row]], distance[row]):
            over = max(float(d) - 2 * sigma**2, 0)
            weight = np.exp(-over / h2) if h2 > 0 else float(over == 0)
            at = np.unravel_index(int(place), volume.shape)
            total += weight * volume[tuple(slice(a, a + p) for a, p in zip(at, patch))]
            weights += weight
        box = tuple(slice(a, a + p) for a, p in zip(corner, patch))
        sums[box] += total / weights
        covering[box] += 1
    return sums / covering


def window_means(volume, sigma, strength=0.6, patch=(3, 3, 3), window=(11, 11, 11)):
    """nlm of all candidates, in float64, offset by offset."""
    volume = volume.astype("f8")
    grid = [n - p + 1 for n, p in zip(volume.shape, patch)]
    half = [min(w // 2, n - 1) for w, n in zip(window, grid)]
    h2 = (strength * sigma) ** 2
    values, weights = np.zeros(volume.shape), np.zeros(volume.shape)
    for offset in itertools.product(*(range(-h, h + 1) for h in half)):
        own = tuple(slice(max(0, -o), n - max(0, o)) for n, o in zip(volume.shape, offset))
        other = tuple(slice(max(0, o), n - max(0, -o)) for n, o in zip(volume.shape, offset))
        square = (volume[own] - volume[other]) ** 2
        found = np.lib.stride_tricks.sliding_window_view(square, patch)
        over = np.maximum(found.mean((3, 4, 5)) - 2 * sigma**2, 0)
        weight = np.exp(-over / h2) if h2 > 0 else (over == 0).astype("f8")
        covered = np.zeros(square.shape)
        for within in itertools.product(*map(range, patch)):
            covered[tuple(slice(i, i + n) for i, n in zip(within, weight.shape))] += weight
        values[own] += covered * volume[other]
        weights[own] += covered
    return values / weights


def cosines(n):
    """Rows are the orthonormal DCT-II."""
    k, j = np.mgrid[:n, :n]
    return np.sqrt(np.where(k == 0, 1, 2) / n) * np.cos(np.pi * (j + 0.5) * k / n)


def haar(n):
    """Rows are the orthonormal Haar functions, n a power of two."""
    if n == 1:
        return np.ones((1, 1))
    smaller = haar(n // 2)
    return np.vstack([np.kron(smaller, [1, 1]), np.kron(np.eye(n // 2), [1, -1])]) / np.sqrt(2)


def bm4d_group(voxels, guide, sigma, matrices):
    """The sum of the squares of what a group's coefficients are multiplied by, and the estimates."""
    there, back = "ga,zb,yc,xd,abcd->gzyx", "ga,zb,yc,xd,gzyx->abcd"
    spectrum = np.einsum(there, *matrices, voxels, optimize=True)
    if guide is None:
        keep = np.abs(spectrum) >= 2.7 * sigma
        keep[0, 0, 0, 0] = True
    else:
        square = np.einsum(there, *matrices, guide, optimize=True) ** 2
        keep = square / (square + sigma**2)
    return np.sum(keep.astype("f8")**2), np.einsum(back, *matrices, spectrum * keep, optimize=True)


def bm4d_pass(noisy, first, sigma, patch, reach, count, step, threshold):
    """In float64, but for the matching; `first` is the first pass' result, in float32, or None."""
    index, distance, counts = match(noisy.astype("f4") if first is None else first, patch, reach, count,
                             step, threshold)
    sums, weights = np.zeros(noisy.shape), np.zeros(noisy.shape)
    # Cosines, and wavelets along axes of 4 or 8 voxels.
    bases = [[cosines(n) for n in patch], [haar(n) if n in (4, 8) else cosines(n) for n in patch]]
    window = np.ones(patch)
    for axis, n in enumerate(patch):
        inner = np.where((np.arange(n) > 0) & (np.arange(n) < n - 1), 2, 1)
        window *= np.expand_dims(inner, [i for i in range(3) if i != axis])
    own = [np.ravel_multi_index(corner, noisy.shape) for corner in itertools.product(
        *(corners(n, p, step) for n, p in zip(noisy.shape, patch)))]
    for row, found in enumerate(counts):
        group = 1 << int(np.log2(found))
        members = index[row, :group].copy()
        if own[row] not in members:
            members[-1] = own[row]
        boxes = [tuple(slice(a, a + p) for a, p in zip(np.unravel_index(int(i), noisy.shape), patch))
                 for i in members]
        voxels = [noisy[box] for box in boxes]
        guide = None if first is None else [first[box].astype("f8") for box in boxes]
        filtered = [bm4d_group(voxels, guide, sigma, [haar(group), *basis]) for basis in bases]
        squares, estimates = min(filtered, key=lambda one: one[0])  # the cosines where both are equal
        weight = 1 / max(squares, 1 / 256)
        most = (3 if first is None else 0.25) * sigma**2
        for box, estimate, place, d in zip(boxes, estimates, members, distance[row]):
            part = window * (weight if place == own[row] or d <= most else weight / 8)
            sums[box] += part * estimate
            weights[box] += part
    return sums / weights


def bm4d(volume, sigma, patch=(4, 4, 4), window=(11, 11, 11), count=16, step=3, threshold=np.inf):
    keys = (sigma, patch, window, count, step, threshold)
    noisy = volume.astype("f4").astype("f8")
    return bm4d_pass(noisy, bm4d_pass(noisy, None, *keys).astype("f4"), *keys)


def anscombe(counts):
    return 2 * np.sqrt(np.maximum(counts, 0) + 0.375)


def counts_of(d):
    """The unbiased inverse (Mäkitalo and Foi)."""
    root = np.sqrt(1.5)
    d = np.maximum(d, root)
    return np.maximum(
        d**2 / 4 + root / 4 / d - 11 / 8 / d**2 + 5 / 8 * root / d**3 - 1 / 8, 0)
