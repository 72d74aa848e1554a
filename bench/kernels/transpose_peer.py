"""Times torch and cupy on the cases of transpose_bench: transpose_peer.py TABLE [RUNS].

TABLE is what transpose_bench printed, in the same run on the same machine. Prints for every case the
peers' times, how many times as long as ours each takes, and at the end the median and the least of
these ratios.
"""
import re
import statistics
import sys

import cupy
import torch

TYPES = {"u8": (torch.uint8, cupy.uint8), "u16": (torch.int16, cupy.int16),
         "f32": (torch.float32, cupy.float32), "f64": (torch.float64, cupy.float64),
         "c128": (torch.complex128, cupy.complex128)}
CASE = re.compile(r"case (\w+) +(\d+)x(\d+)x(\d+) +(\d)(\d)(\d) +([\d.]+) ms")


def median_ms(work, event, runs):
    work()
    times = []
    for _ in range(runs):
        begin, end = event(), event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append((begin, end))
    return times


def torch_ms(name, shape, permutation, runs):
    bits = torch.randint(0, 255, shape + (TYPES[name][0].itemsize,), dtype=torch.uint8, device="cuda")
    array = bits.view(TYPES[name][0]).reshape(shape)
    del bits
    # contiguous() of what is contiguous copies nothing.
    work = (array.clone if permutation == (0, 1, 2) else array.permute(permutation).contiguous)
    pairs = median_ms(work, lambda: torch.cuda.Event(enable_timing=True), runs)
    return statistics.median(b.elapsed_time(e) for b, e in pairs)


def cupy_ms(name, shape, permutation, runs):
    count = shape[0] * shape[1] * shape[2] * cupy.dtype(TYPES[name][1]).itemsize
    array = cupy.random.randint(0, 255, count, dtype=cupy.uint8).view(TYPES[name][1]).reshape(shape)
    turned = array.transpose(permutation)
    work = array.copy if permutation == (0, 1, 2) else lambda: cupy.ascontiguousarray(turned)
    pairs = median_ms(work, cupy.cuda.Event, runs)
    return statistics.median(cupy.cuda.get_elapsed_time(b, e) for b, e in pairs)


def main():
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"# peers: torch {torch.__version__} permute().contiguous(), cupy {cupy.__version__} "
          f"ascontiguousarray(transpose()), median of {runs}")
    ratios = {"torch": [], "cupy": []}
    for line in open(sys.argv[1]):
        case = CASE.match(line)
        if case is None:
            continue
        name = case[1]
        shape = tuple(int(case[i]) for i in (2, 3, 4))
        permutation = tuple(int(case[i]) for i in (5, 6, 7))
        ours = float(case[8])
        peers = {"torch": torch_ms(name, shape, permutation, runs),
                 "cupy": cupy_ms(name, shape, permutation, runs)}
        torch.cuda.empty_cache()
        cupy.get_default_memory_pool().free_all_blocks()
        text = ""
        for peer, ms in peers.items():
            text += f"  {peer} {ms:9.4f} ms {ms / ours:7.2f} x"
            if permutation != (0, 1, 2):
                ratios[peer].append((ms / ours, f"{name} {shape} {permutation}"))
        print(f"peer {name:4} {'x'.join(map(str, shape)):16} {''.join(map(str, permutation))} "
              f"ours {ours:8.4f} ms{text}", flush=True)
    for peer, found in ratios.items():
        if found:
            found.sort()
            least = "; ".join(f"{ratio:.2f} {where}" for ratio, where in found[:3])
            print(f"# {peer}: ours is {found[len(found) // 2][0]:.2f} x as fast in the median of "
                  f"{len(found)} cases, least {least}")


main()
