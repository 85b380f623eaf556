#!/usr/bin/env python3
"""A record that may be attached to an issue: `make record-to-share RECORD=graded/records/NAME.json`.

Only what is listed here is taken from it: no seed, no name, no time, no files' sums, no bets, no output of the student's
program, and no row of a hidden check. In the texts that stay, the name, addresses, the folders of paths, and whatever looks
like a seed are replaced. Read what it writes before you attach it.
"""
import json
import re
import sys

from arguments import Parser
from class_folder import Stopped, write_json
from exports.record import BadRecord, MOST_BYTES, parse, told

TAKEN = ("version", "lab", "kit", "judge", "sandbox", "score", "total", "full", "blamed")
TAKEN_OF_A_ROW = ("name", "state", "points", "earned", "title", "message", "mistake", "seconds", "cpu_seconds", "peak_bytes", "judge_bytes",
                  "sandbox_level")
SEED = re.compile(r"\b(?=[0-9a-fA-F]*\d)[0-9a-fA-F]{12,}\b")
MAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
PATH = re.compile(r"(?<![\w.])(?:[A-Za-z]:[\\/]|~?/)(?:[^\s:'\"<>|*?\\/]+[\\/]+)+")   # its last part stays


def words_of(record):
    """Whose hand-in it is, in each way in which a text may say it."""
    whole = [text for key in ("name", "from") for text in [record.get(key)] if isinstance(text, str) and text]
    parts = [part for text in whole for part in re.split(r"[\W_]+", text) if len(part) > 2 and not part.isdigit()]
    return sorted({*whole, *parts} - {"zip", "tar", "gz", "tgz", "solutions", "labs"}, key=len, reverse=True)


def cleaner(record):
    names = [re.compile(rf"(?<!\w){re.escape(word)}(?!\w)", re.I) for word in words_of(record)]
    seed = record.get("seed")

    def clean(value):
        if isinstance(value, dict):
            return {key: clean(each) for key, each in value.items()}
        if isinstance(value, list):
            return [clean(each) for each in value]
        if not isinstance(value, str):
            return value
        text = value.replace(seed, "[seed]") if isinstance(seed, str) and seed else value
        text = PATH.sub("", MAIL.sub("[mail]", text))
        for name in names:
            text = name.sub("[name]", text)
        return SEED.sub("[number]", text)
    return clean


def share(record):
    clean = cleaner(record)
    rows = [row for row in record["checks"] if row.get("visibility", "always") == "always"]
    hidden = len(record["checks"]) - len(rows)
    judge = {"judge": record["judge"]} if isinstance(record.get("judge"), str) else {}   # the sum of the checks, not a seed
    shown = {row["name"] for row in rows}
    story = {"story": clean(record["story"]) | {"checks": [name for name in record["story"]["checks"] if name in shown]}} if record.get("story") else {}
    return {**clean({key: record[key] for key in TAKEN if key in record}), **judge, **story, **({"hidden_rows": hidden} if hidden else {}),
            "checks": [{"name": row["name"], **clean({key: row[key] for key in TAKEN_OF_A_ROW if key in row and key != "name"})} for row in rows]}


def main():
    parser = Parser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("record")
    parser.add_argument("--output", default="build/record-to-share.json")
    options = parser.parse_args()
    try:
        with open(options.record, "rb") as file:
            data = file.read(MOST_BYTES + 1)
        parse(data)
        write_json(options.output, share(json.loads(data.decode(errors="replace"))))
    except (BadRecord, OSError) as error:
        print(f"record-to-share: {told(error) if isinstance(error, OSError) else f'{options.record}: {error}'}", file=sys.stderr)
        sys.exit(2)
    except Stopped as error:
        sys.exit(f"record-to-share: {error}")
    print(f"{options.output}: without seed, name, times, paths, output of the program. Read it before you attach it.")


if __name__ == "__main__":
    main()
