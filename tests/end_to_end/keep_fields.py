"""`output.keep_fields`: outputs of NXtomo scans that hold the flats and darks too.

Expected frames, keys and angles come from the input by numpy; h5py reads outputs as other programs do.
Where PyPI's nxtomo is installed, it loads one and writes it again.
"""
import json
import pathlib
import shutil

import h5py
import numpy as np
import pytest

from faulty_runs import Program
from harness import bad, call, good
from scan_outputs import ANGLES, KEY, SHAPE, scan, text

PROJECTIONS = np.flatnonzero(KEY == 0)
FIELDS = np.flatnonzero(KEY > 0)
DATA = "/entry0000/instrument/detector/data"
TAPS = "row_taps = [0.25, 0.5, 0.25]\ncolumn_taps = [1.0]"
MEDIAN = ("median", "size = [1, 1, 1]")  # leaves the frames as they are


def write_job(kind, keys, source="scan.nx", more="", output="o.nx", last="", keep="true"):
    pathlib.Path("job.toml").write_text(
        f'kind = "{kind}"\n[input]\nfile = "{source}"\n{more}\n[output]\nfile = "{output}"\nkeep_fields = {keep}\n'
        f'{last}\n[run]\nbackend = "cpu"\n[{kind}]\n{keys}\n')


def frames_of(name="scan.nx"):
    with h5py.File(name) as file:
        return file[DATA][()]


def check(name, made, kept=FIELDS, projections=PROJECTIONS):
    """`made`: what the job makes of the projections, by their numbers in the scan, in float64."""
    frames = np.sort(np.concatenate([projections, kept]))
    raw = frames_of()
    with h5py.File(name) as file:
        top = file["entry0000"]
        detector = top["instrument/detector"]
        data = detector["data"]
        assert text(top["definition"][()]) == "NXtomo" and data.shape[0] == len(frames)
        assert data.is_virtual and {each.file_name for each in data.virtual_sources()} == {"."}
        for key in ("image_key", "image_key_control"):
            assert (detector[key][()] == KEY[frames]).all()
        for place in ("sample/rotation_angle", "data/rotation_angle"):
            assert np.allclose(top[place][()], ANGLES[frames])
        assert (top["control/data"][()] == frames).all() and len(detector["count_time"]) == len(frames)
        for at, frame in enumerate(frames):
            wanted = made[frame] if frame in projections else raw[frame]
            assert (data[at].astype(float) == wanted).all(), frame
        return data[()]


def as_they_are():
    return frames_of().astype(float)


@pytest.mark.quick
def test_an_output_holds_all_frames():
    scan("scan.nx")
    write_job(*MEDIAN)
    call("job.toml", "--quiet")
    check("o.nx", as_they_are())
    assert "complete already" in call("job.toml").stderr
    assert "flats and darks: " in good("verify", "o.nx") and "5 projections, 2 flats, 1 dark" in good("inspect", "o.nx")
    plan = good("plan", "job.toml", says=".*\n?")
    assert "keeps 2 flats, 1 dark of the scan, 288 B: [8, 6, 8]" in plan, plan
    planned = json.loads(good("plan", "job.toml", "--json", says="(?s).*"))["outputs"]
    assert [each["kept"] for each in planned] == [{"flats": 2, "darks": 1, "bytes": 288, "shape": [8, 6, 8]}]
    # An earlier output without them is another.
    call("job.toml", "--set", "output.keep_fields=false", code=4)
    call("job.toml", "--quiet", "--set", "output.keep_fields=false", "--set", "output.overwrite=true")
    with h5py.File("o.nx") as file:
        assert file[DATA].shape[0] == len(PROJECTIONS)
    call("job.toml", "--quiet", "--set", "output.overwrite=true")
    check("o.nx", as_they_are())


@pytest.mark.quick
@pytest.mark.parametrize("kind,keys", [("convolve", TAPS),
                                       ("denoise", "sigma = 20.0\npatch = [1, 3, 3]\nwindow = [1, 5, 5]")])
def test_made_frames_are_those_of_the_job_without_them(kind, keys):
    scan("scan.nx")
    write_job(kind, keys, keep="false", output="p.nx")
    call("job.toml", "--quiet")
    made = as_they_are()
    made[PROJECTIONS] = frames_of("p.nx")
    write_job(kind, keys, last='dtype = "float32"' if kind == "convolve" else "")
    call("job.toml", "--quiet")
    if kind == "convolve":
        rows = np.pad(as_they_are(), ((0, 0), (0, 0), (1, 1)), mode="reflect")
        with h5py.File("o.nx") as file:
            data = file[DATA][()]
        assert data.dtype == np.float32 and (data[FIELDS] == frames_of()[FIELDS]).all()
        inner = (rows[..., :-2] + 2 * rows[..., 1:-1] + rows[..., 2:])[PROJECTIONS, :, 1:-1] / 4
        assert np.allclose(data[PROJECTIONS][..., 1:-1], inner)
    else:
        check("o.nx", made)


@pytest.mark.quick
def test_parts_of_a_scan():
    scan("scan.nx")
    for more, projections in (('frames = "::2"', PROJECTIONS[::2]), ('frames = "1:3"', PROJECTIONS[1:3])):
        write_job(*MEDIAN, more=more, last="overwrite = true")
        call("job.toml", "--quiet")
        check("o.nx", as_they_are(), projections=projections)
    write_job(*MEDIAN, more='region = { rows = "1:5", columns = "2:6" }', last="overwrite = true")
    call("job.toml", "--quiet")
    with h5py.File("o.nx") as file:
        assert (file[DATA][()] == frames_of()[:, 1:5, 2:6]).all()


@pytest.mark.quick
@pytest.mark.parametrize("last", ["", 'parts = 3', 'parts = "auto"', 'chunk = [2, 3, 4]\ncompression = "deflate"',
                                  'chunk = [1, 6, 8]', 'parts = 2\nchunk = [1, 3, 8]\ncompression = "deflate"'])
def test_the_same_bytes_in_every_layout(last):
    scan("scan.nx")
    files = []
    for ranks in (1, 2, 3):
        write_job(*MEDIAN, output=f"o{ranks}.nx", last=last)
        call("job.toml", "--quiet", ranks=ranks)
        check(f"o{ranks}.nx", as_they_are())
        with h5py.File(f"o{ranks}.nx") as file:
            files.append((file["/runner/fields"][()].tobytes(), file["/runner/field_hashes"][()].tobytes(),
                          file[DATA][()].tobytes()))
        assert "all right" in good("verify", f"o{ranks}.nx")
    assert files[0] == files[1] == files[2]


@pytest.mark.quick
def test_the_output_is_an_input():
    """The next job takes the projections of all its frames, and correct finds the flats and darks."""
    scan("scan.nx")
    write_job(*MEDIAN, last="parts = 2")
    call("job.toml", "--quiet")
    for source in ("scan.nx", "o.nx"):
        write_job("correct", "", source=source, output=f"c-{source}", keep="false")
        call("job.toml", "--quiet")
    assert (frames_of("c-o.nx") == frames_of("c-scan.nx")).all() and len(frames_of("c-o.nx")) == len(PROJECTIONS)
    assert "from 3 datasets or files, each in place" in good("plan", "job.toml", says=r"[^\n]*\n?")
    # An output that keeps them, made of one that keeps them.
    write_job(*MEDIAN, source="o.nx", output="again.nx")
    call("job.toml", "--quiet")
    check("again.nx", as_they_are())


def masked_scan(fill=None):
    """A scan whose flats, darks and projections have invalid elements: by a mask of all frames, or by a number."""
    scan("scan.nx")
    mask = np.random.default_rng(4).random(SHAPE) < 0.15
    mask[:, 1, 1] = True
    with h5py.File("scan.nx", "r+") as file:
        data = file[DATA]
        if fill is None:
            file["entry0000/instrument/detector/pixel_mask"] = mask.astype("u1")
        else:
            data[...] = np.where(mask, fill, data[()])
            data.attrs["_FillValue"] = np.uint16(fill)
    return mask


@pytest.mark.quick
@pytest.mark.parametrize("fill", [None, 7])
@pytest.mark.parametrize("last", ["", 'parts = 2\nchunk = [1, 3, 8]\ncompression = "deflate"'])
def test_invalid_elements_of_fields(fill, last):
    mask = masked_scan(fill)
    raw = frames_of()
    for kind, keys, dtype in ((*MEDIAN, "uint16"), ("convolve", "row_taps = [1.0]\ncolumn_taps = [1.0]", "float32")):
        write_job(kind, keys, last=f'{last}\noverwrite = true\ndtype = "{dtype}"' if kind == "convolve" else
                  f"{last}\noverwrite = true")
        call("job.toml", "--quiet")
        with h5py.File("o.nx") as file:
            data, lost = file[DATA][()], file[DATA].attrs["_FillValue"]
        assert data.dtype == dtype
        invalid = np.isnan(data) if dtype == "float32" else data == lost
        assert (invalid == mask).all() and (data[~mask] == raw[~mask]).all()
        assert "all right" in good("verify", "o.nx")
        for source in ("scan.nx", "o.nx"):
            write_job("correct", 'dead = "invalid"', source=source, output=f"c-{source}", keep="false",
                      last="overwrite = true")
            call("job.toml", "--quiet")
        assert np.array_equal(frames_of("c-o.nx"), frames_of("c-scan.nx"), equal_nan=True)


@pytest.mark.quick
def test_repair_of_invalid_fields():
    masked_scan()
    write_job(*MEDIAN)
    call("job.toml", "--quiet")
    good_bytes = pathlib.Path("o.nx").read_bytes()
    with h5py.File("o.nx") as file:
        place = file["/runner/fields"].id.get_offset() + 2 * (SHAPE[2] + 1)  # a masked element
    damaged = bytearray(good_bytes)
    damaged[place] ^= 0x10
    pathlib.Path("o.nx").write_bytes(damaged)
    call("verify", "o.nx", code=7)
    good("repair", "o.nx")
    assert pathlib.Path("o.nx").read_bytes() == good_bytes


@pytest.mark.quick
def test_invalid_fields_where_none_is_invalid():
    masked_scan()
    write_job("fill", "reach = [9, 9]\nrest = 0.0")
    bad(2, ["output.keep_fields", "may be invalid"], "job.toml", "--quiet")
    write_job("fill", "reach = [9, 9]\nrest = 0.0", keep="false")
    call("job.toml", "--quiet")


@pytest.mark.quick
def test_verify_and_repair_see_a_flipped_bit():
    scan("scan.nx")
    write_job(*MEDIAN)
    call("job.toml", "--quiet", "--set", f"run.chunk_rows={SHAPE[1]}")
    good_bytes = pathlib.Path("o.nx").read_bytes()
    with h5py.File("o.nx") as file:
        fields, made = (file[f"/runner/{name}"].id.get_offset() for name in ("fields", "projections"))
    frame = SHAPE[1] * SHAPE[2] * 2
    # Frames of the scan, and where in the file a bit of each is: dark 0, the last flat, a projection.
    for number, place in ((0, fields + 3), (7, fields + 2 * frame + 5), (4, made + 2 * frame + 9)):
        damaged = bytearray(good_bytes)
        damaged[place] ^= 0x10
        pathlib.Path("o.nx").write_bytes(damaged)
        assert f"wrong: frame {number}, rows " in call("verify", "o.nx", code=7).stdout
        record = json.loads(call("verify", "o.nx", "--json", code=7).stdout)
        wrong = record["wrong"] if number == 4 else record["wrong_kept"]
        assert [each["rows"] for each in wrong] == [[number * SHAPE[1], (number + 1) * SHAPE[1]]]
        assert f"frame {number}, " in call("certify", "o.nx", code=7).stderr
        assert f"repaired: frame {number}, " in good("repair", "o.nx")
        assert pathlib.Path("o.nx").read_bytes() == good_bytes
    pathlib.Path("c.json").write_text(good("certify", "o.nx"))
    good("certify", "--check", "c.json", "o.nx")


@pytest.mark.quick
def test_repair_of_packed_parts():
    """Made frames are in other files then, and kept ones in the output's own."""
    scan("scan.nx")
    write_job(*MEDIAN, last='parts = 2\nchunk = [1, 3, 8]\ncompression = "deflate"')
    call("job.toml", "--quiet")
    files = {name: pathlib.Path(name).read_bytes() for name in ("o.nx", "o.nx.parts/0000.h5")}
    with h5py.File("o.nx") as file, h5py.File("o.nx.parts/0000.h5") as part:
        places = file["/runner/fields"].id.get_offset(), part["rows"].id.get_chunk_info(0).byte_offset
    for (name, whole), place in zip(files.items(), places):
        damaged = bytearray(whole)
        damaged[place + 4] ^= 0x10
        pathlib.Path(name).write_bytes(damaged)
    record = json.loads(call("verify", "o.nx", "--json", code=7).stdout)
    assert record["wrong"] and [each["rows"] for each in record["wrong_kept"]] == [[0, SHAPE[1]]]
    good("repair", "o.nx")
    assert all(pathlib.Path(name).read_bytes() == whole for name, whole in files.items())


@pytest.mark.quick
def test_repair_refuses_another_scan():
    scan("scan.nx")
    write_job(*MEDIAN)
    call("job.toml", "--quiet")
    with h5py.File("o.nx", "r+") as file:
        file["/runner/fields"][0, 0, 0] ^= 1
    with h5py.File("scan.nx", "r+") as file:
        file[DATA][0, 2, 2] += 1
    damaged = pathlib.Path("o.nx").read_bytes()
    assert "flats and darks" in call("repair", "o.nx", code=7).stderr
    assert pathlib.Path("o.nx").read_bytes() == damaged


@pytest.mark.faults
@pytest.mark.share(0.4)
@pytest.mark.parametrize("last", ["", "parts = 2", 'chunk = [1, 6, 8]\ncompression = "deflate"'])
def test_a_kill_between_rows_and_record(last):
    """The run is killed where it writes the kept frames, where it completes the record, and where the output
    gets its name. What resumes it makes the file that an undisturbed run makes."""
    scan("scan.nx")
    write_job(*MEDIAN, last=last)
    program = Program()
    code, said = program.run([], fault="pwrite:log@*:o.nx.partial")
    assert code == 0, said
    calls = [line for line in pathlib.Path("fault.log").read_text().splitlines() if " log" in line or "pwrite" in line]
    wanted = frames_of("o.nx")
    count = len(calls)
    for fault in [f"pwrite:kill@{number}:o.nx.partial" for number in {1, count // 2, count - 3, count}] + [
            "link:kill@1", "rename:kill@1"]:
        pathlib.Path("o.nx").unlink()
        shutil.rmtree("o.nx.parts", ignore_errors=True)
        code, said = program.run([], fault=fault)
        if code == 0:  # there is no such call
            continue
        assert code == -9, said
        assert program.run(["--set", "run.chunk_rows=4"])[0] == 0
        assert (frames_of("o.nx") == wanted).all()
        check("o.nx", as_they_are())
        good("verify", "o.nx")
        assert sorted(each.name for each in pathlib.Path().glob("o.nx?*") if not each.is_dir()) == []


@pytest.mark.quick
@pytest.mark.parametrize("kind,keys,last,words", [
    ("correct", "", "", ["correct", "corrected by these already"]),
    ("bin", "factors = [1, 2, 2]", "", ["bin", "other extents"]),
    ("bin", "factors = [2, 1, 1]", "", ["bin", "other extents"]),
    ("transpose", "permutation = [1, 0, 2]", "", ["transpose", "another order"]),
    ("rescale", 'from = "extremes"', "", ["rescale", "of another unit"]),
    ("convolve", TAPS, 'dtype = "uint8"', ["uint8", "uint16", "output.dtype"]),
    ("convolve", TAPS, 'dtype = "int16"', ["int16", "uint16"])])
def test_refused_jobs(kind, keys, last, words):
    scan("scan.nx")
    write_job(kind, keys, last=last)
    bad(2, ["output.keep_fields", *words], "job.toml", "--quiet")


@pytest.mark.quick
def test_refused_inputs_and_outputs():
    scan("scan.nx")
    write_job(*MEDIAN, output="o.tif")
    assert "output.keep_fields: only an HDF5 file" in call("job.toml", "--quiet", code=2).stderr
    write_job(*MEDIAN, more='frames = "all"')
    bad(2, ["output.keep_fields", "other frames than projections"], "job.toml", "--quiet")
    with h5py.File("plain.h5", "w") as file:
        file["data"] = np.zeros(SHAPE, "uint16")
    write_job(*MEDIAN, source="plain.h5", more='dataset = "/data"', output="o.h5")
    bad(2, ["output.keep_fields", "no NXtomo scan"], "job.toml", "--quiet")
    write_job("match", "patch = [1, 3, 3]\nwindow = [1, 5, 5]\ncount = 2", output="o.h5")
    assert "output.keep_fields: this kind makes several" in call("job.toml", "--quiet", code=2).stderr
    with h5py.File("scan.nx", "r+") as file:
        file["entry0000/instrument/detector/image_key"][()] = 0
        file["entry0000/instrument/detector/image_key_control"][()] = 0
    write_job(*MEDIAN)
    bad(2, ["output.keep_fields", "no flats and no darks"], "job.toml", "--quiet")


@pytest.mark.quick
def test_refused_steps():
    scan("scan.nx")
    for steps, words in (('kind = "median"\nsize = [1, 3, 3]\n[[step]]\nkind = "correct"', ["step 2", "correct"]),
                         ('kind = "median"\nsize = [1, 3, 3]\nsave = "s.h5"\n[[step]]\nkind = "median"\n'
                          'size = [1, 3, 3]', ["2 passes"])):
        pathlib.Path("job.toml").write_text(
            f'[input]\nfile = "scan.nx"\n[output]\nfile = "o.nx"\nkeep_fields = true\n[run]\nbackend = "cpu"\n'
            f'[[step]]\n{steps}\n')
        bad(2, ["output.keep_fields", *words], "job.toml", "--quiet")


@pytest.mark.quick
def test_a_scan_that_the_run_makes():
    write_job("median", "size = [1, 1, 1]", source="made.nx",
              more='dataset = "/entry/instrument/detector/data"\n'
                   'generate = { pattern = "tomo-scan", shape = [12, 6, 8], dtype = "uint16", seed = 1 }')
    assert "keeps " in good("plan", "job.toml")
    call("job.toml", "--quiet")
    with h5py.File("made.nx") as scanned, h5py.File("o.nx") as file:
        made, wanted = ({name: each[f"entry/instrument/detector/{name}"][()] for name in ("data", "image_key")}
                        for each in (file, scanned))
    assert all((made[name] == wanted[name]).all() for name in made) and set(made["image_key"]) == {0, 1, 2}


@pytest.mark.quick
def test_a_pipeline_and_a_batch():
    scan("scan.nx")
    pathlib.Path("job.toml").write_text(
        '[input]\nfile = "scan.nx"\n[output]\nfile = "o.nx"\nkeep_fields = true\n[run]\nbackend = "cpu"\n'
        '[[step]]\nkind = "median"\nsize = [1, 1, 1]\n[[step]]\nkind = "median"\nsize = [1, 1, 1]\n')
    call("job.toml", "--quiet")
    check("o.nx", as_they_are())
    pathlib.Path("job.toml").write_text(
        'kind = "median"\n[batch]\ninputs = ["scan.nx"]\noutput = "b-{stem}.nx"\n[output]\nkeep_fields = true\n'
        '[run]\nbackend = "cpu"\n[median]\nsize = [1, 1, 1]\n')
    call("batch", "job.toml")
    check("b-scan.nx", as_they_are())


def test_nxtomo_loads_it():
    nxtomo = pytest.importorskip("nxtomo.application.nxtomo", reason="PyPI's nxtomo is not installed")
    scan("scan.nx")
    write_job(*MEDIAN)
    call("job.toml", "--quiet")
    loaded = nxtomo.NXtomo().load("o.nx", "entry0000", detector_data_as="as_numpy_array")
    assert [int(each.value) for each in loaded.instrument.detector.image_key_control] == list(KEY)
    assert np.allclose(np.asarray(loaded.sample.rotation_angle.magnitude), ANGLES)
    assert (np.asarray(loaded.instrument.detector.data) == frames_of()).all()
    loaded.save("again.nx", "entry0000")
    assert (frames_of("again.nx") == frames_of()).all()
    good("convert", "o.nx", "plain.nx")
    plain = nxtomo.NXtomo().load("plain.nx", "entry0000")
    plain.save("from_plain.nx", "entry0000")
    assert (frames_of("from_plain.nx") == frames_of()).all()
    assert [int(each.value) for each in plain.instrument.detector.image_key_control] == list(KEY)
