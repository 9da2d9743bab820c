"""Runs the cases of this folder: one for each bug that was fixed. README.md says what a case looks like.

    run.py SCRATCH NAME=PROGRAM... [CASE...]"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


def read_case(path):
    """(commands, files): a command is (line, [(kind, text)])."""
    commands, files, inner = [], {}, None
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if line.startswith("--- "):
                inner = line[4:].strip()
                files[inner] = ""
            elif inner:
                files[inner] += line
            elif line.startswith("$ "):
                commands.append((line[2:].strip(), []))
            elif line.strip() and not line.startswith("#"):
                kind, _, text = line.strip().partition(" ")
                if kind not in ("exit", "out", "err", "not") or not commands:
                    sys.exit(f"{path}:{number}: a line begins with #, $, exit, out, err, not or ---")
                commands[-1][1].append((kind, text))
    return commands, files


def in_order(patterns, text):
    """The first pattern that is not found behind the one before it; None: all are."""
    at = 0
    for pattern in patterns:
        m = re.compile(pattern, re.M).search(text, at)
        if not m:
            return pattern
        at = m.end()
    return None


def wrong(expected, done):
    """What is not as expected, as a text; None: nothing."""
    code = next((int(text) for kind, text in expected if kind == "exit"), 0)
    if done.returncode != code:
        return f"exit code {done.returncode}, not {code}"
    for kind, text in (("out", done.stdout), ("err", done.stderr)):
        pattern = in_order([t for k, t in expected if k == kind], text)
        if pattern is not None:
            return f"no {kind} like {pattern!r}"
    for kind, pattern in expected:
        if kind == "not" and re.search(pattern, done.stdout + done.stderr, re.M):
            return f"there is {pattern!r}"
    return None


def run_case(name, scratch, environment):
    commands, files = read_case(os.path.join(HERE, name))
    folder = os.path.join(scratch, name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for path, text in files.items():
        with open(os.path.join(folder, path), "w", encoding="utf-8") as f:
            f.write(text)
    for line, expected in commands:
        done = subprocess.run(["sh", "-ec", line], cwd=folder, env=environment, capture_output=True, text=True)
        problem = wrong(expected, done)
        if problem:
            print(f"FAIL {name}: $ {line}\n{problem}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
            return False
    return len(commands) > 0


def main(scratch, *arguments):
    tools = os.path.join(scratch, "bin")
    shutil.rmtree(tools, ignore_errors=True)
    os.makedirs(tools)
    for name, program in (a.split("=", 1) for a in arguments if "=" in a):
        os.symlink(program, os.path.join(tools, name))
    environment = {**os.environ, "TOP": TOP, "PATH": tools + os.pathsep + os.environ["PATH"]}
    chosen = [a for a in arguments if "=" not in a]
    cases = sorted(n for n in os.listdir(HERE) if n.endswith(".case") and (not chosen or n in chosen))
    if "exact" not in os.listdir(tools):  # builds with sanitizers
        cases = [n for n in cases if not n.startswith("exact_")]
    failed = [n for n in cases if not run_case(n, scratch, environment)]
    print(f"{len(cases)} cases, {len(failed)} failed: {' '.join(failed)}")
    sys.exit(bool(failed) or not cases)


main(*sys.argv[1:])
