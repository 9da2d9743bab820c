# lit's settings. In a RUN line: %mfc is the command, %s the test file, %S its folder, %t a file name
# of its own, %examples the examples; FileCheck and `not` are LLVM's. `not --crash` is never right.
# `exits N COMMAND...` succeeds when the command ends with exit code N.
import os

import lit.formats

here = os.path.dirname(os.path.abspath(__file__))
top = os.path.dirname(os.path.dirname(here))

config.name = "text"
config.test_format = lit.formats.ShTest(execute_external=True)
config.suffixes = [".test", ".mfc"]
config.excludes = ["Inputs"]
config.test_source_root = here
config.test_exec_root = lit_config.params["scratch"]

config.substitutions += [
    ("%mfc", lit_config.params["mfc"]),
    ("%examples", os.path.join(top, "examples")),
    (r"\bexits\b", os.path.join(here, "exits")),
]
config.environment["PATH"] = lit_config.params["tools"] + os.pathsep + os.environ["PATH"]
# Sanitizers tell by their exit code; they must not be taken for an expected failure.
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
