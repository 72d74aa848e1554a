"""The sand automaton in numpy, from its specification alone: what whole jobs are compared with."""
import numpy as np

CHANCES = {"sand_slide": 0.4, "sand_fall": 0.9, "water_fall": 1.0, "water_diagonal": 0.6,
           "water_spread": 0.9}
EMPTY, WATER, SAND, WALL = range(4)


def threshold(chance):
    """The smallest k with float(k) / 65535.0f >= float(chance)."""
    k = np.arange(65536, dtype=np.float32) / np.float32(65535)
    enough = np.flatnonzero(k >= np.float32(chance))
    return int(enough[0]) if len(enough) else 65536


def draws(x, y, generation, seed):
    """The 16-bit draws of the blocks at x (columns) and y (rows), a function of the salt."""
    of_x = x.astype(np.uint32) * np.uint32(374761393)
    of_y = y.astype(np.uint32) * np.uint32(668265263)
    rest = (generation * 1274126177 ^ seed * 2654435769) & 0xFFFFFFFF

    def draw(salt):
        n = of_x[None, :] ^ of_y[:, None] ^ np.uint32(rest ^ (salt * 387413 & 0xFFFFFFFF))
        n = (n ^ (n >> np.uint32(13))) * np.uint32(1274126177)
        return n & np.uint32(0xFFFF)
    return draw


def step(grid, generation, seed=0, chances=CHANCES):
    """The grid one generation on."""
    height, width = grid.shape
    ox, oy = [(0, 0), (1, 1), (0, 1), (1, 0)][generation % 4]
    x = np.arange(ox, width - 1, 2)
    y = np.arange(oy, height - 1, 2)
    if not len(x) or not len(y):
        return grid.copy()
    below = np.vstack([grid, np.full((2, width), WALL, np.uint8)])
    tl, tr = grid[np.ix_(y, x)], grid[np.ix_(y, x + 1)]
    bl, br = grid[np.ix_(y + 1, x)], grid[np.ix_(y + 1, x + 1)]
    floor = (below[np.ix_(y + 2, x)] >= WATER) & (below[np.ix_(y + 2, x + 1)] >= WATER)
    uniform = (tl == tr) & (tl == bl) & (tl == br)
    draw = draws(x, y, generation, seed)
    luck = {name: draw(salt) < threshold(chances[name]) for salt, name in
            enumerate(["sand_slide", "sand_fall", "water_fall", "water_diagonal", "water_spread"])}
    spread_lower = draw(5) < threshold(chances["water_spread"])

    def swap(a, b, where):
        return np.where(where, b, a), np.where(where, a, b)

    go = ~uniform
    slides = go & (((tl == SAND) & (tr < SAND)) | ((tr == SAND) & (tl < SAND))) & (bl < SAND) & \
        (br < SAND) & luck["sand_slide"]
    tl, tr = swap(tl, tr, slides)
    falls = go & ~slides
    down = falls & (tl == SAND) & (bl < SAND)
    aside = falls & (tl == SAND) & ~(bl < SAND) & (tr < SAND) & (br < SAND)
    tl, bl = swap(tl, bl, down & luck["sand_fall"])
    tl, br = swap(tl, br, aside)
    down = falls & (tr == SAND) & (br < SAND)
    aside = falls & (tr == SAND) & ~(br < SAND) & (tl < SAND) & (bl < SAND)
    tr, br = swap(tr, br, down & luck["sand_fall"])
    tr, bl = swap(tr, bl, aside)
    down = go & (tl == WATER) & (bl < WATER) & luck["water_fall"]
    aside = go & (tl == WATER) & ~down & (tr < WATER) & (br < WATER) & luck["water_diagonal"]
    tl, bl = swap(tl, bl, down)
    tl, br = swap(tl, br, aside)
    dropped = down | aside
    down = go & (tr == WATER) & (br < WATER) & luck["water_fall"]
    aside = go & (tr == WATER) & ~down & (tl < WATER) & (bl < WATER) & luck["water_diagonal"]
    tr, br = swap(tr, br, down)
    tr, bl = swap(tr, bl, aside)
    dropped |= down | aside
    upper = go & ~dropped & (((tl == WATER) & (tr < WATER)) | ((tr == WATER) & (tl < WATER))) & \
        (((bl >= WATER) & (br >= WATER)) | luck["water_spread"])
    tl, tr = swap(tl, tr, upper)
    lower = go & (((bl == WATER) & (br < WATER)) | ((br == WATER) & (bl < WATER))) & \
        (floor | spread_lower)
    bl, br = swap(bl, br, lower)
    after = grid.copy()
    after[np.ix_(y, x)], after[np.ix_(y, x + 1)] = tl, tr
    after[np.ix_(y + 1, x)], after[np.ix_(y + 1, x + 1)] = bl, br
    return after


def advance(grid, first, generations, seed=0, chances=CHANCES):
    """The grid after each of the generations."""
    states = []
    for generation in range(first, first + generations):
        grid = step(grid, generation, seed, chances)
        states.append(grid)
    return states
