"""The images that zarr_rules.py says are not allowed, as ome-zarr-models sees them."""
import pytest

import peer_readers
from zarr_rules import INVALID, write_image

# Of a text that is a number ome-zarr-models makes one. It does not look at omero in 0.5.
ALLOWED = {("a scale of texts", "0.4"), ("a scale of texts", "0.5"), ("a text in a window", "0.4"), ("a text in a window", "0.5"),
           ("a number as colour", "0.5"), ("omero without channels", "0.5")}


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_valid(version):
    write_image(version, {})
    assert peer_readers.validate("in.ome.zarr") == ""


@pytest.mark.parametrize("version", ["0.4", "0.5"])
@pytest.mark.parametrize("case", INVALID)
def test_invalid(version, case):
    write_image(version, INVALID[case][0])
    assert (peer_readers.validate("in.ome.zarr") == "") == ((case, version) in ALLOWED)
