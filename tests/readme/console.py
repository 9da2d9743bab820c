"""Commands of the documentation, and what they print: ```console blocks of a page.

A block holds commands ("$ ...") and exactly what they print; an ellipsis in a line stands for anything, a line that is an
ellipsis alone for any lines. In a block marked ```console approximate the numbers may differ."""
import os
import re
import subprocess

BLOCK = re.compile(r"^```(console|console approximate|python)\n(.*?)^```", re.M | re.S)


def shell(command, folder, environment=None):
    """Exit code and output. mfc is on the path, as scripts/mfc is in the tree."""
    environment = {**os.environ, **(environment or {})}
    environment["PATH"] = os.path.join(folder, "scripts") + os.pathsep + environment["PATH"]
    got = subprocess.run(command, shell=True, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True, check=False)
    return got.returncode, got.stdout


def without_numbers(text):
    return re.sub(r" +", " ", re.sub(r"\d+(\.\d+)?", "N", text))


def matches(expected, got, approximate):
    if approximate:
        got, expected = without_numbers(got), without_numbers(expected)
    lines = [r"(?:.*\n)*" if line.strip() == "…" else re.escape(line).replace("…", ".*") + r"\n" for line in expected.splitlines()]
    return re.fullmatch("".join(lines), got if got.endswith("\n") or not got else got + "\n") is not None


def blocks(text):
    """(kind, content) of each block that is run, in the order of the page."""
    return BLOCK.findall(text)


def commands(block):
    """(command, expected output) of a console block."""
    return re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M)
