#!/usr/bin/env python3
"""The compiler of a hand-in sees a folder of headers and nothing else of the kit, and no header is a gift.

Each file that a student would like to read is asked for in each way that a compiler and its assembler know: the answer is that it is
not there, or closed, and no line of it. Works in build/headers-test; programs must be built: `make graders`. Ends with
`headers: all good`.
"""
import glob
import os
import re
import shutil

import expecting
import grader_proof as proof   # which finds tools/
import handout_files
import handout_leaks
import lab_files
from expecting import expect

OUT = os.path.abspath("build/headers-test")
KIT = os.getcwd()
WANTED = ("common/params.c", "common/block.c", "kernels/adamw.c", "kernels/scale.cu", "cudasim/profile.c", "grader/check.h",
          "grader/labs/00_bytes/answers.c", "labs/00_bytes/tests.c", "labs/00_bytes/lab.json", "solutions/00_bytes/bytes.c",
          "solutions/02_kernels/sumsq.cu", "build/judge/00_bytes", "build/libkit.a", "build/grade/00_bytes.json")
OF_THE_MACHINE = ("/etc/passwd", "/proc/self/environ", "/proc/self/maps", "/proc/self/cmdline", "/proc/version")
# An assembler goes on after an error, so one hand-in asks for all files. A compiler ends at the first.
ALL_AT_ONCE = {"incbin": '__asm__(".incbin \\"{}\\"");', "the assembler's include": '__asm__(".include \\"{}\\"");'}
ONE_BY_ONE = {"include": '#include "{}"', "from its own folder": '#include "../../../../../../../../../..{}"',
              "through /proc": '#include "/proc/self/root{}"', "asked whether it is there": '#if __has_include("{}")\n#error "it is there"\n#endif'}
CLOSED = re.compile(r"Permission denied|No such file|can't open|file not found|not found: ")
HEADER = re.compile(r"\.(h|cuh)$")


def built(lab, name, text):
    """What building a hand-in says, with `text` in front of the file; "" if it is built."""
    folder = f"{OUT}/hand-in"
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    for file in proof.files(lab):
        with open(f"{folder}/{file}", "w", encoding="utf-8") as to:
            to.write((text + "\n" if file == name else "") + proof.solution(lab, file))
    check = next(iter(lab_files.read_lab(lab)["points"]))
    row = proof.grade(lab, folder, checks=[check])["rows"][check]
    return row["message"] if row["state"] == "build error" else ""


def check_ways(lab, name, wanted, at_once, one_by_one):
    paths = [f"{KIT}/{path}" for path in wanted] + list(OF_THE_MACHINE)
    expect(all(os.path.exists(path) for path in paths), "all that is asked for is there")
    for way, text in at_once.items():
        said = [line for line in built(lab, name, "\n".join(map(text.format, paths))).splitlines() if CLOSED.search(line)]
        open_ones = [path for path in paths if not any(path in line for line in said)]
        expect(not open_ones, f"{name}, {way}: {len(paths)} files are closed {open_ones[:2]}")
    for way in one_by_one:
        path = paths[len(way) % len(wanted)]
        said = built(lab, name, ONE_BY_ONE[way].format(path))
        expect(CLOSED.search(said), f"{name}, {way}: {path} is closed: {said[:100]}")


def check_folder():
    """What is in it: headers, each as it is in the kit, and none with a list or a part of a solution."""
    names = sorted(os.path.relpath(path, "build/headers") for path in glob.glob("build/headers/**", recursive=True) if os.path.isfile(path))
    odd = [name for name in names if not HEADER.search(name) and not name.startswith("cudasim/include/cuda/")]
    expect(len(names) > 60 and not odd, f"{len(names)} headers, and nothing else {odd}")
    outside = [name for name in names if not name.startswith(("kernels/", "common/", "cudasim/include/")) and not name.endswith("/contract.h")]
    expect(not outside and not any(name.startswith("common/testkit") for name in names), f"none of the grader's or of the labs' {outside}")
    search = handout_leaks.search_of("00", False)
    texts = {name: handout_files.read(f"build/headers/{name}") for name in names}
    gifts = [(name, leak) for name, text in texts.items() for leak in handout_leaks.leaks_in(search, name, text)]
    expect(not gifts, f"no part of any solution {gifts[:2]}")
    lists = [name for name, text in texts.items() if re.search(r"\bX\([^)]*\b[CV]\b[^)]*\)", re.sub(r"/\*.*?\*/", "", text, flags=re.S))]
    expect(not lists, f"no list with sizes that a macro could add up {lists}")


def main():
    shutil.rmtree(OUT, ignore_errors=True)
    check_folder()
    check_ways("00_bytes", "bytes.c", WANTED, ALL_AT_ONCE, ONE_BY_ONE)
    check_ways("02_kernels", "sumsq.cu", WANTED[:4], {}, ["include"])   # in CUDA an asm is refused as such
    expecting.end("headers")


if __name__ == "__main__":
    main()
