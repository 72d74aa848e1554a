#!/usr/bin/env python3
"""Puts the axes of a volume in another order within a torch pipeline on a GPU.

    python torch_transpose.py [--extent 256]

A stack of projections (angle, row, column) becomes sinograms (row, angle, column), is filtered
along its angles by torch and comes back. All of it stays on the GPU, in one stream, and nothing
waits before the end. Without torch or a GPU it says so and does nothing.
"""
from __future__ import annotations

import argparse
import sys

import runner


def main() -> int:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--extent", type=int, default=256)
    extent = parser.parse_args().extent
    try:
        import torch
    except ImportError:
        print("skipped: torch is not installed")
        return 0
    if not torch.cuda.is_available():
        print("skipped: torch finds no GPU")
        return 0
    generator = torch.Generator(device="cuda").manual_seed(7)
    scan = torch.rand((extent, extent // 2, extent), device="cuda", generator=generator)

    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        sinograms = runner.transpose(scan, (1, 0, 2))
        spectra = torch.fft.rfft(sinograms, dim=1)
        spectra[:, spectra.shape[1] // 2:] = 0
        smooth = torch.fft.irfft(spectra, n=extent, dim=1)
        smooth = runner.median(smooth, [3, 3])
        back = runner.transpose(smooth, (1, 0, 2))

        turned = torch.empty((extent, extent // 2, extent), device="cuda")
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(10):
            runner.transpose(scan, (2, 1, 0), out=turned)
        end.record()
    stream.synchronize()

    if not torch.equal(sinograms, scan.permute(1, 0, 2)):
        print("the sinograms are wrong", file=sys.stderr)
        return 1
    if not torch.equal(turned, scan.permute(2, 1, 0)):
        print("the turned volume is wrong", file=sys.stderr)
        return 1
    seconds = start.elapsed_time(end) / 10 / 1000
    gib = 2 * scan.nbytes / seconds / 2**30
    print(f"{list(scan.shape)} to {list(sinograms.shape)} and back to {list(back.shape)}; "
          f"a permutation of the axes moves {gib:.0f} GiB/s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
