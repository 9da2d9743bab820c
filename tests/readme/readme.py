"""readme.py SOURCE MFC: in README.md, a ```console block holds commands ("$ ...") and exactly what they print;
the first command of the quick start must work; the table of exit codes must be that of `mfc --help`."""
import os
import re
import subprocess
import sys
import tempfile

source, mfc = sys.argv[1:]
with open(os.path.join(source, "README.md"), encoding="utf-8") as f:
    readme = f.read()
n_commands = n_bad = 0


def shell(command, folder):
    got = subprocess.run(command, shell=True, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return got.returncode, got.stdout


def complain(text):
    global n_bad
    n_bad += 1
    print(text)


with tempfile.TemporaryDirectory() as folder:
    # A copy of the tree as the reader of the README has it, with the mfc that is being tested.
    os.symlink(os.path.join(source, "examples"), os.path.join(folder, "examples"))
    os.mkdir(os.path.join(folder, "scripts"))
    os.symlink(mfc, os.path.join(folder, "scripts", "mfc"))

    for block in re.findall(r"^```console\n(.*?)^```", readme, re.M | re.S):
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            n_commands += 1
            _, got = shell(command, folder)
            if got != expected:
                complain(f"$ {command}\n--- README\n{expected}--- mfc\n{got}")

    start = re.search(r"^## Quick start.*?^```sh\n(.*?)^```", readme, re.M | re.S).group(1).split("\n")[0]
    n_commands += 1
    code, got = shell(start, folder)
    if code != 0 or not os.path.exists(os.path.join(folder, start.split("-o ")[1])):
        complain(f"$ {start}\nexit code {code}\n{got}")

    _, text = shell("scripts/mfc --help", folder)
    help_codes = re.findall(r"(\d+) [a-z]", text[text.index("Exit codes"):])
    rows = readme[readme.index("## Exit codes"):readme.index("## The library")]
    table_codes = re.findall(r"\d+", " ".join(re.findall(r"^\| ([\d, ]+) \|", rows, re.M)))
    if help_codes != table_codes:
        complain(f"exit codes: --help has {help_codes}, README has {table_codes}")

    commands = set(re.findall(r"^  ([\w-]+)  ", text[text.index("Commands"):text.index("Options of every")], re.M))
    named = set(re.findall(r"^\| `mfc ([a-z-]+)", readme, re.M)) | {"plan"}
    if commands != named:
        complain(f"commands: --help has {sorted(commands)}, README has {sorted(named)}")

print(f"{n_commands} commands, {n_bad} complaints")
sys.exit(n_bad != 0 or n_commands < 3)
