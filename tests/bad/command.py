"""Runs mfc on something bad and looks at all that must hold then: the exit code, the message, no output
file, no temporary left behind, little memory."""
import os
import re
import resource
import subprocess
import sys

MFC = sys.argv[1]
SANITIZED = sys.argv[2] != ""
MEMORY_BYTES = 64 << 20

failures = []
n_cases = 0


def little_memory():
    """Private memory above the limit is refused by the system."""
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))


def run(arguments, before=lambda: None, **how):
    """(exit code, stdout, stderr)"""

    def prepare():
        little_memory()
        before()

    got = subprocess.run([MFC] + arguments, capture_output=True, preexec_fn=prepare, **how)
    return got.returncode, got.stdout, got.stderr.decode("utf-8", "replace")


def check(name, got, codes, message, folder=None, left=()):
    """Files in `folder` afterwards must be exactly those of `left`."""
    global n_cases
    n_cases += 1
    code, out, err = got
    wrong = []
    if code not in codes:
        wrong.append(f"exit code {code}, not {codes}")
    if not re.search(message, err):
        wrong.append(f"no message like {message!r}")
    if out and code not in (0,):
        wrong.append("something on stdout")
    if folder is not None and sorted(os.listdir(folder)) != sorted(left):
        wrong.append(f"left behind: {os.listdir(folder)}")
    if wrong:
        failures.append(name)
        print(f"{name}: {'; '.join(wrong)}\n  {err.strip()[:600]}")


def finish(min_cases):
    print(f"{n_cases} cases, {len(failures)} failed")
    sys.exit(bool(failures) or n_cases < min_cases)
