"""recipes.py SOURCE BUILD CMAKE: the recipes of docs/recipes, run from an installed copy.

In a folder with the examples and an installed mfc, the ```console and ```python blocks of each page run one after the other:
commands must end with exit code 0 (those whose output is an error: with another) and print what the page says."""
import glob
import os
import subprocess
import sys
import tempfile

import console

source, build, cmake = sys.argv[1:]
bad = n = 0


def complain(page, command, expected, got):
    global bad
    bad += 1
    print(f"--- {page}\n$ {command}\n{expected}--- it prints\n{got}")


def run_console(page, block, approximate, folder, environment):
    global n
    for command, expected in console.commands(block):
        n += 1
        code, got = console.shell(command, folder, environment)
        if not console.matches(expected, got, approximate) or (code != 0) != expected.startswith("error:"):
            complain(page, command, expected, f"{got}exit code {code}\n")


def run_python(page, block, folder, environment):
    global n
    n += 1
    with open(os.path.join(folder, "block.py"), "w", encoding="utf-8") as f:
        f.write(block)
    code, got = console.shell("python3 block.py", folder, environment)
    if code:
        complain(page, "python3", block, f"{got}exit code {code}\n")


with tempfile.TemporaryDirectory() as top:
    installed = os.path.join(top, "installed")
    subprocess.run([cmake, "--install", build, "--prefix", installed], check=True, stdout=subprocess.DEVNULL)
    runtime = os.path.join(source, "tests", "runtime")
    library, = glob.glob(os.path.join(runtime, "node_modules/onnxruntime-node/bin/*/linux/x64/libonnxruntime.so.1"))
    here = {"MFC_NODE_MODULES": runtime, "MFC_ORT_LIBRARY": library, "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join([os.path.join(installed, "lib/python3/dist-packages"), os.path.join(source, "tests/python")]),
            "PKG_CONFIG_PATH": os.path.join(installed, "lib/pkgconfig"), "LD_LIBRARY_PATH": os.path.join(installed, "lib")}
    pages = sorted(glob.glob("docs/recipes/*.md", root_dir=source))
    for page in pages:
        folder = os.path.join(top, os.path.basename(page))
        os.makedirs(os.path.join(folder, "scripts"))
        os.symlink(os.path.join(source, "examples"), os.path.join(folder, "examples"))
        os.symlink(os.path.join(installed, "bin/mfc"), os.path.join(folder, "scripts/mfc"))
        os.symlink(sys.executable, os.path.join(folder, "scripts/python3"))
        with open(os.path.join(source, page), encoding="utf-8") as f:
            for kind, block in console.blocks(f.read()):
                if kind == "python":
                    run_python(page, block, folder, here)
                else:
                    run_console(page, block, kind.endswith("approximate"), folder, here)
print(f"{n} commands of {len(pages)} recipes, {bad} complaints")
sys.exit(bad != 0 or n < 25 or len(pages) < 10)
