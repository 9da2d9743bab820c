"""readme.py SOURCE MFC: the documentation is what mfc does.

- The ```console blocks of README.md and docs (console.py) print what they say.
- Every line of a ```sh block of README.md that runs scripts/mfc ends with exit code 0, and writes the file of -o.
- The tables of exit codes and commands are those of `mfc --help`."""
import glob
import os
import re
import sys
import tempfile

import console

source, mfc = sys.argv[1:]
n_commands = n_bad = 0


def read(path):
    with open(os.path.join(source, path), encoding="utf-8") as f:
        return f.read()


def complain(text):
    global n_bad
    n_bad += 1
    print(text)


def check_console(page, folder):
    global n_commands
    for kind, block in console.blocks(read(page)):
        for command, expected in console.commands(block) if kind != "python" else []:
            n_commands += 1
            _, got = console.shell(command, folder)
            if not console.matches(expected, got, kind == "console approximate"):
                complain(f"$ {command}\n--- {page}\n{expected}--- mfc\n{got}")


def check_shell(text, folder):
    global n_commands
    for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
        for command in re.findall(r"^scripts/mfc .*$", block, re.M):
            n_commands += 1
            code, got = console.shell(command, folder)
            output = re.search(r"-o (\S+)", command)
            if code != 0 or (output and not os.path.exists(os.path.join(folder, output.group(1)))):
                complain(f"$ {command}\nexit code {code}\n{got}")


with tempfile.TemporaryDirectory() as folder:
    # A copy of the tree as the reader has it, with the mfc that is being tested.
    os.symlink(os.path.join(source, "examples"), os.path.join(folder, "examples"))
    os.mkdir(os.path.join(folder, "scripts"))
    os.symlink(mfc, os.path.join(folder, "scripts", "mfc"))

    readme = read("README.md")
    check_shell(readme, folder)
    for page in ["README.md"] + sorted(glob.glob("docs/*.md", root_dir=source)):
        check_console(page, folder)

    _, text = console.shell("scripts/mfc --help", folder)
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
sys.exit(n_bad != 0 or n_commands < 8)
