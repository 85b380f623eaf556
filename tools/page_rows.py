"""Figures that a page of the handbook repeats in a table, and whether they are still those that a program finds."""

import sys


def has_rows(page, rows):
    """Whether a page has the cells of every row next to each other in one of its tables; says which are missing."""
    with open(page, encoding="utf-8") as file:
        text = file.read()
    missing = [cells for cells in rows if f"| {' | '.join(cells)} |" not in text]
    for cells in missing:
        print(f"{page} has no row with: | {' | '.join(cells)} |", file=sys.stderr)
    return not missing
