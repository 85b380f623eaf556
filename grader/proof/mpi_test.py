#!/usr/bin/env python3
"""Ranks over MPI: the same bits as in one process, a rank that is killed, what is said once, Slurm.

    grader/proof/mpi_test.py [Bits|Collectives|Ends|Links|Said|Techniques|Slurm]     needs make mpi, build/bin/train and build/bin/ring-check
"""
import filecmp
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ALONE, RANKS, CHECK = "build/bin/train", "build/mpi/bin/train", "build/mpi/bin/ranks-check"
SMALL = ("--n_layer 2 --n_embd 32 --n_positions 32 --per_device_train_batch_size 3 --logging_steps 1 --eval_fraction 0.01 "
         "--learning_rate 0.002 --dropout 0").split()
LIMIT = 170  # seconds that a run may take before it is said to hang


def started(ranks, program, *words, **settings):
    return subprocess.Popen(["tools/mpirun.sh", str(ranks), program, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env=dict(os.environ, **settings))


def run(ranks, program, *words, **settings):
    """Status, stdout, stderr; with 0 ranks the program by itself."""
    if ranks == 0:
        done = subprocess.run([program, *words], capture_output=True, text=True, check=False, timeout=LIMIT, env=dict(os.environ, **settings))
        return done.returncode, done.stdout, done.stderr
    job = started(ranks, program, *words, **settings)
    said, errors = job.communicate(timeout=LIMIT)
    return job.returncode, said, errors


def lines(folder):
    """The lines of a run's metrics, without what is a matter of time."""
    with open(f"{folder}/metrics.jsonl", encoding="utf-8") as file:
        objects = [json.loads(line) for line in file]
    return [{key: line[key] for key in ("step", "loss", "grad_norm", "learning_rate", "loss_scale", "skipped") if key in line}
            for line in objects if "step" in line]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def train(self, ranks, name, *words, **settings):
        """Trains into a folder of its own; its path."""
        folder = f"{self.folder}/{name}"
        status, said, errors = run(ranks, RANKS if ranks else ALONE, *SMALL, *words, "--output_dir", folder, **settings)
        self.assertEqual((status, errors), (0, ""), said)
        return folder

    def same_files(self, one, other, step):
        for name in ("model.safetensors", "optimizer.safetensors", "trainer_state.json", "config.json"):
            self.assertTrue(filecmp.cmp(f"{one}/checkpoint-{step}/{name}", f"{other}/checkpoint-{step}/{name}", shallow=False), name)

    def close(self, one, other, most):
        """Two runs that add in another order: the same lines, and losses as near as rounding leaves them after so few steps."""
        one, other = lines(one), lines(other)
        self.assertEqual([line["step"] for line in one], [line["step"] for line in other])
        for a, b in zip(one, other):
            if "loss" in a:
                self.assertTrue(abs(a["loss"] - b["loss"]) <= most, (a, b))
                self.assertTrue(abs(a["grad_norm"] - b["grad_norm"]) <= 10 * most, (a, b))


class Bits(Case):
    def test_calls_and_windows(self):
        for ranks in (1, 2, 3, 5):
            status, said, errors = run(ranks, CHECK)
            self.assertEqual((status, errors), (0, ""))
            self.assertEqual(said, "".join(f"ranks: {ranks}, {device}: good\n" for device in ("cpu", "gpu")))

    def test_as_one_process_that_accumulates(self):
        for ranks, own in ((2, 1), (3, 2)):
            one = self.train(0, f"one{ranks}", "--max_steps", "6", "--gradient_accumulation_steps", str(ranks * own))
            several = self.train(ranks, f"several{ranks}", "--max_steps", "6", "--gradient_accumulation_steps", str(own))
            self.close(one, several, 2e-5)

    def test_ragged_documents_and_a_last_window_that_is_not_full(self):
        """Seven micro-batches for three ranks with two each: in the last window one rank has something to learn."""
        text = f"{self.folder}/text"
        with open(text, "w", encoding="utf-8") as file:
            for document in range(20):
                file.write(" ".join(f"word{i * document % 17}" for i in range(1 + document % 4)) + "\n\n")
        words = ("--data", text, "--documents", "--eval_fraction", "0", "--num_train_epochs", "2")
        one = self.train(0, "one", *words, "--gradient_accumulation_steps", "6")
        three = self.train(3, "three", *words, "--gradient_accumulation_steps", "2")
        self.assertEqual(len(lines(one)), 4)
        self.close(one, three, 2e-5)

    def test_a_skipped_update_is_skipped_by_all(self):
        words = ("--max_steps", "8", "--fp16", "--initial_scale_power", "30", "--loss_scale_window", "3")
        one = self.train(0, "one", *words, "--gradient_accumulation_steps", "2")
        two = self.train(2, "two", *words)
        scales = [[(line["step"], line["loss_scale"], line.get("skipped")) for line in lines(folder)] for folder in (one, two)]
        self.assertTrue(any(skipped for _, _, skipped in scales[0]), scales[0])
        self.assertEqual(*scales)

    def test_the_same_each_time(self):
        words = ("--max_steps", "5", "--dropout", "0.2", "--gradient_accumulation_steps", "2")
        runs = [self.train(3, f"run{threads}", *words, OMP_NUM_THREADS=threads) for threads in ("1", "2")]
        self.same_files(*runs, 5)
        self.assertEqual(*(lines(folder) for folder in runs))

    def test_the_bits_of_ranks_in_one_process(self):
        words = ("--max_steps", "5", "--dropout", "0.2", "--gradient_accumulation_steps", "2", "--bf16")
        for ranks in (2, 3):
            here = self.train(0, f"here{ranks}", *words, "--nproc_per_node", str(ranks))
            mpi = self.train(ranks, f"mpi{ranks}", *words)
            self.same_files(here, mpi, 5)
            self.assertEqual(lines(here), lines(mpi))

    def test_any_order(self):
        one = self.train(0, "one", "--max_steps", "4", "--gradient_accumulation_steps", "3")
        three = self.train(3, "three", "--max_steps", "4", "--deterministic", "false")
        self.close(one, three, 2e-5)

    def test_on_the_simulated_gpu(self):
        words = ("--max_steps", "2", "--n_layer", "1", "--eval_fraction", "0")
        self.close(self.train(2, "cpu", *words), self.train(2, "gpu", *words, "--device", "gpu"), 1e-4)


def rank_processes(word):
    """Process ids of the ranks whose command line has the word."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, encoding="utf-8") as file:
                arguments = file.read().split("\0")
        except OSError:
            continue
        if arguments[0] == RANKS and word in arguments:
            found.append(int(path.split("/")[2]))
    return sorted(found)


class Interrupted(Case):
    LONG = ("--max_steps", "60", "--save_steps", "5", "--dropout", "0.1", "--fp16", "--loss_scale_window", "2")

    def interrupted(self, name, ranks, signal_number, *words):
        """A run of which one rank gets a signal after its second checkpoint: its folder, status, errors, seconds until the end."""
        folder = f"{self.folder}/{name}"
        job = started(ranks, RANKS, *SMALL, *self.LONG, *words, "--output_dir", folder)
        began = time.monotonic()
        while not os.path.isdir(f"{folder}/checkpoint-10") and time.monotonic() - began < LIMIT:
            time.sleep(0.01)
        pids = rank_processes(folder)
        self.assertEqual(len(pids), ranks)
        os.kill(pids[-1], signal_number)
        began = time.monotonic()
        _, errors = job.communicate(timeout=LIMIT)
        self.assertEqual(rank_processes(folder), [])
        return folder, job.returncode, errors, time.monotonic() - began


class Ends(Interrupted):
    def test_a_killed_rank_and_the_same_bits_after_it(self):
        whole = self.train(3, "whole", *self.LONG)
        folder, status, errors, seconds = self.interrupted("killed", 3, signal.SIGKILL)
        self.assertNotEqual(status, 0)
        self.assertLess(seconds, 10)
        self.assertRegex(errors, r"^mpirun: rank [0-9] was ended by signal 9 \(Killed\); the other ranks have been stopped\n$")
        self.assertFalse(os.path.isdir(f"{folder}/checkpoint-60"))
        status, said, errors = run(3, RANKS, *SMALL, *self.LONG, "--output_dir", folder, "--resume_from_checkpoint", "latest")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("resumed from", said)
        self.same_files(whole, folder, 60)
        self.assertEqual(lines(whole), lines(folder))

    def test_another_number_of_ranks_goes_on(self):
        folder = self.train(2, "first", *self.LONG, "--max_steps", "10")
        for ranks in (3, 0):
            status, said, errors = run(ranks, RANKS if ranks else ALONE, *SMALL, *self.LONG, "--max_steps", "15", "--output_dir", folder,
                                       "--resume_from_checkpoint", f"{folder}/checkpoint-10")
            self.assertEqual((status, errors), (0, ""))
            self.assertIn("resumed from", said)
            self.assertEqual([line["step"] for line in lines(folder) if "grad_norm" in line][-1], 15)

    def test_a_rank_that_stands_still(self):
        _, status, errors, seconds = self.interrupted("stopped", 2, signal.SIGSTOP, "--ddp_timeout", "2")
        self.assertNotEqual(status, 0)
        self.assertLess(seconds, 15)
        self.assertRegex(errors, r"rank [01] (waits in ncclAllReduce #[0-9]+ \([0-9]+ x float, sum, [a-z_]+\.c:[0-9]+\) for (rank [01]|another rank)|has waited 2 seconds)")

    def test_ranks_with_different_weights(self):
        for word, said in (("differ", "begins with other weights than rank 0: do both read the same files?"),
                           ("drift", "has updated to other weights than rank 0: their machines do not compute alike")):
            status, _, errors = run(3, CHECK, word)
            self.assertEqual((status, errors), (1, f"train: rank 2 {said}\n"))

    def test_rank_0_cannot_go_on(self):
        with open(f"{self.folder}/checkpoint-5", "w", encoding="utf-8"):
            pass
        status, _, errors = run(3, RANKS, *SMALL, "--max_steps", "50", "--save_steps", "5", "--output_dir", self.folder)
        self.assertEqual(status, 1)
        self.assertRegex(errors, r"^[^\n]*checkpoint-5: cannot give the finished checkpoint this name: [^\n]*\n$")


class Said(Case):
    """What is wrong for all ranks is one line."""

    def refused(self, status, words, *options, ranks=3):
        got, _, errors = run(ranks, RANKS, *SMALL, *options)
        self.assertEqual(got, status, errors)
        self.assertIn(words, errors)
        self.assertEqual(errors.count("\n"), 1, errors)

    def test_once(self):
        self.refused(2, "unknown or ambiguous option --nothing", "--nothing")
        self.refused(2, "nowhere: No such file", "--data", "nowhere")
        self.refused(2, "--fit needs a single rank", "--fit", "32")
        self.refused(2, "--ddp_timeout: '-1' is not a whole number", "--ddp_timeout", "-1")
        self.refused(2, "--deterministic: 'perhaps' is not false|true", "--deterministic", "perhaps")
        self.refused(2, "--nproc_per_node: mpirun starts the ranks of this build", "--nproc_per_node", "2")
        self.refused(2, "no checkpoint-<step> to resume from", "--output_dir", self.folder, "--resume_from_checkpoint", "latest")

    def test_ways_once(self):
        """Ways to share a model, of which this number of ranks, this shape or this save makes none."""
        heads = ("--n_embd", "64", "--n_head", "4")
        self.refused(2, "--zero: '4' is not a whole number from 1 to 3", "--zero", "4")
        self.refused(2, "--tensor 3: must divide n_head = 4", "--tensor", "3", *heads)
        self.refused(2, "--pipeline 3: the model has 2 blocks, each stage needs one", "--pipeline", "3")
        self.refused(2, "--pipeline 2: must divide the number of ranks, 3", "--pipeline", "2")
        self.refused(2, "--zero and --optim adafactor exclude each other", "--zero", "2", "--optim", "adafactor")
        slices = self.train(2, "slices", *heads, "--tensor", "2", "--optim", "adamw_8bit", "--max_steps", "1")
        for ranks, way in ((4, ("--tensor", "4")), (2, ("--zero", "1")), (2, ("--ddp",))):
            self.refused(2, "was saved by another optimizer: adamw_8bit in slices of --tensor 2 there, adamw_8bit", *heads, *way, "--optim",
                         "adamw_8bit", "--max_steps", "2", "--resume_from_checkpoint", slices + "/checkpoint-1", ranks=ranks)

    def test_help_and_prediction_are_said_once(self):
        status, said, _ = run(3, RANKS, "--help")
        self.assertEqual((status, said.count("Usage: train")), (0, 1))
        status, said, _ = run(3, RANKS, *SMALL, "--predict_only")
        self.assertEqual((status, said.count("Memory: ")), (0, 1))

    def test_how_many(self):
        for number in ("0", "x", ""):
            done = subprocess.run(["tools/mpirun.sh", number, RANKS], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn("how many ranks", done.stderr)
        done = subprocess.run(["tools/mpirun.sh", "2", "build/none"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (2, "mpirun: there is no program build/none\n"))
        done = subprocess.run(["make", "-s", "mpirun"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (1, "how many ranks? make mpirun N=4 ARGS=...\n"))

    def test_where_mpi_is_not(self):
        """A machine whose PATH has no MPI."""
        tools = f"{self.folder}/bin"
        os.makedirs(tools)
        for name in os.listdir("/usr/bin"):
            if not name.startswith(("mpi", "orte", "ompi", "opal", "pkg-config", "x86_64-linux-gnu-pkg-config")):
                os.symlink(f"/usr/bin/{name}", f"{tools}/{name}")
        for goal in (("mpi",), ("mpirun", "N=2"), ("all", "MPI=1")):
            done = subprocess.run(["make", "-s", *goal], capture_output=True, text=True, check=False, env=dict(os.environ, PATH=tools))
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertRegex(done.stderr, r"^Makefile:[0-9]+: \*\*\* MPI is not installed: tools/setup\.sh --mpi\.  Stop\.\n$")


class Links(unittest.TestCase):
    """Communicators between processes: cudasim/mpi/tests/links.cu."""
    PROGRAM = "build/mpi/cu/links"

    @classmethod
    def setUpClass(cls):
        subprocess.run(["make", "-s", "cu-build", "FILE=cudasim/mpi/tests/links.cu", "MPI=1", f"OUT={cls.PROGRAM}"], check=True)

    def test_right(self):
        for ranks in (2, 3, 4):
            for settings in ({}, {"CUDASIM_SCHED": "reverse"}, {"CUDASIM_MPI_ORDER": "any"}):
                self.assertEqual(run(ranks, self.PROGRAM, "right", **settings), (0, f"links: {ranks} ranks: good\n", ""), settings)

    def wrong(self, name, *reports, status=86):
        got, _, errors = run(2, self.PROGRAM, name, CUDASIM_MPI_TIMEOUT="2")
        self.assertEqual(got, status, errors)
        found = sorted(line for line in errors.splitlines() if line.startswith("[cudasim] ") and "stopped" not in line)
        self.assertEqual(len(found), len(reports), errors)
        for line, report in zip(found, reports):
            self.assertRegex(line, r"^\[cudasim\] " + report)

    def test_wrong(self):
        """With both lines where two calls are concerned; who waits, where, and for whom."""
        self.wrong("other-count", r"collective mismatch: rank 0 calls ncclAllReduce #1 \(1000 x float, sum, links\.cu:\d+\); "
                                  r"rank 1 calls ncclAllReduce #1 \(500 x float, sum, links\.cu:\d+\)")
        self.wrong("other-type", r"collective mismatch: rank 0 calls ncclSend #1 to rank 1 \(1000 x float, links\.cu:\d+\); "
                                 r"rank 1 calls ncclRecv #1 from rank 0 \(1000 x int32, links\.cu:\d+\)")
        self.wrong("absent", r"deadlock: rank 0 waits in ncclAllReduce #1 \(1000 x float, sum, links\.cu:\d+\) for rank 1, which does not come")
        self.wrong("both-send", *(rf"deadlock: rank {a} waits in ncclSend #1 to rank {b} \(1000 x float, links\.cu:\d+\) for rank {b}, "
                                  for a, b in ((0, 1), (1, 0))))
        self.wrong("no-wait", *(rf"deadlock: rank {a}: nothing waits for ncclAllReduce #1 \(.*links\.cu:\d+\) before MPI_Finalize" for a in (0, 1)))
        self.wrong("nobody-joins", *(rf"deadlock: rank {a} waits in ncclCommInitRank at links\.cu:\d+ for rank {b}, " for a, b in ((0, 1), (1, 0))))
        self.wrong("too-many", *(rf"NCCL argument: ncclCommInitRank at links\.cu:\d+: rank {a} of 3: over MPI each process has one rank" for a in (0, 1)))

    def test_the_limit_of_a_wait(self):
        got, _, errors = run(2, self.PROGRAM, "absent", CUDASIM_MPI_TIMEOUT="soon")
        self.assertEqual((got, "CUDASIM_MPI_TIMEOUT must be a number of seconds" in errors), (2, True), errors)


class Collectives(unittest.TestCase):
    """nccl-check and the ring, which know nothing of what carries them."""

    def test_every_collective(self):
        for ranks in range(1, 9):
            status, said, errors = run(ranks, "build/mpi/bin/nccl-check", "--quick")
            self.assertEqual((status, errors), (0, ""), said)
            self.assertRegex(said, rf"nccl-check: {ranks} to {ranks} ranks, [1-9]\d+ calls, 0 wrong\n")

    def test_large_ones(self):
        status, said, errors = run(2, "build/mpi/bin/nccl-check")
        self.assertEqual((status, errors), (0, ""), said)

    def test_the_ring_has_the_bits_of_one_process(self):
        _, said, _ = run(0, "build/bin/ring-check", CUDASIM_DEVICES="5")
        for ranks in range(1, 6):
            status, line, errors = run(ranks, "build/mpi/bin/ring-check")
            self.assertEqual((status, errors), (0, ""), line)
            self.assertIn(line, said)


class Techniques(Interrupted):
    """Each way to share a model: as processes the bits of one process, and the same bits after a rank was killed."""
    WAYS = tuple(words.split() for words in ("--zero 1", "--zero 2", "--zero 3 --generate 8", "--pipeline 2", "--tensor 2"))
    NAMED = (("--max_steps", "4", "--gradient_accumulation_steps", "2", "--dropout", "0.2", "--bf16"),
             ("--max_steps", "30", "--save_steps", "5", "--gradient_accumulation_steps", "2", "--fp16", "--loss_scale_window", "2"))

    def test_the_bits_of_ranks_in_one_process(self):
        for way in self.WAYS:
            with self.subTest(way=way):
                name = "".join(way)
                here = self.train(0, "here" + name, *self.NAMED[0], *way, "--nproc_per_node", "4")
                mpi = self.train(4, "mpi" + name, *self.NAMED[0], *way)
                self.same_files(here, mpi, 4)
                self.assertEqual(lines(here), lines(mpi))

    def test_a_killed_rank_and_the_same_bits_after_it(self):
        for way in self.WAYS:
            with self.subTest(way=way):
                name = "".join(way)
                whole = self.train(4, "whole" + name, *self.LONG, *self.NAMED[1], *way)
                folder, status, errors, seconds = self.interrupted("killed" + name, 4, signal.SIGKILL, *self.NAMED[1], *way)
                self.assertNotEqual(status, 0)
                self.assertLess(seconds, 10)
                self.assertRegex(errors, r"^mpirun: rank [0-9] was ended by signal 9 \(Killed\); the other ranks have been stopped\n$")
                words = [*SMALL, *self.LONG, *self.NAMED[1], *way, "--output_dir", folder, "--resume_from_checkpoint", "latest"]
                status, said, errors = run(4, RANKS, *words)
                self.assertEqual((status, errors), (0, ""))
                self.assertIn("resumed from", said)
                self.same_files(whole, folder, 30)


class Slurm(Case):
    """Inside of tools/slurm_local.sh: two tasks, and a job that goes on."""

    def test_two_tasks(self):
        self.two_jobs("updates of 2 ranks x 3 sequences")

    def test_each_way_to_share_a_model(self):
        for way, said in (("--ddp", "updates of 2 ranks x 3 sequences"), ("--zero 3", "updates of 2 ranks x 3 sequences"),
                          ("--pipeline 2", "updates of 3 sequences"), ("--tensor 2", "updates of 3 sequences")):
            with self.subTest(way=way):
                self.two_jobs(said, *way.split())

    def two_jobs(self, shape, *way):
        folder, log = f"{self.folder}/run{''.join(way)}", f"{self.folder}/log"
        for steps in ("4", "7"):
            words = [*SMALL, *way, "--max_steps", steps, "--output_dir", folder]
            settings = ". tools/mpi_env.sh; exec sbatch --wait --nodes=1 --ntasks-per-node=2 --cpus-per-task=1 --output=" + log
            subprocess.run(["sh", "-c", settings + ' tools/train.sbatch "$@"', "sh", *words], check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
            with open(log, encoding="utf-8") as file:
                said = file.read()
            self.assertIn(shape, said)
            self.assertTrue(os.path.isdir(f"{folder}/checkpoint-{steps}"), said)
        self.assertIn("resumed from", said)


if __name__ == "__main__":
    if "Slurm" not in sys.argv[1:] and len(sys.argv) == 1:
        sys.argv += ["Bits", "Collectives", "Ends", "Links", "Said", "Techniques"]
    unittest.main()
