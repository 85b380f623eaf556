#!/usr/bin/env python3
"""Draws a ring all-reduce (tools/nccl/ring.h) with Graphviz: for each step, what each rank has of each chunk.

    tools/ring_picture.py RANKS FILE.svg
"""

import subprocess
import sys

SHADES = ("#eef4fb", "#c6dcf2", "#8fbbe4", "#4a8fd0")  # numbers of one rank, ..., of all ranks


def steps_of(ranks):
    """What is there before each step, rank by chunk: the ranks whose numbers are in the sum; and what is sent."""
    held = [[[rank] for _ in range(ranks)] for rank in range(ranks)]
    for number in range(2 * (ranks - 1)):
        gathering = number >= ranks - 1
        sent = [(rank + gathering - number % (ranks - 1)) % ranks for rank in range(ranks)]
        yield [[list(sum_) for sum_ in row] for row in held], sent
        moved = [list(held[rank][sent[rank]]) for rank in range(ranks)]
        for rank in range(ranks):
            chunk, to = sent[rank], (rank + 1) % ranks
            held[to][chunk] = moved[rank] if gathering else moved[rank] + held[to][chunk]
    yield held, None


def cell(sum_, ranks, chunk):
    shade = SHADES[(len(sum_) - 1) * (len(SHADES) - 1) // max(1, ranks - 1)]
    text = "all" if len(sum_) == ranks else "+".join(map(str, sum_))
    return f'<td port="c{chunk}" width="46" bgcolor="{shade}">{text}</td>'


def graph_of(ranks):
    lines = ["digraph ring {", 'graph [fontname="sans-serif", ranksep=0.4, nodesep=0.35]',
             'node [shape=plain, fontname="sans-serif", fontsize=11]', 'edge [color="#c05020", arrowsize=0.6, penwidth=1.4]']
    for step, (held, sent) in enumerate(steps_of(ranks)):
        names = []
        for rank, row in enumerate(held):
            head = f'<tr><td colspan="{ranks}" border="0">rank {rank}</td></tr>' if step == 0 else ""
            cells = "".join(cell(sum_, ranks, chunk) for chunk, sum_ in enumerate(row))
            lines.append(f'n{step}_{rank} [label=<<table border="0" cellborder="1" cellspacing="0">{head}<tr>{cells}</tr></table>>]')
            names.append(f"n{step}_{rank}")
        lines.append(f"{{rank=same; {' -> '.join(names)} [style=invis]}}")
        for rank in range(ranks if sent else 0):
            to = (rank + 1) % ranks
            lines.append(f"n{step}_{rank}:c{sent[rank]}:s -> n{step + 1}_{to}:c{sent[rank]}:n [constraint=false]")
            lines.append(f"n{step}_{rank} -> n{step + 1}_{rank} [style=invis]")
    return "\n".join(lines + ["}"])


def main():
    if len(sys.argv) != 3 or not sys.argv[1].isdigit() or not 2 <= int(sys.argv[1]) <= 8:
        print("usage: tools/ring_picture.py RANKS FILE.svg    (2 to 8 ranks)", file=sys.stderr)
        sys.exit(2)
    subprocess.run(["dot", "-Tsvg", "-o", sys.argv[2]], input=graph_of(int(sys.argv[1])), text=True, check=True)


if __name__ == "__main__":
    main()
