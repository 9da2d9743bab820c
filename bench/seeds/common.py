"""What the comparisons share: running mfc, and tables as Markdown, CSV and SVG. Figures are ratios: they say the same on every
machine, as far as nothing ran out of time."""
import argparse
import csv
import io
import math
import os
import subprocess
import sys
from html import escape

HERE = os.path.dirname(os.path.abspath(__file__))


def arguments(text, **more):
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", default=os.path.join("build", "seeds"), metavar="FOLDER", help="where tables and pictures go")
    parser.add_argument("--mfc", default=os.path.join(HERE, "..", "..", "build", "mfc"), metavar="FILE")
    for name, (default, help_text) in more.items():
        parser.add_argument("--" + name.replace("_", "-"), default=default, type=type(default), 
                            help=f"{help_text} ({default})".replace("%", "%%"))
    args = parser.parse_args()
    os.makedirs(args.output, exist_ok=True)
    return args


def mfc(args, *words):
    """Standard output, or None when mfc found nothing (exit codes 5 and 6)."""
    done = subprocess.run([args.mfc, *map(str, words)], capture_output=True, text=True)
    if done.returncode in (5, 6):
        return None
    if done.returncode:
        sys.exit(f"mfc {' '.join(map(str, words))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def write(args, name, header, lines):
    """The table as NAME.md and NAME.csv, and on standard output."""
    cells = [[f"{x:.3g}" if isinstance(x, float) else str(x) for x in line] for line in lines]
    text = "".join("| " + " | ".join(line) + " |\n" for line in [header, ["---"] * len(header), *cells])
    with open(os.path.join(args.output, name + ".md"), "w", encoding="utf-8") as f:
        f.write(text)
    with open(os.path.join(args.output, name + ".csv"), "w", encoding="utf-8", newline="") as f:
        csv.writer(f, lineterminator="\n").writerows([header, *lines])
    print(f"\n{name}\n\n{text}", flush=True)


COLOURS = ["#e0651a", "#3f78b5", "#2f9e83", "#8a63b8", "#c2578a", "#a8842c", "#4aa3c7", "#6f9a3a"]


def picture(args, name, title, x_title, y_title, lines, log=False):
    """NAME.svg: a line for each (label, xs, ys). With log, both axes are logarithmic: growth shows as a slope."""
    width, height, left, top, right, bottom = 760, 400, 64, 34, 210, 48
    scale = math.log10 if log else float
    xs = [scale(x) for _, line, _ in lines for x in line]
    ys = [scale(y) for _, _, line in lines for y in line]
    x0, x1, y0, y1 = min(xs), max(xs), min(ys) if log else 0.0, max(ys)

    def place(x, y):
        return (left + (width - left - right) * (scale(x) - x0) / ((x1 - x0) or 1),
                height - bottom - (height - top - bottom) * (scale(y) - y0) / ((y1 - y0) or 1))

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#fff"/><text x="{left}" y="20" font-weight="bold">{escape(title)}</text>',
           f'<path d="M{left} {top}V{height - bottom}H{width - right}" fill="none" stroke="#999"/>',
           f'<text x="{(left + width - right) / 2}" y="{height - 10}" text-anchor="middle">{escape(x_title)}</text>',
           f'<text transform="translate(14 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">{escape(y_title)}</text>']
    for x in sorted({x for _, line, _ in lines for x in line}):
        at = place(x, 10 ** y0 if log else y0)
        out.append(f'<text x="{at[0]:.1f}" y="{at[1] + 16:.1f}" text-anchor="middle" fill="#666">{x:g}</text>')
    for k in range(5):
        value = y0 + (y1 - y0) * k / 4
        value = 10 ** value if log else value
        out.append(f'<text x="{left - 6}" y="{place(10 ** x0 if log else x0, value)[1] + 4:.1f}" text-anchor="end" '
                   f'fill="#666">{value:.3g}</text>')
    for i, (label, line_x, line_y) in enumerate(lines):
        points = [place(x, y) for x, y in zip(line_x, line_y)]
        colour = COLOURS[i % len(COLOURS)]
        out.append(f'<path d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in points)}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points]
        out.append(f'<text x="{width - right + 14}" y="{top + 12 + 20 * i}" fill="{colour}">{escape(label)}</text>')
    save_svg(args, name, out)


def bars(args, name, title, groups, series):
    """NAME.svg: for each group a bar of each series, {label: [height for each group]}."""
    width, height, left, top, bottom = 120 * len(groups) + 230, 360, 50, 34, 40
    most = max(x for line in series.values() for x in line) or 1
    room = (width - left - 180) / len(groups)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="12">',
           f'<rect width="{width}" height="{height}" fill="#fff"/><text x="{left}" y="20" font-weight="bold">{escape(title)}</text>',
           f'<path d="M{left} {top}V{height - bottom}H{width - 180}" fill="none" stroke="#999"/>']
    for g, group in enumerate(groups):
        out.append(f'<text x="{left + room * (g + 0.5):.1f}" y="{height - bottom + 18}" text-anchor="middle">{escape(group)}</text>')
    for i, (label, line) in enumerate(series.items()):
        colour, wide = COLOURS[i % len(COLOURS)], 0.8 * room / len(series)
        for g, x in enumerate(line):
            at, high = left + room * (g + 0.1) + wide * i, (height - top - bottom) * x / most
            out.append(f'<rect x="{at:.1f}" y="{height - bottom - high:.1f}" width="{wide:.1f}" height="{high:.1f}" fill="{colour}">'
                       f'<title>{escape(f"{groups[g]}, {label}: {x:.3g}")}</title></rect>')
            if x:
                out.append(f'<text x="{at + wide / 2:.1f}" y="{height - bottom - high - 3:.1f}" text-anchor="middle" font-size="8" '
                           f'fill="#666">{x:.3g}</text>')
        out.append(f'<text x="{width - 166}" y="{top + 12 + 20 * i}" fill="{colour}">{escape(label)}</text>')
    save_svg(args, name, out)


def save_svg(args, name, out):
    with open(os.path.join(args.output, name + ".svg"), "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n</svg>\n")
