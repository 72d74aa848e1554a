"""Times numpy on the cases of bench_transpose_cpu: transpose_numpy_peer.py TABLE [RUNS].

TABLE is what bench_transpose_cpu printed, in the same run on the same machine. Two forms: a new
array by ascontiguousarray(transpose()), as people write it, and copyto() into one that is there.
Prints how many times as long as ours each takes, and at the end the median and the least of these
ratios.
"""
import re
import statistics
import sys
import time

import numpy as np

TYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32, "f64": np.float64}
CASE = re.compile(r"case (\w+) +(\d+)x(\d+)x(\d+) +(\d)(\d)(\d) +([\d.]+) ms")


def median_ms(work, runs):
    work()
    times = []
    for _ in range(runs):
        begin = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - begin))
    return statistics.median(times)


def main():
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(f"# peer: numpy {np.__version__}, median of {runs}")
    ratios = {"ascontiguousarray": [], "copyto": []}
    array = None
    for line in open(sys.argv[1]):
        case = CASE.match(line)
        if case is None:
            continue
        shape = tuple(int(case[i]) for i in (2, 3, 4))
        permutation = tuple(int(case[i]) for i in (5, 6, 7))
        ours = float(case[8])
        if array is None or array.shape != shape or array.dtype != TYPES[case[1]]:
            count = shape[0] * shape[1] * shape[2] * np.dtype(TYPES[case[1]]).itemsize
            array = np.arange(count, dtype=np.uint8).view(TYPES[case[1]]).reshape(shape)
        turned = array.transpose(permutation)
        there = np.zeros(turned.shape, turned.dtype)
        # ascontiguousarray of what is contiguous copies nothing.
        new = array.copy if permutation == (0, 1, 2) else lambda: np.ascontiguousarray(turned)
        peers = {"ascontiguousarray": median_ms(new, runs),
                 "copyto": median_ms(lambda: np.copyto(there, turned), runs)}
        text = ""
        for peer, ms in peers.items():
            text += f"  {peer} {ms:9.2f} ms {ms / ours:6.2f} x"
            ratios[peer].append((ms / ours, f"{case[1]} {shape} {permutation}"))
        print(f"peer {case[1]:4} {'x'.join(map(str, shape))} {''.join(map(str, permutation))} "
              f"ours {ours:9.2f} ms{text}", flush=True)
    for peer, found in ratios.items():
        if found:
            found.sort()
            least = "; ".join(f"{ratio:.2f} {where}" for ratio, where in found[:3])
            print(f"# numpy {peer}: ours is {found[len(found) // 2][0]:.2f} x as fast in the median "
                  f"of {len(found)} cases, least {least}")


main()
