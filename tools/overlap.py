#!/usr/bin/env python3
"""Draws traces of `makespan` as lanes: for each stream of each device and each host, what runs when.

    tools/overlap.py TRACE... --picture FILE [--text SENTENCE]

Several traces stand one above the other, with one axis of time. A trace is written by `build/bin/makespan RECORD --machine FILE
--trace TRACE`; its times are declared, a lower bound, not measured, and the picture says so.
"""
import argparse
import json
import sys
from collections import namedtuple

import picture

COLOURS = {"kernels": "#2b6ca3", "copies": "#b06a10", "collectives": "#4a8a2c", "the host waits": "#c9c9c9", "the host calls": "#888888"}
GROUPS = {"launch": "kernels", "product": "kernels", "fill": "kernels", "copy": "copies", "collective": "collectives",
          "host wait": "the host waits", "graph": "the host calls"}
SHOWN = 40   # lanes at most

Span = namedtuple("Span", "lane begin end group")
Trace = namedtuple("Trace", "machine lanes spans")


def stop(text):
    print(text, file=sys.stderr)
    sys.exit(2)


def read(path):
    try:
        with open(path, encoding="utf-8") as file:
            whole = json.load(file)
        machine, events = f"{whole['otherData']['machine']}: {whole['otherData']['times']}", whole["traceEvents"]
        names = {(event["name"], event["pid"], event["tid"]): event["args"]["name"] for event in events if event["ph"] == "M"}
        spans = [Span((event["pid"], event["tid"]), event["ts"] / 1e3, (event["ts"] + event["dur"]) / 1e3, GROUPS[event["cat"]])
                 for event in events if event["ph"] == "X" and event["dur"] > 0 and event["cat"] in GROUPS]
    except OSError as error:
        stop(f"{path}: {error.strerror}")
    except (ValueError, KeyError, TypeError):
        stop(f"{path}: not a trace of makespan")
    lanes = {lane: f"{names['process_name', lane[0], 0]}, {names['thread_name', *lane]}" for lane in sorted({span.lane for span in spans})}
    return Trace(machine, lanes, spans)


def draw(traces, path, text):
    """Boxes: for each span begin, end and the place of its lane, from the top down."""
    labels, boxes, row = [], {group: "" for group in COLOURS}, 0
    for trace in traces:
        place = {}
        for lane in list(trace.lanes)[:SHOWN]:
            place[lane] = row
            labels.append(f"'{trace.lanes[lane]}' {-row}")
            row += 1
        for span in trace.spans:
            if span.lane in place:
                y = -place[span.lane]
                boxes[span.group] += f"{span.begin} {y} {span.begin} {span.end} {y - 0.4} {y + 0.4}\n"
        row += 1
    drawn = {group: data for group, data in boxes.items() if data}
    plots = ", ".join(f"'-' with boxxyerror fs solid 0.85 border lc rgb '#ffffff' lw 0.5 fc rgb '{COLOURS[group]}' title '{group}'" for group in drawn)
    machines = "; ".join(sorted({trace.machine for trace in traces})).replace("'", "")
    script = (f"set grid x lc rgb '#dddddd'\nset xlabel 'milliseconds on {machines}'\nset key above\n"
              f"set ytics ({', '.join(labels)}) scale 0\nset yrange [{-row + 0.3}:0.7]\nset xrange [0:*]\n"
              f"plot {plots}\n" + "".join(f"{data}e\n" for data in drawn.values()))
    return picture.draw(script, (820, 100 + 34 * row), path, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("traces", nargs="+", metavar="TRACE")
    parser.add_argument("--picture", required=True)
    parser.add_argument("--text", default="What runs when on each stream of each device")
    parser.error = lambda text: stop(f"overlap.py: {text}; --help says more")
    options = parser.parse_args()
    traces = [read(path) for path in options.traces]
    if not any(trace.spans for trace in traces):
        stop(f"{options.traces[0]}: nothing in it takes time")
    sys.exit(not draw(traces, options.picture, options.text))


if __name__ == "__main__":
    main()
