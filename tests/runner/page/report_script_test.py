"""Runs report_script_test.js, the test of the report page's pure functions, under node; without a
node it is skipped."""
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = ["report_text.js", "report_kernels.js", "report_timeline.js", "report_zoom.js"]

node = shutil.which("node") or shutil.which("nodejs")
if node is None:
    print("report_script_test.py: Skipped\nthere is no node\n[  SKIPPED ] 1 test")
    sys.exit(0)
scripts = [str(HERE.parents[2] / "runner" / "page" / name) for name in SCRIPTS]
sys.exit(subprocess.run([node, str(HERE / "report_script_test.js"), *scripts]).returncode)
