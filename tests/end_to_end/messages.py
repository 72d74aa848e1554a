"""What the program says of inputs, plans and results."""
import json
import os
import pathlib
import re
import resource

import h5py
import numpy as np
import pytest

from harness import attempt, bad, call, good

pytestmark = pytest.mark.quick

DATA = pathlib.Path(__file__).resolve().parents[1] / "data"
CONVOLVE = ('kind = "convolve"\n[input]\nfile = "in.h5"\ndataset = "/x"\n[output]\nfile = "out.h5"\n'
            'sync = false\n{output}[run]\nbackend = "cpu"\n[convolve]\nrow_taps = [1.0]\n'
            'column_taps = [1.0]\n')


def store(name="in.h5", **datasets):
    with h5py.File(name, "w") as file:
        for dataset, array in datasets.items():
            file[dataset] = array


def test_links():
    array = np.arange(20, dtype="u2").reshape(4, 5)
    store("far.h5", x=array)
    os.mkdir("below")
    with h5py.File("links.h5", "w") as file:
        file["there"] = h5py.ExternalLink("far.h5", "/x")
        file["gone"] = h5py.ExternalLink("none.h5", "/x")
        file["secret"] = h5py.ExternalLink("/etc/hostname", "/x")
        file["group/soft"] = h5py.SoftLink("/there")
        file["group/broken"] = h5py.SoftLink("/nothing")
        file["way"] = h5py.SoftLink("/group")
    text = good("inspect", "links.h5")
    assert "0 datasets, 6 links" in text, text
    lines = {line.split("  ")[0]: line for line in text.splitlines()}
    assert lines["/there"] == "/there  external link to far.h5:/x  uint16 [4, 5]", text
    assert lines["/group/soft"] == "/group/soft  soft link to /there  uint16 [4, 5]", text
    assert lines["/gone"].endswith("which is not there") and "  dangling: " in lines["/gone"], text
    assert lines["/group/broken"].endswith("soft link to /nothing  dangling"), text
    assert "dangling: " in lines["/secret"], text
    assert lines["/way"].endswith("soft link to /group  group"), text
    links = json.loads(good("inspect", "links.h5", "--json"))["links"]
    assert {"path": "/there", "kind": "external link", "target": "far.h5:/x",
            "leads_to": "uint16 [4, 5]"} in links, links
    bad(3, ["several datasets", "/group/soft, /there", "Name one: links.h5:/"], "convert", "links.h5",
        "x.npy")
    with h5py.File("one.h5", "w") as file:
        file["there"] = h5py.ExternalLink("far.h5", "/x")
        file["gone"] = h5py.ExternalLink("none.h5", "/x")
    good("convert", "one.h5", "one.npy")
    assert (np.load("one.npy") == array).all()
    with h5py.File("none_at_all.h5", "w") as file:
        file["gone"] = h5py.SoftLink("/x")
    bad(3, ["no dataset to open", "none of its 1 link leads to one"], "convert", "none_at_all.h5",
        "x.npy")


def test_newer_hdf5():
    file = DATA / "hdf5-2.0-chunked.h5"
    for arguments in [["inspect", file], ["convert", f"{file}:/image", "x.npy"]]:
        message = bad(3, ["bad version number", "A newer HDF5 wrote it", ", used here, cannot read",
                          "h5repack --low=0 --high=2 -f GZIP=1", 'libver=("earliest", "v110")'],
                      *arguments)
        assert h5py.version.hdf5_version in message, message


def test_methods_of_denoise():
    """The template with its method changed is bm4d with bm4d's own keys."""
    template = good("init", "denoise")
    changed = template.replace('method = "nlm"', 'method = "bm4d"')
    assert changed != template
    pathlib.Path("job.toml").write_text(changed)
    explained = good("explain", "job.toml")
    assert "\n# patch: [4, 4, 4]; for an image [1, 4, 4]\n" in explained, explained
    assert "\nstep = 3\n" in explained, explained
    pathlib.Path("job.toml").write_text(template)
    explained = good("explain", "job.toml")
    assert "\n# patch: [3, 3, 3]; for an image [1, 3, 3]\n" in explained, explained
    assert "\n# window: [11, 11, 11]; for an image [1, 11, 11]\n" in explained, explained
    assert "\nstrength = 0.6\n" in explained, explained


def test_images_of_two_axes():
    image = np.random.default_rng(1).normal(100, 5, (30, 40)).astype("f4")
    store(flat=image, deep=image[None])
    for kind, lines in [("denoise", 'method = "nlm"\nsigma = 5.0\n'),
                        ("denoise", 'method = "bm4d"\nsigma = 5.0\n'),
                        ("match", "")]:
        patch = [1, 4, 4] if "bm4d" in lines else [1, 3, 3]
        dataset = "m" if kind == "match" else "x"
        results = {}
        for name, source, more in [
                ("usual", "flat", ""),
                ("given", "deep", f"patch = {patch}\nwindow = [1, 11, 11]\n")]:
            pathlib.Path("job.toml").write_text(
                f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/{source}"\n[output]\n'
                f'file = "{name}.h5"\ndataset = "/{dataset}"\noverwrite = true\nsync = false\n'
                f'[run]\nbackend = "cpu"\n[{kind}]\n{lines}{more}')
            good("job.toml", "--quiet")
            with h5py.File(f"{name}.h5") as file:
                found = file[f"{dataset}/distance" if kind == "match" else dataset]
                results[name] = found[...].reshape(-1)
        assert results["usual"].tobytes() == results["given"].tobytes(), (kind, lines)
    for kind in ["match", "denoise"]:
        head = (f'kind = "{kind}"\n[input]\nfile = "in.h5"\ndataset = "/flat"\n[output]\n'
                f'file = "o.h5"\n[{kind}]\n')
        for key, deep, flat in [("patch", "[3, 3, 3]", "[1, 3, 3]"),
                                ("window", "[5, 7, 9]", "[1, 7, 9]")]:
            pathlib.Path("job.toml").write_text(head + f"{key} = {deep}\n")
            for arguments in [["job.toml"], ["plan", "job.toml"]]:
                bad(2, [f"({kind}.{key})", f"it is {deep}", "two axes",
                        f"Write {key} = {flat}\n"], *arguments)
        # What explain prints of a job on an image is a job on an image.
        pathlib.Path("job.toml").write_text(head)
        pathlib.Path("again.toml").write_text(good("explain", "job.toml"))
        # But the space that is free on the disk, which others take and give back.
        plans = [re.sub(r"[\d.]+ \w+ free", "", good("plan", job, "--host-memory", "1GiB"))
                 for job in ("again.toml", "job.toml")]
        assert plans[0] == plans[1]


def wrong_job(*words):
    """Runs job.toml, whose lines one error lists. Returns standard error."""
    done = call("job.toml", code=2)
    assert done.stderr.count("runner: error: ") == 1, done.stderr
    for word in words:
        assert word in done.stderr, f"no {word} in {done.stderr}"
    return done.stderr


def test_job_files():
    store(x=np.ones((4, 5)))
    bad(2, ["in.h5", "it is an HDF5 file", "runner inspect in.h5"], "in.h5")
    pathlib.Path("large.h5").write_bytes(pathlib.Path("in.h5").read_bytes() + bytes(2 << 20))
    bad(2, ["it is an HDF5 file"], "large.h5")
    job = CONVOLVE.format(output='chunk = [2, 2]\ncompression = "gzip"\n')
    pathlib.Path("job.toml").write_text(job)
    wrong_job("job.toml:9:15:", 'did you mean "deflate"?')
    good_job = CONVOLVE.format(output="")
    for key, word in [("file", "in.h5"), ("dataset", "/x"), ("backend", "cpu"),
                      ("backend", "native"), ("file", "./in.h5"), ("backend", "true_cpu")]:
        lines = [f"{key} = {word} # a note" if line.startswith(f"{key} =") else line
                 for line in good_job.splitlines()]
        pathlib.Path("job.toml").write_text("\n".join(lines) + "\n")
        wrong_job(f'text takes quotes: {key} = "{word}"')
    # Other faults of a file are not taken for a missing quote.
    for line in ['name = "open', "name = [1, 2", "lanes = 08"]:
        pathlib.Path("job.toml").write_text(line + "\n" + good_job)
        assert "text takes quotes" not in wrong_job("job.toml:")


def test_reports():
    store(x=np.ones((4, 5)))
    pathlib.Path("list.json").write_text("[1, 2]")
    pathlib.Path("text.json").write_text("a report")
    for name, why in [("in.h5", "it is an HDF5 file"), ("text.json", "it is not JSON"),
                      ("list.json", "it is JSON without what a report holds")]:
        for page in [[], ["--page", "page.html"]]:
            message = bad(3, ["this is no report of runner", name, why, "folder of a batch"], "report", name, *page)
            assert "json.exception" not in message, message


def test_files_that_are_no_hdf5():
    """Samples of 16 bits, all large, are not text."""
    pathlib.Path("raw.h5").write_bytes((np.arange(2000) % 60 + 0x2020 + 256 * 7).astype("<u2"))
    message = bad(3, ["does not begin as an HDF5 file", "--shape Z,Y,X --dtype TYPE"], "inspect",
                  "raw.h5")
    assert "text" not in message, message
    pathlib.Path("note.h5").write_text("This is a note, no data.\n" * 40)
    bad(3, ["it looks like text"], "inspect", "note.h5")


def test_what_was_made():
    made = good("generate", "index", "a.h5", "--shape", "40,50", "--dtype", "uint16")
    size = pathlib.Path("a.h5").stat().st_size
    assert made == f"a.h5:/data: uint16 [40, 50], {size / 1024:.3g} KiB\n", made
    assert good("convert", "a.h5", "b.npy").startswith("b.npy: uint16 [40, 50], ")
    assert good("convert", "a.h5", "c.h5:/deep/x").startswith("c.h5:/deep/x: uint16 [40, 50], ")
    assert good("convert", "a.h5", "d.png").startswith("d.png: 50 x 40 pixels, ")
    assert good("render", "a.h5:/data", "e.png", "--size", "25").splitlines()[-1].startswith(
        "e.png: 25 x 20 pixels, ")
    good("generate", "index", "f.h5", "--shape", "3,4,5", "--dtype", "uint8")
    made = good("convert", "f.h5", "f.png", "--frames", "all")
    assert made == "3 pictures, f-000000.png to f-000002.png\n", made
    made = good("render", "f.h5:/data", "g.png", "--frames", "1:2")
    assert made == "1 picture, g-000001.png\n", made


def test_plan():
    store(x=np.ones((40, 50)), c=np.ones((30, 40, 3), "uint8"), v=np.ones((6, 7, 8)))
    pathlib.Path("job.toml").write_text(CONVOLVE.format(output='dtype = "float32"\n'))
    colour = good("plan", "job.toml", "--set", 'input.dataset="/c"', "--set", "input.colour=true")
    assert "1 image of 30 rows x 40 columns in colour, halo 0 rows; cpu, chunks of 30 rows" in colour, colour
    assert "rank 0: rows 0 to 30, 1 chunk\n" in colour, colour
    volume = good("plan", "job.toml", "--set", 'input.dataset="/v"', "--set", "convolve.depth_taps=[1, 2, 1]")
    assert "1 volume of 6 images of 7 rows x 8 columns, halo 1 image; cpu" in volume, volume
    for dataset, table, images in (  # which make other rows than they read
            ("c", "[bin]\nfactors = [2, 2]",
             "1 image of 30 rows x 40 columns in colour, halo 0 rows; cpu, chunks of 30 rows"),
            ("v", "[bin]\nfactors = [3, 1, 1]", "1 volume of 6 images of 7 rows x 8 columns, halo 0 images; cpu"),
            ("v", "[reduce]\noperation = 'max'\nover = ['y', 'x']", "of 6 images of 7 rows x 8 columns, halo 0 images")):
        pathlib.Path("other.toml").write_text(
            f"kind = '{table[1:table.index(']')]}'\n[input]\nfile = 'in.h5'\ndataset = '{dataset}'\n"
            f"colour = {str(dataset == 'c').lower()}\n[output]\nfile = 'out.h5'\n{table}\n")
        made = good("plan", "other.toml")
        assert images in made, made
    text = good("plan", "job.toml", "--set", "run.chunk_rows=40")
    assert text.startswith("reads in.h5:/x, float64 [40, 50]\nwrites out.h5:/x, float32 [40, 50]\n")
    assert "1 image of 40 rows x 50 columns, halo 0 rows" in text and ", 1 chunk\n" in text, text
    assert "chunks of 1 row, " in good("plan", "job.toml", "--set", "run.chunk_rows=1")
    plan = json.loads(good("plan", "job.toml", "--json"))
    assert plan["input"] == {"file": "in.h5", "dataset": "/x", "dtype": "float64",
                             "shape": [40, 50]}
    assert plan["outputs"] == [{"file": "out.h5", "dataset": "/x", "dtype": "float32",
                                "shape": [40, 50]}]


def test_last_line_of_a_batch():
    for number in range(3):
        store(f"in{number}.h5", x=np.ones((4, 5)))
    pathlib.Path("job.toml").write_text(
        CONVOLVE.format(output="").replace('file = "in.h5"\n', "").replace('file = "out.h5"\n', "")
        + '[batch]\ninputs = ["in*.h5"]\noutput = "made/{stem}.h5"\nstate = "state"\n')
    os.mkdir("made")
    done = attempt("batch", "job.toml")
    assert done.returncode == 0 and "3 done, 0 failed" in done.stderr, done
    assert "3 of 3 in all are done" in done.stderr, done
    os.remove("made/in1.h5")
    done = attempt("batch", "job.toml")
    assert "1 done, 0 failed" in done.stderr and "3 of 3 in all are done" in done.stderr, done


@pytest.mark.parametrize("output", ["big.h5", "big.npy", "big.h5 --chunk 9,99 --compression deflate"])
def test_limit_of_the_size_of_files(output):
    limit = (100 << 10, 100 << 10)
    bad(4, ["big.", "File too large"], "generate", "noise", *output.split(), "--shape", "400,400", "--dtype", "float64",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))


def test_a_compressed_output_that_may_not_fit():
    """How small it becomes is not known: a warning; without compression it is refused."""
    shape = (900 << 10, 1 << 10, 1 << 10)  # 900 GiB, of which nothing is stored
    with h5py.File("in.h5", "w") as file:
        file.create_dataset("x", shape, "u1", chunks=(1, 1 << 10, 1 << 10), fillvalue=0)
    packed = 'chunk = [1, 1024, 1024]\ncompression = "zstd"\n'
    for output, code in [(packed, 0), ("", 2)]:
        pathlib.Path("job.toml").write_text(CONVOLVE.format(output=output))
        done = attempt("plan", "job.toml")
        assert done.returncode == code, done
        assert ("may not fit" in done.stderr) == (code == 0), done
        assert ("needs at most 900 GiB" in done.stdout) == (code == 0), done
