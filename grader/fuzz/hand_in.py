#!/usr/bin/env python3
"""libFuzzer on the reader of hand-ins, by way of atheris, which brings it to Python (`pip install atheris`).

    grader/fuzz/hand_in.py CORPUS... [-max_total_time=600]

The first byte says what the rest is: a .zip, a .tar.gz, or a tar that is packed here, so that its inside is reached. Each
must be read or refused, as grader/proof/hand_in_reader_test.py has it, which looks at the kept corpus again without atheris.
"""
import os
import sys
import tempfile

import atheris

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "../proof"), os.path.join(HERE, "../../tools")]
with atheris.instrument_imports(include=["hand_in_reader", "tarfile", "zipfile"]):
    import hand_in_reader_test as test

FOLDER = tempfile.mkdtemp()


def one(data):
    ending, archive = test.archive_of(bytes(data))
    problem = test.try_one(FOLDER, ending, archive)
    if problem:
        raise RuntimeError(problem)


if __name__ == "__main__":
    atheris.Setup(sys.argv, one)
    atheris.Fuzz()
