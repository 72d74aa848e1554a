"""Counted checks of a test that runs many jobs."""


class Checks:
    """Runs and failures; each failure is printed as it is found."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.count = self.failures = 0

    def check(self, right, what):
        if not right:
            self.failures += 1
            print(f"FAILED {what}", flush=True)
        return right
