#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what bench/compare.py measured: chart.py RESULTS.md WORK TITLE > PICTURE.svg

RESULTS.md has a table with the columns model, work, sampo tok/s, llama.cpp tok/s, ratio and share of the limit; rows whose work is WORK
(decode or prefill) become two bars and a mark at the machine's limit, which is Sampo's speed over its share."""

import sys
from html import escape

LEFT, WIDTH, ROW, BAR, TOP = 250, 640, 44, 15, 64
COLOURS = {"Sampo": "#1f6f8b", "llama.cpp": "#b9b4a7"}


def rows(path, work):
    """The rows of that work: model, speed of Sampo and of llama.cpp, and the limit, in tok/s; and the ratio."""
    columns = None
    for line in open(path, encoding="utf-8"):
        cells = [c.strip() for c in line.strip().strip("|").split("|")]
        if cells[:2] == ["model", "work"]:
            columns = {name: i for i, name in enumerate(cells)} if "llama.cpp tok/s" in cells else None
        elif not line.startswith("|"):
            if columns:
                return  # the first such table only
        elif columns and cells[0] and cells[1] == work:
            ours, theirs, share = (float(cells[columns[c]]) for c in ("sampo tok/s", "llama.cpp tok/s", "share of the limit"))
            yield cells[0], ours, theirs, ours / share, cells[columns["ratio"]]


def chart(data, title):
    """An SVG picture. Each model has a scale of its own, as the largest is ten times as fast as the smallest: the limit, or Sampo's speed if it is higher, fills the width."""
    height = TOP + ROW * len(data) + 12
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 90}" height="{height}" font-family="sans-serif" font-size="13">',
           f'<rect width="100%" height="100%" fill="#ffffff"/><text x="12" y="24" font-size="16" font-weight="bold">{escape(title)}</text>']
    for i, (name, colour) in enumerate(COLOURS.items()):
        out.append(f'<rect x="{LEFT + 110 * i}" y="36" width="12" height="12" fill="{colour}"/><text x="{LEFT + 18 + 110 * i}" y="47">{name}</text>')
    out.append(f'<path d="M{LEFT + 230} 36v14" stroke="#c2410c" stroke-width="3"/><text x="{LEFT + 240}" y="47">what the machine could do at most</text>')
    for i, (model, ours, theirs, limit, ratio) in enumerate(data):
        y, scale = TOP + ROW * i, WIDTH / max(ours, theirs, limit)
        out.append(f'<text x="{LEFT - 10}" y="{y + 20}" text-anchor="end">{escape(model)}</text>')
        for k, (speed, colour) in enumerate(zip((ours, theirs), COLOURS.values())):
            at = y + k * (BAR + 2)
            out.append(f'<rect x="{LEFT}" y="{at}" width="{speed * scale:.1f}" height="{BAR}" fill="{colour}"/>')
            inside = "#ffffff" if k == 0 else "#000000"
            out.append(f'<text x="{LEFT + 6}" y="{at + 12}" fill="{inside}" font-size="12">{speed:.4g} tok/s</text>')
        out.append(f'<path d="M{LEFT + limit * scale:.1f} {y - 2}v{2 * BAR + 6}" stroke="#c2410c" stroke-width="3"/>')
        out.append(f'<text x="{LEFT + WIDTH + 12}" y="{y + 20}">{ratio} times</text>')
    return "\n".join(out + ["</svg>"])


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    path, work, title = sys.argv[1:]
    data = list(rows(path, work))
    if not data:
        sys.exit(f"chart.py: {path} has no table with work {work!r}")
    print(chart(data, title))


if __name__ == "__main__":
    main()
