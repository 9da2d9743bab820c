"""The words of the field, not a dialect of our own: expressions that were replaced do not come back.

Each row is an expression, and the word to use instead."""
import re
import sys

import tree

WORDS = [
    (r"of which at least", "lower bound"),
    (r"every step can be done", "valid"),
    (r"told to end", "stopped"),
    (r"the whole way", "the default pipeline"),
    (r"longest ways?", "longest path, tail"),
    (r"\bsoil(ed|s)?\b", "mark_dirty"),
    (r"heal_copies", "promote_clone"),
    (r"\bhunt(s|ed|ing)?\b", "search state"),
    (r"had better", "should; clusters"),
    (r"\btwins?\b", "duplicate"),
    (r"\bbared\b", "newly fusible"),
    (r"\bshaken\b", "perturbed"),
    (r"\bmates?\b", "peer"),
    (r"nodes that draw|that draws? numbers", "random nodes"),
    (r"how far from the (optimum|best)|distance from the optimum", "optimality gap"),
    (r"every tensor has its place", "no overlapping addresses"),
    (r"what is to be small", "objective to minimize"),
    (r"pretended", "sink"),
    (r"reckon", "evaluate, estimate"),
    (r"cannot treat", "does not support"),
    (r"time more|extra time", "overhead"),
    (r"computed again|runs? again|run again", "recomputed, recomputation"),
    (r"unplanned", "baseline step"),
    (r"laid out|lays out", "arena, static layout"),
    (r"fixed part|held throughout", "persistent memory"),
    (r"by liveness", "liveness peak"),
    (r"\bheats?\b|hottest|\bhotter\b", "temperature"),
    (r"put aside|cold storage", "offload"),
    (r"no[ _]room", "out of memory, slack"),
    (r"priced cuts?|one cut, priced", "Lagrangian relaxation of a cut"),
    (r"given starts?", "initial solution"),
    (r"\bdear(er|est)?\b", "expensive"),
    (r"strike_out|struck out|strikes? out", "drop_refuted_bounds"),
    (r"for people|for machines", "human-readable, machine-readable"),
    (r"as they stand in the file", "in file order"),
    (r"says? of (itself|themselves)", "reports, claims"),
    (r"nobody (reads?|needs?|uses?)", "dead, unused"),
    (r"\b(most|least)_[a-z]\w*|\b(MOST|LEAST)_[A-Z]\w*", "max_, min_"),
]

# Keys of JSON documents and of metadata that users' scripts may contain, and the checkpoint's key: each may stand in quotes only.
KEYS = ("least_bytes", "unplanned_peak_bytes", "unplanned_liveness_bytes", "heat")
QUOTED = re.compile(r"""(["'`|]|dev\.mfc\.)(%s)\b""" % "|".join(KEYS))

SKIPPED = ("CHANGELOG.md", "tests/structure/words.py", "tests/readme/docs.py", "package-lock.json")
ENDINGS = (".c", ".h", ".def", ".in", ".py", ".mjs", ".sh", ".md", ".txt", ".test", ".mfc", ".cmake", ".case")

rules = [(re.compile(pattern, re.I if "[A-Z]" not in pattern else 0), word) for pattern, word in WORDS]
found = []
for path in tree.files(*ENDINGS):
    if path.endswith(SKIPPED):
        continue
    lines = tree.lines(path)
    whole = "\n".join(text for _, text in lines)
    present = [rule for rule in rules if rule[0].search(whole)]
    for number, text in lines:
        text = QUOTED.sub("", text)
        for rule, instead in present:
            for m in rule.finditer(text):
                found.append(f"{path}:{number}: {m.group(0)!r}: {instead}")
print("\n".join(found))
print(f"{len(WORDS)} expressions, {len(found)} complaints")
sys.exit(bool(found))
