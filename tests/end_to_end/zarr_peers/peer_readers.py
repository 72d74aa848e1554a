"""Programs that read Zarr and OME-Zarr, each as a function; all but Debian's zarr-python 2 are of PyPI."""
import contextlib
import io
import pathlib
import subprocess
import tempfile
import warnings

import napari.components
import ngff_zarr
import npe2
import numpy as np
import ome_zarr.io
import ome_zarr.reader
import ome_zarr_models
import ome_zarr_models.exceptions
import tensorstore
import zarr
import zarrs

assert zarrs.ZarrsCodecPipeline  # is named by its text below
ZARRS = {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}
DEBIAN = "/usr/bin/python3"  # has zarr-python 2, as python3-zarr
READ_BY_ZARR_2 = """import sys, numpy, zarr
assert zarr.__version__.startswith("2."), zarr.__version__
numpy.save(sys.argv[2], zarr.open(sys.argv[1], mode="r")[...])
"""


def is_version_2(folder):
    return pathlib.Path(folder, ".zarray").exists()


def by_zarr_3(folder):
    return zarr.open_array(folder, mode="r")[...]


def by_zarrs(folder):
    """Of zarrs every codec: strict, so that zarr-python unpacks nothing in its place."""
    with zarr.config.set(ZARRS):
        return zarr.open_array(folder, mode="r")[...]


def by_tensorstore(folder):
    driver = "zarr" if is_version_2(folder) else "zarr3"
    kept = {"driver": "file", "path": str(pathlib.Path(folder).absolute())}
    return tensorstore.open({"driver": driver, "kvstore": kept}, open=True).result().read().result()


def by_zarr_2(folder):
    with tempfile.TemporaryDirectory() as other:
        subprocess.run([DEBIAN, "-c", READ_BY_ZARR_2, folder, f"{other}/read.npy"], check=True)
        return np.load(f"{other}/read.npy")


def ome_of(folder):
    """What the root says of the image: of 0.4 its attributes, of 0.5 a member of them."""
    attributes = zarr.open_group(folder, mode="r").attrs.asdict()
    return attributes.get("ome", attributes)


def array_readers(folder):
    """The readers of an array in this folder."""
    readers = [by_zarr_3, by_zarrs, by_tensorstore]
    return [*readers, by_zarr_2] if is_version_2(folder) else readers


class Image:
    """What a program finds in an OME-Zarr; None for what it does not say."""

    def __init__(self, levels, names=None, units=None, scales=None, translations=None):
        self.levels = [np.asarray(level) for level in levels]
        self.names, self.units, self.scales, self.translations = names, units, scales, translations
        self.labels = self.colours = self.windows = None  # of channels
        self.shown = None  # axes, units and scale of each layer


def by_ome_zarr_py(folder):
    node = next(iter(ome_zarr.reader.Reader(ome_zarr.io.parse_url(folder))()))
    said = node.metadata
    transforms = [{each["type"]: each[each["type"]] for each in level} for level in said["coordinateTransformations"]]
    found = Image(node.data, [axis["name"] for axis in said["axes"]], [axis.get("unit") for axis in said["axes"]],
                  [each["scale"] for each in transforms], [each.get("translation") for each in transforms])
    found.labels, found.windows = said["channel_names"], said["contrast_limits"]
    found.colours = ["".join(f"{round(255 * part):02X}" for part in colours[1]) for colours in said["colormap"]]
    return found


def by_ngff_zarr(folder):
    said = ngff_zarr.from_ome_zarr(folder, validate=True)
    first = said.images[0]
    names = list(first.dims)
    found = Image([image.data for image in said.images], names, [(first.axes_units or {}).get(name) for name in names],
                  [[image.scale[name] for name in names] for image in said.images],
                  [[image.translation[name] for name in names] for image in said.images])
    channels = said.metadata.omero.channels
    found.labels, found.colours = [each.label for each in channels], [each.color for each in channels]
    found.windows = [[each.window.start, each.window.end] for each in channels]
    return found


def by_napari(folder):
    """What napari shows, without a window: a layer for each channel, stacked again along their axis. Its reader takes
    the scale of level 0 alone."""
    npe2.PluginManager.instance().discover()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        layers = napari.components.ViewerModel().open(folder, plugin="napari-ome-zarr")
    names = [axis["name"] for axis in ome_of(folder)["multiscales"][0]["axes"]]
    levels = list(zip(*(layer.data if layer.multiscale else [layer.data] for layer in layers), strict=True))
    found = Image([np.stack(level, names.index("c")) if "c" in names else level[0] for level in levels])
    found.labels = [layer.name for layer in layers]
    found.colours = ["".join(f"{round(255 * part):02X}" for part in layer.colormap.colors[-1][:3]) for layer in layers]
    found.windows = [list(layer.contrast_limits) for layer in layers]
    found.shown = [(list(layer.axis_labels), [str(unit) for unit in layer.units], list(layer.scale)) for layer in layers]
    return found


def validate(folder):
    """What ome-zarr-models says is wrong; empty if it is valid."""
    with warnings.catch_warnings(action="error", category=ome_zarr_models.exceptions.ValidationWarning):
        try:
            ome_zarr_models.open_ome_zarr(folder)
        except (RuntimeError, ValueError, Warning) as error:
            return str(error)
    return ""
