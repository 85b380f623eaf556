"""A class on more than one machine: the same command once for each part of it, in an array of Slurm's jobs."""
import os
import subprocess
import time
import zlib

from class_folder import Stopped


def shard(text):
    """"0/3", and so on to "2/3"."""
    part, parts = (int(number) for number in text.split("/"))
    if not 0 <= part < parts:
        raise ValueError(text)
    return text


def of_shard(students, shard):
    """{name: hand-ins} of a part that does not change when others hand in."""
    if shard is None:
        return students
    part, parts = (int(number) for number in shard.split("/"))
    return {name: hand_ins for name, hand_ins in students.items() if zlib.crc32(os.fsencode(name)) % parts == part}


def still_runs(job):
    """Slurm forgets a job some time after its end. Where it gives no answer at all, it is asked again."""
    done = subprocess.run(["squeue", "--noheader", "--jobs", job], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) if done.returncode == 0 else "Invalid job id" not in done.stderr


def done_note(out, shard):
    """The file that a shard leaves as its last act."""
    return os.path.join(out, ".done-" + shard.replace("/", "-of-"))


def on_slurm(course, names, options, arguments):
    """The same command once for each shard, in an array of jobs; waits for all of them. Those that did not come to their
    end: who is graded again has a record in any case."""
    parts = min(options.slurm, len(names))
    notes = [done_note(course.out, f"{part}/{parts}") for part in range(parts)]
    for note in filter(os.path.exists, notes):
        os.unlink(note)
    submit = ["sbatch", "--parsable", f"--array=0-{parts - 1}", "--job-name", f"grade-{course.lab}",
              "--output", os.path.join(course.out, "slurm-%a.log"), "--chdir", os.getcwd(), *options.sbatch.split(),
              "tools/slurm_shard.sh", *arguments]
    try:
        done = subprocess.run(submit, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise Stopped("there is no sbatch here: Slurm's packages are called slurm-wlm and munge") from None
    if done.returncode != 0:
        raise Stopped(f"sbatch: {done.stderr.strip()}")
    job = done.stdout.strip().split(";")[0]
    print(f"Slurm job {job}: {parts} shards, logs in {course.out}/slurm-*.log", flush=True)
    before = -1
    while still_runs(job):
        graded = sum(os.path.exists(course.path(name)) for name in names)
        if graded != before:
            print(f"{graded}/{len(names)}", flush=True)
        before = graded
        time.sleep(options.poll)
    return [str(part) for part, note in enumerate(notes) if not os.path.exists(note)]
