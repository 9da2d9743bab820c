"""The words of docs/glossary or the field, not a dialect of our own: expressions that were replaced once do not come back.

    words.py [--count]      --count: how often each one is found, and nothing else

Each row is an expression, and the word to use instead."""
import re
import sys

import tree

WORDS = [
    (r"time more|extra time", "overhead"),
    (r"computed again|runs? again|run again", "recomputed, recomputation"),
    (r"unplanned", "baseline step"),
    (r"laid out|lays out", "arena, static layout"),
    (r"fixed part|held throughout", "persistent memory"),
    (r"by liveness", "liveness peak"),
    (r"of which at least", "lower bound"),
    (r"how far from the (optimum|best)|distance from the optimum", "optimality gap"),
    (r"every step can be done", "valid"),
    (r"every tensor has its place", "no overlapping addresses"),
    (r"told to end", "stopped"),
    (r"what is to be small", "objective to minimize"),
    (r"\bheats?\b|hottest|\bhotter\b", "temperature"),
    (r"put aside|cold storage", "offload"),
    (r"the whole way", "the default pipeline"),
    (r"no[ _]room", "out of memory, slack"),
    (r"pretended", "sink"),
    (r"priced cuts?|one cut, priced", "Lagrangian relaxation of a cut"),
    (r"given starts?", "initial solution"),
    (r"\bdear(er|est)?\b", "expensive"),
    (r"longest ways?", "longest path, tail"),
    (r"\bsoil(ed|s)?\b", "mark_dirty"),
    (r"heal_copies", "promote_clone"),
    (r"\bhunt(s|ed|ing)?\b", "search state"),
    (r"strike_out|struck out|strikes? out", "drop_refuted_bounds"),
    (r"had better", "should; clusters"),
    (r"\btwins?\b", "duplicate"),
    (r"\bbared\b", "newly fusible"),
    (r"\bshaken\b", "perturbed"),
    (r"reckon", "evaluate, estimate"),
    (r"\bmates?\b", "peer"),
    (r"\bpresets?\b", "default"),
    (r"cannot treat", "does not support"),
    (r"for people|for machines", "human-readable, machine-readable"),
    (r"nodes that draw|that draws? numbers", "random nodes"),
    (r"as they stand in the file", "in file order"),
    (r"says? of (itself|themselves)", "reports, claims"),
    (r"nobody (reads?|needs?|uses?)", "dead, unused"),
    (r"\b(most|least)_[a-z]\w*|\b(MOST|LEAST)_[A-Z]\w*", "max_, min_"),
]

# (expression as found, part of the path) -> why it stays. Keys of JSON documents, metadata and old spellings of options are
# what users' scripts may contain.
ALLOWED = []

SKIPPED = ("CHANGELOG.md", "tests/structure/words.py", "package-lock.json")
ENDINGS = (".c", ".h", ".def", ".in", ".py", ".mjs", ".sh", ".md", ".txt", ".test", ".mfc", ".cmake", ".case")

rules = [(re.compile(pattern, re.I if "[A-Z]" not in pattern else 0), word) for pattern, word in WORDS]
counts, found = [0] * len(rules), []
for path in tree.files(*ENDINGS):
    if path.endswith(SKIPPED):
        continue
    for number, text in tree.lines(path):
        for i, (rule, word) in enumerate(rules):
            for m in rule.finditer(text):
                if any(word == m.group(0) and part in path for word, part, _ in ALLOWED):
                    continue
                counts[i] += 1
                found.append(f"{path}:{number}: {m.group(0)!r}: {word}")
if sys.argv[1:] == ["--count"]:
    for (pattern, _), n in sorted(zip(WORDS, counts), key=lambda x: -x[1]):
        print(f"{n:5} {pattern[0]}" if isinstance(pattern, tuple) else f"{n:5} {pattern}")
    sys.exit(0)
print("\n".join(found[:200]))
print(f"{len(WORDS)} expressions, {sum(counts)} complaints")
sys.exit(sum(counts) != 0)
