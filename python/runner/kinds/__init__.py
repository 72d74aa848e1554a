"""One function for each kind of job.

Made by scripts/python-kinds from the keys that the program declares: change those, not this file.
"""
from ._bin import bin
from ._convolve import convolve
from ._correct import correct
from ._denoise import denoise
from ._fill import fill
from ._match import match
from ._median import median
from ._phase import phase
from ._reduce import reduce
from ._rescale import rescale
from ._sand import sand
from ._stitch import stitch
from ._stripes import stripes
from ._transpose import transpose

__all__ = ["bin", "convolve", "correct", "denoise", "fill", "match", "median", "phase", "reduce",
           "rescale", "sand", "stitch", "stripes", "transpose"]
