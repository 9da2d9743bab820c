"""The same bytes under other circumstances: same_bytes.py MFC SCRATCH.

With --work a plan must not depend on threads, locale, folder, environment or addresses in memory: for a budget, --overhead and
--rig. The plan, and its JSON without the command line, are compared."""
import hashlib
import itertools
import os
import shutil
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CASES = {"budget": ["--budget", "97%"], "overhead": ["--overhead", "5%"], "rig": ["--rig", "2xV100-16GB"]}


def locales():
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    return ["C"] + [n for n in known if n.lower().startswith(("de_de", "tr_tr", "c.utf"))][:2]


def digest(mfc, model, case, threads, locale, folder, is_fixed):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    command = [mfc, model, "-o", "plan.onnx", "-q", "--work", "300", "--seed", "7", "--threads", str(threads), *CASES[case]]
    if is_fixed:
        command = ["setarch", "-R", *command]
    subprocess.run(command, cwd=folder, env={**os.environ, "LC_ALL": locale, "FILLER": "x" * len(folder)}, check=True,
                   capture_output=True)
    with open(os.path.join(folder, "plan.onnx"), "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def main(mfc, scratch):
    mfc, failed, n = os.path.abspath(mfc), 0, 0
    can_fix = subprocess.run(["setarch", "-R", "true"], capture_output=True).returncode == 0
    for model in ("mlp", "resnet"):
        path = os.path.join(TOP, "examples", model + ".onnx")
        for case in CASES:
            found = {}
            for threads, locale, name, fixed in itertools.product((1, 2, 4), locales(), ("a", "a/longer"), (False, can_fix)):
                how = (threads, locale, name, fixed)
                found.setdefault(digest(mfc, path, case, threads, locale, os.path.join(scratch, name), fixed), []).append(how)
                n += 1
            if len(found) > 1:
                failed += 1
                print(f"FAIL {model} {case}: {list(found.values())}")
    print(f"{n} runs, {failed} cases with different bytes")
    sys.exit(failed > 0)


main(*sys.argv[1:])
