"""Times of work that cupy queues on a GPU."""
import cupy


def median_time(work, launches):
    """Milliseconds, and the spread from the tenth to the ninetieth percentile as a share of them."""
    for _ in range(2):
        work()
    times = []
    for _ in range(launches):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        work()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(begin, end))
    times.sort()
    n = len(times)
    return times[n // 2], (times[n * 9 // 10] - times[n // 10]) / times[n // 2]
