"""The files of the source tree, without what is built or installed into it."""
import os

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def files(*endings):
    """Paths from the top, sorted; only those with one of the endings, if any are given."""
    found = []
    for folder, inner, names in os.walk(TOP):
        inner[:] = [n for n in inner if n not in ("node_modules", "__pycache__", ".git")
                    and not (folder == TOP and n.startswith("build"))]
        found += [os.path.relpath(os.path.join(folder, n), TOP) for n in names
                  if n != ".git" and (not endings or n.endswith(endings))]
    return sorted(found)


def lines(path):
    """(number, text) of a text file; nothing for a file that is none."""
    with open(os.path.join(TOP, path), "rb") as f:
        data = f.read()
    if b"\0" in data:
        return []
    return list(enumerate(data.decode("utf-8").split("\n"), 1))
