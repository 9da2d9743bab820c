"""The words of the field, not a dialect of our own: expressions that were replaced do not come back.

    words.py [--count]      --count: how often each one is found, and nothing else

Each row is an expression, and the word to use instead. Those of LATER are still in the tree: they are counted and fail nothing. A row
moves up when its last use is gone."""
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
]

LATER = [
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

# (expression as found, part of the path) -> why it stays. Keys of JSON documents, metadata and old spellings of options are
# what users' scripts may contain.
ALLOWED = {}

SKIPPED = ("CHANGELOG.md", "tests/structure/words.py", "tests/readme/docs.py", "package-lock.json")
ENDINGS = (".c", ".h", ".def", ".in", ".py", ".mjs", ".sh", ".md", ".txt", ".test", ".mfc", ".cmake", ".case")

rules = [(re.compile(pattern, re.I if "[A-Z]" not in pattern else 0), word) for pattern, word in WORDS + LATER]
counts, found = [0] * len(rules), []
for path in tree.files(*ENDINGS):
    if path.endswith(SKIPPED):
        continue
    lines = tree.lines(path)
    whole = "\n".join(text for _, text in lines)
    present = [(i, *r) for i, r in enumerate(rules) if r[0].search(whole)]
    for number, text in lines:
        for i, rule, instead in present:
            for m in rule.finditer(text):
                if any(m.group(0) == what and part in path for what, part in ALLOWED):
                    continue
                counts[i] += 1
                if i < len(WORDS):
                    found.append(f"{path}:{number}: {m.group(0)!r}: {instead}")
if sys.argv[1:] == ["--count"]:
    for n, (pattern, _) in sorted(zip(counts, WORDS + LATER), reverse=True):
        print(f"{n:5} {pattern}")
    sys.exit(0)
print("\n".join(found))
print(f"{len(WORDS)} expressions, {len(found)} complaints; of {len(LATER)} more there are {sum(counts[len(WORDS):])} left")
sys.exit(bool(found))
