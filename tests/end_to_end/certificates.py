"""Certificates of results by whole programs.

The checksums are those of Python's xxhash over the elements that h5py and numpy read.
"""
import copy
import json
import os
import pathlib
import re
import shutil

import h5py
import numpy as np
import xxhash

import harness
from harness import attempt
from same_outputs import KINDS

MOST_CHECKSUMS = 4096

# The same job in other pieces, on other ranks, stored otherwise.
VARIANTS = [
    ((), []),
    ((), ["run.chunk_rows=40", "run.lanes=3", "run.commit_seconds=0"]),
    ((3,), ["run.chunk_rows=40"]),
    ((), ["output.parts=3"]),
    ((2,), ["output.chunk=[CHUNK]", 'output.compression="zstd"', "output.shuffle=true"]),
    ((), ["output.chunk=[CHUNK]"]),
    ((2,), ["output.parts=2", "output.chunk=[CHUNK]", 'output.compression="deflate"']),
]


def call(*arguments, code=0, ranks=1):
    done = harness.call(*arguments, code=code, ranks=ranks)
    if code not in (0, 7):
        assert done.stdout == "", done.stdout
        assert re.fullmatch(r"runner: error: [^\n]*\n", done.stderr), done.stderr
    return done


def write_job(kind, table, name="job.toml", more=""):
    pathlib.Path(name).write_text(
        f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/x"\n'
        f'[output]\nfile = "out.h5"\ndataset = "/made"\n{more}\n[{kind}]\n{table}')


def write_input(shape, dtype="float32"):
    values = np.random.default_rng(7).integers(0, 4 if dtype == "uint8" else 100, shape)
    with h5py.File("in.h5", "w") as file:
        file["x"] = (values / 8 if dtype[0] == "f" else values).astype(dtype)


def run(output, *settings, job="job.toml", ranks=1):
    options = [word for each in settings for word in ("--set", each)]
    call(job, "--quiet", "--backend", "cpu", "--set", f'output.file="{output}"', *options,
         ranks=ranks)


def certificate(output):
    made = json.loads(call("certify", output).stdout)
    assert made["certificate"] == 1, made
    return made


def without_machine(made):
    return {key: value for key, value in made.items() if key != "machine"}


def expected(name, array):
    """What the certificate says of a dataset, by another implementation."""
    rows = array.reshape(-1, array.shape[-1]) if array.ndim > 1 else array.reshape(-1, 1)
    step = -(-len(rows) // MOST_CHECKSUMS)
    return {"dataset": name, "type": array.dtype.name, "shape": list(array.shape),
            "checksum": xxhash.xxh3_128_hexdigest(array.tobytes()), "rows_per_checksum": step,
            "row_checksums": [xxhash.xxh3_64_hexdigest(rows[i:i + step].tobytes())
                              for i in range(0, len(rows), step)]}


def check_variants(chunk, names, ranks_too=True):
    """The certificates of all variants agree, and with the elements of the first."""
    first = None
    for number, (ranks, settings) in enumerate(VARIANTS):
        if not chunk and any("chunk=[" in each or "parts" in each for each in settings):
            continue  # these outputs have neither
        output = f"out{number}.h5"
        run(output, *(each.replace("CHUNK", chunk) for each in settings),
            ranks=ranks[0] if ranks and ranks_too else 1)
        made = certificate(output)
        assert made["machine"]["file"] == output and made["machine"]["backend"] == "cpu", made
        if first is None:
            first = made
            with h5py.File(output) as file:
                assert made["datasets"] == [expected(name, file[name][...]) for name in names]
        assert without_machine(made) == without_machine(first), f"{settings}"
        pathlib.Path("c.json").write_text(json.dumps(first))
        assert "is the result of c.json" in call("certify", "--check", "c.json", output).stdout
    assert made["machine"] != first["machine"]
    return first


def test_convolve():
    write_input((3, 101, 50))
    write_job("convolve", KINDS["convolve"])
    first = check_variants("1,8,50", ["/made"])
    assert first["kind"] == "convolve" and first["input"]["input_file"] == "in.h5", first
    assert first["input"]["input_bytes"] == os.path.getsize("in.h5")
    assert any(line.startswith("convolve.") for line in first["identity"]), first["identity"]
    assert not any("output.chunk" in line or "layout" in line for line in first["identity"])
    # The job in it is a job file of the same result.
    text = first["job"].replace("[output]\n", '[output]\nfile = "again.h5"\n')
    pathlib.Path("again.toml").write_text(text)
    call("again.toml", "--quiet", "--backend", "cpu")
    assert certificate("again.h5")["datasets"] == first["datasets"]


def test_other_kinds():
    write_input((12, 40, 50))
    write_job("transpose", KINDS["transpose"])
    check_variants("1,8,12", ["/made"])
    for file in pathlib.Path().glob("out*"):
        shutil.rmtree(file) if file.is_dir() else file.unlink()
    write_job("match", KINDS["match"])
    pathlib.Path("job.toml").write_text(
        pathlib.Path("job.toml").read_text().replace('dataset = "/made"\n', ""))
    check_variants("", ["/index", "/distance", "/count"])
    for file in pathlib.Path().glob("out*"):
        file.unlink()
    write_input((61, 53), "uint8")
    write_job("sand", "generations = 9\nsnapshot_every = 3\n")
    check_variants("1,8,53", ["/made"])


def usable_vectors():
    """The vector instructions that the program and this processor have, as the refusal lists them."""
    done = attempt("--version", env={**os.environ, "RUNNER_VECTORS": "none"})
    found = re.fullmatch(r"runner: error: cannot choose the vector instructions \(RUNNER_VECTORS\): "
                         r'"none" is not a set that this program has\. Unset it, or set it to one of: '
                         r"([a-z0-9_, ]+)\n", done.stderr)
    assert done.returncode == 2 and done.stdout == "" and found, done
    return found[1].split(", ")


def test_vector_instructions(monkeypatch):
    """With the least and the best of them, on one rank and on three."""
    names = usable_vectors()
    for kind, keys, shape, dtype in [("convolve", KINDS["convolve"], (3, 61, 50), "float32"),
                                     ("sand", "generations = 9\nsnapshot_every = 3\n", (61, 53), "uint8")]:
        write_input(shape, dtype)
        write_job(kind, keys)
        made = {}
        for vectors in dict.fromkeys([names[0], names[-1]]):
            monkeypatch.setenv("RUNNER_VECTORS", vectors)
            for ranks in [1, 3]:
                output = f"{kind}_{vectors}_{ranks}.h5"
                call("job.toml", "--quiet", "--backend", "cpu", "--set", f'output.file="{output}"', "--report",
                     "report.json", ranks=ranks)
                report = json.loads(pathlib.Path("report.json").read_text())
                assert report["runner"]["vectors"] == vectors and len(report["ranks"]) == ranks, report
                made[vectors, ranks] = without_machine(certificate(output))
        first = made[names[0], 1]
        with h5py.File(f"{kind}_{names[0]}_1.h5") as file:
            assert first["datasets"] == [expected("/made", file["made"][...])]
        for way, other in made.items():
            assert other == first, f"{kind} {way}"


def test_a_pipeline():
    write_input((6, 40, 50))
    pathlib.Path("job.toml").write_text(
        '[input]\nfile = "in.h5"\ndataset = "/x"\n[output]\nfile = "out.h5"\ndataset = "/made"\n'
        f'[[step]]\nkind = "convolve"\n{KINDS["convolve"]}\n'
        '[[step]]\nkind = "rescale"\nfrom = "extremes"\nto = [0.0, 1.0]\n')
    check_variants("1,8,50", ["/made"])


def test_other_job_files_and_formats():
    """Keys that decide nothing, and formats without attributes."""
    write_input((101, 50))
    write_job("convolve", KINDS["convolve"])
    run("out.h5")
    first = certificate("out.h5")
    write_job("convolve", KINDS["convolve"], "other.toml",
              'chunk = [7, 50]\ncompression = "deflate"\nlevel = 3\nsync = false')
    run("other.h5", job="other.toml")
    other = certificate("other.h5")
    assert without_machine(other) == without_machine(first)
    assert other["machine"]["job_file"] != first["machine"]["job_file"]
    run("out.npy")
    assert without_machine(certificate("out.npy")) == without_machine(first)
    # Another job is another certificate, of other rows.
    run("less.h5", 'convolve.boundary="wrap"')
    wrapped = certificate("less.h5")
    assert wrapped["identity"] != first["identity"] and wrapped["job"] != first["job"]
    assert wrapped["datasets"] != first["datasets"]


def test_many_rows():
    """More rows than checksums, and an array of one axis."""
    write_input((9001, 3), "uint16")
    write_job("rescale", "from = [0.0, 100.0]\nto = [0.0, 200.0]")
    run("out.h5")
    made = certificate("out.h5")
    with h5py.File("out.h5") as file:
        assert made["datasets"] == [expected("/made", file["made"][...])]
    assert made["datasets"][0]["rows_per_checksum"] == 3
    pathlib.Path("c.json").write_text(json.dumps(made))
    with h5py.File("out.h5", "r+") as file:
        file["made"][9000, 2] ^= 1
    assert "row 9000:" in call("certify", "--check", "c.json", "out.h5", code=7).stdout
    with h5py.File("out.h5", "r+") as file:
        file["made"][4, 0] ^= 1
    assert "rows 3 to 5:" in call("certify", "--check", "c.json", "out.h5", code=7).stdout


def make_certified():
    write_input((3, 101, 50))
    write_job("convolve", KINDS["convolve"])
    run("out.h5")
    pathlib.Path("c.json").write_text(call("certify", "out.h5").stdout)


def checked(name, code, *words, certificate="c.json"):
    done = call("certify", name, "--check", certificate, code=code)
    for word in words:
        assert word in done.stdout + done.stderr, f"{name}: no {word} in {done}"


def test_copies():
    make_certified()
    call("convert", "out.h5", "copy.npy")
    checked("copy.npy", 0, "is the result of c.json")
    call("convert", "out.h5", "copy.tif")
    checked("copy.tif", 0)
    call("convert", "out.h5:/made", "copy.h5:/other", "--chunk", "2,30,50", "--compression",
         "bitshuffle-lz4")
    checked("copy.h5:/other", 0)
    checked("copy.h5", 7, "no dataset /made")
    with h5py.File("out.h5") as file, h5py.File("bare.h5", "w") as bare:
        bare["made"] = file["made"][...]
    checked("bare.h5", 0)


def test_differences():
    make_certified()
    with h5py.File("out.h5") as file:
        good = file["made"][...]

    def differs(array, *words, name="made"):
        with h5py.File("bad.h5", "w") as file:
            file[name] = array
        checked("bad.h5", 7, *words)

    for frame, row, column in [(0, 0, 0), (1, 57, 49), (2, 100, 3)]:
        wrong = good.copy()
        wrong[frame, row, column] = np.nextafter(
                wrong[frame, row, column], np.float32(999))
        differs(wrong, f"/made, frame {frame}, row {row}:")
        wrong[2, 100, 7] += 1  # a later one is not the first
        differs(wrong, f"/made, frame {frame}, row {row}:")
    differs(good.astype("f8"), "float64", "float32")
    differs(good[:, :, :-1], "[3, 101, 49]", "[3, 101, 50]")
    differs(good.reshape(101, 3, 50), "[101, 3, 50]")
    differs(good, "no dataset /made", name="maid")
    swapped = good[::-1]
    differs(swapped, "frame 0, row 0:")


def test_several_datasets():
    write_input((12, 40, 50))
    write_job("match", KINDS["match"])
    pathlib.Path("job.toml").write_text(
        pathlib.Path("job.toml").read_text().replace('dataset = "/made"\n', ""))
    run("out.h5")
    pathlib.Path("c.json").write_text(call("certify", "out.h5").stdout)
    for name in ["index", "distance", "count"]:
        shutil.copy("out.h5", "bad.h5")
        with h5py.File("bad.h5", "r+") as file:
            values = file[name]
            place = (len(values) - 1,) + (0,) * (values.ndim - 1)
            values[place] = values[place] + 1
            place = ", ".join([f"/{name}"])
        checked("bad.h5", 7, f"{place}, row")
        done = call("certify", "bad.h5", code=7)
        assert done.stderr.count("error:") == 1 and "checksum" in done.stderr, done
    checked("out.h5", 0)
    checked("out.h5:/index", 2, "3 datasets")


def test_unreadable_files():
    make_certified()
    whole = pathlib.Path("out.h5").read_bytes()
    pathlib.Path("text.h5").write_text("no file of HDF5\n")
    pathlib.Path("cut.h5").write_bytes(whole[:len(whole) // 2])
    for name in ["none.h5", "text.h5", "cut.h5", "none.npy"]:
        checked(name, 3, name)
        call("certify", name, code=3)
    with h5py.File("foreign.h5", "w") as file:
        file["made"] = np.zeros((3, 4))
    call("certify", "foreign.h5", code=3)
    # Packed chunks that are damaged cannot be read.
    call("convert", "out.h5", "packed.h5", "--chunk", "1,101,50", "--compression", "zstd")
    with h5py.File("packed.h5") as file:
        chunk = file["made"].id.get_chunk_info(1)
    packed = bytearray(pathlib.Path("packed.h5").read_bytes())
    packed[chunk.byte_offset:chunk.byte_offset + 8] = bytes(8)
    pathlib.Path("packed.h5").write_bytes(packed)
    checked("packed.h5", 3, "packed.h5")


def test_damaged_outputs_are_not_certified():
    make_certified()
    with h5py.File("out.h5", "r+") as file:
        file["made"][1, 7, 9] += 1
    done = call("certify", "out.h5", code=7)
    assert done.stdout == "" and "frame 0" in done.stderr and "verify" in done.stderr, done


def test_bad_certificates():
    make_certified()
    text = pathlib.Path("c.json").read_text()
    good = json.loads(text)

    def refused(changed, *words):
        pathlib.Path("bad.json").write_text(
            changed if isinstance(changed, str) else json.dumps(changed))
        checked("out.h5", 2, "bad.json", *words, certificate="bad.json")

    for changed in ["", "{", "[]", "null", "7", '"text"', text[:len(text) // 2], "[" * 100000,
                    text + "x", '{"certificate": 1}', '{"certificate": 1, "datasets": {}}']:
        refused(changed)
    for version in [0, 2, -1, "1", None, 1e300]:
        refused({**good, "certificate": version})
    for key in ["certificate", "datasets"]:
        refused({name: value for name, value in good.items() if name != key}, key)
    for value in [[], {}, None, [7], good["datasets"] * 2]:
        refused({**good, "datasets": value})

    def with_dataset(**changes):
        made = copy.deepcopy(good)
        made["datasets"][0].update(changes)
        return made

    for key in good["datasets"][0]:
        made = copy.deepcopy(good)
        del made["datasets"][0][key]
        refused(made, key)
        refused(with_dataset(**{key: None}))
        refused(with_dataset(**{key: {"a": 1}}))
    rows = good["datasets"][0]["row_checksums"]
    for changes in [{"dataset": ""}, {"dataset": "/made\0x"}, {"shape": []}, {"shape": [0, 101, 50]},
                    {"shape": [-3, -101, 50]}, {"shape": [2**62, 101, 50]}, {"shape": [3] * 33},
                    {"shape": [2**31] * 3}, {"shape": [2**70, 1, 1]}, {"shape": [2**50, 1, 50]},
                    {"shape": "[3, 101, 50]"}, {"rows_per_checksum": 0}, {"rows_per_checksum": -1},
                    {"rows_per_checksum": 2}, {"rows_per_checksum": 2**64}, {"checksum": "0" * 31},
                    {"checksum": "G" * 32}, {"checksum": 12}, {"row_checksums": rows[:-1]},
                    {"row_checksums": rows + rows[:1]}, {"row_checksums": [rows[0].upper() + "F"]},
                    {"row_checksums": ["x" * 16] + rows[1:]}, {"row_checksums": [7] + rows[1:]}]:
        refused(with_dataset(**changes))
    os.mkdir("folder")
    checked("out.h5", 2, "folder", certificate="folder")
    checked("out.h5", 2, "none.json", certificate="none.json")
    checked("out.h5", 2, "HDF5", certificate="out.h5")
    with open("large.json", "w") as file:
        file.truncate(17 << 20)
    checked("out.h5", 2, "16", certificate="large.json")


def test_every_digit_counts():
    """No character of what is compared can be another without being noticed."""
    make_certified()
    compact = {"certificate": 1, "datasets": json.loads(pathlib.Path("c.json").read_text())["datasets"]}
    text = json.dumps(compact, separators=(",", ":"))
    for place in [*range(0, 190), *range(190, len(text), 97)]:
        old = text[place]
        new = "1" if old == "0" else "0"
        pathlib.Path("bad.json").write_text(text[:place] + new + text[place + 1:])
        done = attempt("certify", "out.h5", "--check", "bad.json")
        assert done.returncode in (2, 7), f"{place}: {text[place - 9:place + 9]}: {done}"


def test_attributes_of_a_finished_file_do_not_matter():
    make_certified()
    with h5py.File("out.h5", "r+") as file:
        file.attrs["note"] = "mine"
        file["made"].attrs["units"] = "counts"
    checked("out.h5", 0)


def test_shards_do_not_matter():
    np.save("in.npy", np.zeros((4, 40), "uint8"))
    text = 'kind = "rescale"\n[input]\nfile = "in.npy"\n[output]\nfile = "o.zarr"\noverwrite = true\nchunk = [1, 8]\nshard = '
    made = []
    for shard in ("[2, 8]", "[4, 16]"):
        pathlib.Path("shards.toml").write_text(f'{text}{shard}\n[rescale]\nfrom = [0, 9]\n')
        assert attempt("shards.toml", "--quiet").returncode == 0
        made.append({**json.loads(attempt("certify", "o.zarr").stdout), "machine": None})
    assert made[0] == made[1]
