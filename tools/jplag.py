"""JPlag on the same hand-ins, where Java and its jar are there: tools/similar.py --jplag.

JPlag's C++ takes .c and .cpp, not .cu: such files are called .cu.cpp for it. The stub is its base code.
"""
import os
import shutil
import subprocess

from class_folder import Stopped


def check(jar):
    if shutil.which("java") is None:
        raise Stopped("JPLAG= needs Java, and there is no java here")
    if not os.path.isfile(jar):
        raise Stopped(f"{jar}: there is no such file; JPLAG= is JPlag's jar")


def name_for(file):
    return file + ".cpp" if file.endswith((".cu", ".cuh")) else file


def write(folder, texts):
    os.makedirs(folder)
    for name, text in texts.items():
        with open(os.path.join(folder, name_for(name)), "w", encoding="utf-8", errors="replace") as file:
            file.write(text)


def run(jar, folder, stub, hand_ins):
    """Leaves result.jplag or result.zip in the folder, as its release calls it, and what it said in jplag.log."""
    write(f"{folder}/base", stub)
    for name, texts in hand_ins.items():
        write(f"{folder}/hand-ins/{name}", texts)
    with open(f"{folder}/jplag.log", "wb") as log:
        done = subprocess.run(["java", "-jar", os.path.abspath(jar), "-l", "cpp", "-M", "RUN", "-bc", os.path.abspath(f"{folder}/base"),
                               "-r", os.path.abspath(f"{folder}/result"), os.path.abspath(f"{folder}/hand-ins")],
                              stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        with open(f"{folder}/jplag.log", encoding="utf-8", errors="replace") as log:
            lines = log.read().strip().splitlines()
        raise Stopped(f"JPlag ended with status {done.returncode}: {lines[-1] if lines else 'it said nothing'}")
