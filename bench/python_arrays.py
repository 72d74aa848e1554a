#!/usr/bin/env python3
"""Times the Python package: what a call costs over its kernel, and transpositions against numpy,
cupy and torch. Prints JSON.

    python bench/python_arrays.py [--repeats 7] [--extents 1024 16384] > results.json

Times are seconds, the least of the repeats and all of them. Libraries that are missing, or find no
GPU, are named under "missing".
"""
from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import runner


def times(call: Callable[[], Any], repeats: int, wait: Callable[[], None]) -> dict[str, Any]:
    """Each of so many calls with all that it starts; the first is reported by itself."""
    all_seconds = []
    for _ in range(repeats + 1):
        wait()
        begin = time.perf_counter()
        made = call()
        wait()
        all_seconds.append(time.perf_counter() - begin)
        del made
    return {"first": all_seconds[0], "least": min(all_seconds[1:]), "all": all_seconds[1:]}


def calls_a_second(call: Callable[[], Any], wait: Callable[[], None], count: int = 2000
                   ) -> dict[str, float]:
    """Seconds a call takes the host, and the device and host together, one after the other; and
    with a wait after each."""
    call()
    wait()
    begin = time.perf_counter()
    for _ in range(count):
        call()
    host = time.perf_counter() - begin
    wait()
    whole = time.perf_counter() - begin
    begin = time.perf_counter()
    for _ in range(count):
        call()
        wait()
    waited = time.perf_counter() - begin
    return {"host": host / count, "whole": whole / count, "waited": waited / count}


def device_seconds(torch: Any, call: Callable[[], Any], count: int = 200) -> float:
    """What a call takes the device: a CUDA graph of many calls has no host in it."""
    graph = torch.cuda.CUDAGraph()
    call()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        for _ in range(count):
            call()
    graph.replay()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    graph.replay()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1000 / count


def overhead(cupy: Any, torch: Any) -> dict[str, Any]:
    """Calls on float32 1024²."""
    results: dict[str, Any] = {}
    taps = [0.25, 0.5, 0.25]
    if cupy is not None:
        x = cupy.random.rand(1024, 1024, dtype=cupy.float32)
        out = cupy.empty_like(x)
        stream = cupy.cuda.get_current_stream()
        results["cupy"] = {
            "runner.transpose": calls_a_second(lambda: runner.transpose(x, (1, 0)),
                                               stream.synchronize),
            "runner.transpose, out": calls_a_second(lambda: runner.transpose(x, (1, 0), out=out),
                                                    stream.synchronize),
            "runner.convolve": calls_a_second(lambda: runner.convolve(x, taps, taps),
                                              stream.synchronize),
            "runner.median": calls_a_second(lambda: runner.median(x, [3, 3]), stream.synchronize),
            "cupy.ascontiguousarray(x.T)": calls_a_second(lambda: cupy.ascontiguousarray(x.T),
                                                          stream.synchronize),
            "x + 1": calls_a_second(lambda: x + 1, stream.synchronize)}
    if torch is not None:
        t = torch.rand(1024, 1024, device="cuda")
        wait = torch.cuda.synchronize
        calls = {"runner.transpose": lambda: runner.transpose(t, (1, 0)),
                 "runner.convolve": lambda: runner.convolve(t, taps, taps),
                 "runner.median": lambda: runner.median(t, [3, 3]),
                 "t.permute(1, 0).contiguous()": lambda: t.permute(1, 0).contiguous()}
        results["torch"] = {name: {**calls_a_second(call, wait),
                                   "device": device_seconds(torch, call)}
                            for name, call in calls.items()}
    return results


def transpositions(extent: int, repeats: int, cupy: Any, torch: Any) -> dict[str, Any]:
    """float32 extent², transposed: on the host, through a GPU, and on it."""
    x = np.random.default_rng(1).random((extent, extent), dtype=np.float32)
    wanted = np.ascontiguousarray(x.T)

    def nothing() -> None:
        """Work on the host is done at its end."""

    results = {"numpy.ascontiguousarray": times(lambda: np.ascontiguousarray(x.T), repeats, nothing),
               "runner, cpu": times(lambda: runner.transpose(x, (1, 0), backend="cpu"), repeats,
                                    nothing)}
    out = np.empty_like(wanted)
    if cupy is not None or torch is not None:
        results["runner, cuda"] = times(lambda: runner.transpose(x, (1, 0), backend="cuda"),
                                        repeats, nothing)
        results["runner, cuda, out"] = times(
            lambda: runner.transpose(x, (1, 0), backend="cuda", out=out), repeats, nothing)
        assert out.tobytes() == wanted.tobytes()
    if cupy is not None:
        d = cupy.asarray(x)
        wait = cupy.cuda.Device().synchronize
        results["cupy with copies"] = times(
            lambda: cupy.asnumpy(cupy.ascontiguousarray(cupy.asarray(x).T)), repeats, wait)
        results["cupy on the device"] = times(lambda: cupy.ascontiguousarray(d.T), repeats, wait)
        results["runner on cupy's array"] = times(lambda: runner.transpose(d, (1, 0)), repeats,
                                                  wait)
        assert runner.transpose(d, (1, 0)).get().tobytes() == wanted.tobytes()
        del d
        cupy.get_default_memory_pool().free_all_blocks()
    if torch is not None:
        t = torch.from_numpy(x).cuda()
        wait = torch.cuda.synchronize
        results["torch with copies"] = times(
            lambda: torch.from_numpy(x).cuda().permute(1, 0).contiguous().cpu().numpy(), repeats,
            wait)
        results["torch on the device"] = times(lambda: t.permute(1, 0).contiguous(), repeats, wait)
        results["runner on torch's tensor"] = times(lambda: runner.transpose(t, (1, 0)), repeats,
                                                    wait)
    return results


def main() -> None:
    """See the module's text."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--extents", type=int, nargs="*", default=[1024, 16384])
    arguments = parser.parse_args()
    missing = {}
    found: dict[str, Any] = {"cupy": None, "torch": None}
    try:
        import cupy
        cupy.cuda.runtime.getDeviceCount()
        found["cupy"] = cupy
    except Exception as error:  # noqa: BLE001: whatever stands against it is reported
        missing["cupy"] = str(error)
    try:
        import torch
        if not torch.cuda.is_available():
            raise RuntimeError("torch finds no GPU")
        found["torch"] = torch
    except Exception as error:  # noqa: BLE001
        missing["torch"] = str(error)
    results: dict[str, Any] = {
        "python": platform.python_version(), "numpy": np.__version__, "missing": missing,
        "libraries": {name: module.__version__ for name, module in found.items() if module}}
    if found["torch"] is not None:
        results["gpu"] = found["torch"].cuda.get_device_name()
    results["calls, float32 1024²"] = overhead(found["cupy"], found["torch"])
    for extent in arguments.extents:
        results[f"transpose, float32 {extent}²"] = transpositions(
            extent, arguments.repeats, found["cupy"], found["torch"])
    json.dump(results, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
