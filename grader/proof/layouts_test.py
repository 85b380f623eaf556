#!/usr/bin/env python3
"""Who handed in what, and when: what systems and hands leave in a folder, what is inside of a hand-in, and what no honest class
has. Each gives a right result or a clear line.

    grader/proof/layouts_test.py [TestCase...]
"""
import io
import os
import shutil
import subprocess
import tarfile
import tempfile
import time
import unittest
import zipfile

from course_folder import Folder, at, read, tarred, write   # which finds tools/
import hand_in_reader
import hand_ins


class Layouts(unittest.TestCase):
    """One rule for what systems and hands leave in a folder, and for what is inside of a hand-in."""

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="course-test-")
        self.addCleanup(shutil.rmtree, self.place)

    def put(self, *entries):
        for entry in entries:
            write(f"{self.place}/{entry}", "text")

    def found(self):
        return {name: [(each.entry, sorted(name for name, _ in each.files)) for each in found] for name, found in hand_ins.find(self.place, "03").items()}

    def test_moodle(self):
        self.put("Tina Berg_12_assignsubmission_file_/03-tina.tar.gz", "Jörg Müller-Weiß_7_assignsubmission_file_loop.c",
                 "Jörg Müller-Weiß_7_assignsubmission_file_loop_test.c", "Tina Berg_12_assignsubmission_onlinetext_/onlinetext.html")
        found = self.found()
        self.assertEqual(list(found), ["Jörg Müller-Weiß", "Tina Berg"])
        self.assertEqual(found["Jörg Müller-Weiß"][0][1], ["loop.c", "loop_test.c"])
        self.assertEqual(hand_ins.left_out(self.place, "03"), ["Tina Berg_12_assignsubmission_onlinetext_"])

    def test_canvas(self):
        self.put("bergtina_12_34_loop.c", "bergtina_LATE_12_35_loop_test-2.c", "anon_AB12x_77_03-x.zip", "ottokarl_1_2_a_b.zip")
        found = self.found()
        self.assertEqual(sorted(found), ["anon_AB12x", "bergtina", "ottokarl"])
        self.assertEqual(found["bergtina"][0][1], ["loop.c", "loop_test.c"])
        self.assertEqual(hand_ins.find(self.place, "03")["bergtina"][0].lms, {"system": "canvas", "id": "12", "late": True})

    def test_blackboard(self):
        for day in ("01", "02"):
            self.put(f"Lab 3_tberg_attempt_2027-03-{day}-23-59-00.txt", f"Lab 3_tberg_attempt_2027-03-{day}-23-59-00_loop.c",
                     f"Lab 3_tberg_attempt_2027-03-{day}-23-59-00_loop_test.c")
        attempts = hand_ins.find(self.place, "03")["tberg"]
        self.assertEqual([len(each.files) for each in attempts], [2, 2])
        self.assertEqual([each.handed_in()[0][:10] for each in attempts], ["2027-03-01", "2027-03-02"])
        self.assertEqual({each.handed_in()[1] for each in attempts}, {"name"})

    def test_by_hand(self):
        self.put("anna/loop.c", "03-bert.tar.gz", "carl@20270301T235900+0100.zip", "carl@20270303T000000Z.zip", "eva@uni.example/loop.c",
                 "jean_smith_1_2.tar.xz", ".hidden/loop.c", "__MACOSX/x")
        self.assertEqual(sorted(self.found()), ["anna", "bert", "carl", "eva@uni.example", "jean_smith_1_2"])
        first, second = hand_ins.find(self.place, "03")["carl"]
        self.assertEqual((first.handed_in(), second.handed_in()[0]), (("2027-03-01T23:59:00+01:00", "name"), "2027-03-03T00:00:00+00:00"))
        self.assertEqual(hand_ins.left_out(self.place, "03"), [".hidden", "__MACOSX"])

    def test_what_is_no_hand_in(self):
        """A file that is not an archive, by name or first bytes, and that no system has named. It is left out by name, never in silence."""
        self.put("anna/loop.c", "notes.txt", "Thumbs.db", "grades.csv", "bert.rar", "carl.7z", "dora@20270301T235900Z", "empty.zip", "Lab 3_tberg_attempt_2027-03-01-23-59-00_x")
        tarred(f"{self.place}/eva", {"loop.c": "x"})
        zipped(f"{self.place}/grades.xlsx", {"x": "y"})
        zipped(f"{self.place}/finn.dat", {"loop.c": "y"})
        self.assertEqual(sorted(self.found()), ["anna", "bert", "carl", "dora", "empty", "eva", "finn.dat", "tberg"])
        self.assertEqual(hand_ins.left_out(self.place, "03"), ["Thumbs.db", "grades.csv", "grades.xlsx", "notes.txt"])

    def test_what_is_unclear_is_asked(self):
        for entries, words in ((("anna/x", "anna.zip"), "has handed in twice: anna and anna.zip"),
                               (("Tina_1_assignsubmission_file_/x", "Tina_2_assignsubmission_file_/x"), "two students are called Tina")):
            shutil.rmtree(self.place)
            self.put(*entries)
            with self.assertRaisesRegex(hand_ins.Unclear, words):
                self.found()

    def test_times_of_files(self):
        self.put("old/a", "old/b", "future.zip", "past.zip")
        os.utime(f"{self.place}/old/a", (5, 1.8e9))
        os.utime(f"{self.place}/old/b", (5, 1.7e9))
        os.utime(f"{self.place}/future.zip", (5, 1 << 33))
        os.utime(f"{self.place}/past.zip", (5, -5))
        times = {name: found[0].handed_in() for name, found in hand_ins.find(self.place, "03").items()}
        self.assertEqual(times, {"old": ("2027-01-15T08:00:00+00:00", "newest file"), "future": ("2242-03-16T12:56:32+00:00", "archive"),
                                 "past": ("1970-01-01T00:00:00+00:00", "archive")})

    # ---- inside of one

    def taken(self, path, names=("loop.c", "loop_test.c")):
        """(the files that are found, notes, why it is refused)"""
        try:
            taken = hand_in_reader.take(path, names)
            return sorted(taken.files), taken.notes(), "" if taken.files else taken.nothing()
        except hand_in_reader.Refused as reason:
            return [], [], str(reason)

    def test_archives_of_every_kind(self):
        for ending, mode in ((".tar.gz", "w:gz"), (".tar.xz", "w:xz"), (".tar.bz2", "w:bz2"), (".tar", "w"), (".zip", "w:gz"), ("", "w:xz")):
            path = f"{self.place}/x{ending}"
            tarred(path, {"a/loop.c": "x", "loop_test.c": "y"}, mode)
            self.assertEqual(self.taken(path)[0], ["loop.c", "loop_test.c"], ending)

    def test_one_archive_inside(self):
        tarred(f"{self.place}/a/03-anna.tar.gz", {"loop.c": "x"})
        write(f"{self.place}/a/onlinetext.html", "hello")
        self.assertEqual(self.taken(f"{self.place}/a")[0], ["loop.c"])
        with zipfile.ZipFile(f"{self.place}/b.zip", "w") as archive:
            archive.write(f"{self.place}/a/03-anna.tar.gz", "folder/03-anna.tar.gz")
        self.assertEqual(self.taken(f"{self.place}/b.zip")[0], ["loop.c"])
        with tarfile.open(f"{self.place}/c.tar.gz", "w:gz") as archive:
            archive.add(f"{self.place}/b.zip", "b.zip")
        self.assertIn("none of the lab's files is in it", self.taken(f"{self.place}/c.tar.gz")[2])
        shutil.copy(f"{self.place}/b.zip", f"{self.place}/a/again.zip")
        self.assertIn("2 archives", self.taken(f"{self.place}/a")[2])
        write(f"{self.place}/a/loop.c", "mine")
        files, notes, _ = self.taken(f"{self.place}/a")
        self.assertEqual((files, len(notes)), (["loop.c"], 2))
        self.assertIn("03-anna.tar.gz was not looked at: it lies beside the files", " ".join(notes))

    def test_two_of_one_name(self):
        """The less deep one is taken, and that there is another is said, unless it is the same."""
        for other, notes in (("mine", []), ("new", ["labs/03/loop.c was not looked at: loop.c is another file of that name, and lies less deep"])):
            for order in ((0, 1), (1, 0)):
                both = [("loop.c", "mine"), ("labs/03/loop.c", other)]
                zipped(f"{self.place}/x.zip", {name: text for name, text in (both[i] for i in order)})
                tarred(f"{self.place}/x.tar.gz", {name: text for name, text in (both[i] for i in order)})
                for path in (f"{self.place}/x.zip", f"{self.place}/x.tar.gz"):
                    self.assertEqual(self.taken(path)[:2], (["loop.c"], notes), (path, order))
                    self.assertEqual(hand_in_reader.read(path, ("loop.c",)), {"loop.c": b"mine"})
        shutil.rmtree(self.place)
        self.put("a/loop.c")
        write(f"{self.place}/a/b/loop.c", "other")
        self.assertEqual(self.taken(f"{self.place}/a")[1], ["b/loop.c was not looked at: loop.c is another file of that name, and lies less deep"])
        self.put("kimsue_77_998_loop.c", "kimsue_77_999_loop-2.c")
        with self.assertRaisesRegex(hand_in_reader.Refused, "^loop.c is there twice: kimsue_77_998_loop.c and kimsue_77_999_loop-2.c$"):
            hand_in_reader.take(None, ("loop.c",), files=hand_ins.find(self.place, "03")["kimsue"][0].files)

    def test_names_that_are_nearly_right(self):
        for name in ("Loop.c", "loop (1).c", "loop-2.c", "loop copy.c", "loop.c.txt", "LOOP.C"):
            shutil.rmtree(self.place)
            self.put(f"a/{name}")
            self.assertIn(f"{name} would have to be called loop.c", self.taken(f"{self.place}/a")[2])
            self.put("a/loop_test.c")
            self.assertEqual(self.taken(f"{self.place}/a")[1], [f"loop.c is not in it; {name} is, and would have to be called loop.c"])

    def test_what_is_there_is_said(self):
        os.makedirs(f"{self.place}/empty")
        self.assertRegex(self.taken(f"{self.place}/empty")[2], "loop.c loop_test.c; it is empty$")
        self.put("a/report.pdf", "a/b/main.c")
        self.assertIn("there is report.pdf, main.c", self.taken(f"{self.place}/a")[2])
        self.put("plain")
        self.assertIn("it is neither a folder nor an archive", self.taken(f"{self.place}/plain")[2])

    def test_a_link_is_called_one(self):
        os.makedirs(f"{self.place}/a")
        os.symlink("/etc/passwd", f"{self.place}/a/loop.c")
        self.assertRegex(self.taken(f"{self.place}/a")[2], "loop.c is a link$")


def zipped(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def packed(files):
    out = io.BytesIO()
    zipped(out, files)
    return out.getvalue()


class Odd(Folder):
    """What no honest class has: each hand-in is graded, refused with its reason, or asked about, and all others are graded."""

    def refusals(self):
        """{name: why} as the records have it."""
        records = [read(f"{self.out}/records/{entry}") for entry in os.listdir(f"{self.out}/records") if entry.endswith(".json")]
        return {record["name"]: record["hand_in"]["refused"] for record in records if "refused" in record["hand_in"]}

    def asked(self, *words):
        """Nothing is graded, and each of the words is in a line of its own."""
        lines = [line for line in self.grade(status=2).splitlines() if line]
        self.assertEqual(len(lines), len(words), lines)
        for line, word in zip(lines, words):
            self.assertIn(word, line)
        self.assertEqual(self.graded(), 0)

    def everything_made(self, count):
        """Report, feedback, table of the term: of all of them."""
        self.assertIn("index.html", self.run_tool("tools/report.py", self.out))
        self.assertEqual(len([name for name in os.listdir(f"{self.out}/report") if name != "index.html"]), count)
        self.assertIn(f"{count} zip files", self.run_tool("tools/feedback.py", self.out))
        self.assertIn(f"{count} students", self.run_tool("tools/class_table.py", self.place))

    def test_names(self):
        """A line break, the mark that turns the writing, a formula, an option, the names of the kit's own files, 250 letters,
        bytes that are not UTF-8."""
        names = ["new\nline", "anna\u202eevil", "=cmd|calc", "-rf", "+1", "index", "old", "a%41", "x" * 250, " front", "e\u0301", os.fsdecode(b"J\xf6rg")]
        for name in names:
            self.give(name)
        said = self.grade()
        self.assertEqual(len(said.splitlines()), len(names) + 4, said)   # a line for each, and four about all
        self.assertNotRegex(said, "\u202e|new\nline")
        self.assertEqual({row["name"] for row in self.rows()}, set(names))
        self.assertIn("0 graded, 12 had a record", self.grade())
        self.everything_made(len(names))
        table = self.table()
        self.assertEqual(len(table), len(names))
        self.assertFalse([name for name in table if name.startswith(("=", "+", "-", "@"))])

    def test_twins_are_asked_about(self):
        """They would be one in each table and on some disks: the feedback of one would be the other's."""
        for one, other in (("J\u00f6rg", "Jo\u0308rg"), ("Anna", "anna"), ("a b", "a\nb"), ("y" * 250, "y" * 249 + "z"), ("J\udcf6rg", "J\udcfcrg"), ("ffi", "\ufb03")):
            shutil.rmtree(self.hand_ins)
            self.give(one)
            self.give(other)
            self.asked("two names that a grade book takes for one")

    def test_all_questions_are_asked_at_once(self):
        for name in ("a", "b", "c"):
            self.give(name)
            zipped(f"{self.hand_ins}/{name}.zip", {"bytes.c": ""})
        self.asked("a has handed in twice", "b has handed in twice", "c has handed in twice")
        for i in range(20):
            self.give(f"n{i}")
            self.give(f"N{i}")
        self.assertIn("and 15 more", self.grade(status=2))

    def test_times_that_are_none(self):
        for entry in ("anna@20271301T000000Z", "anna@2027-03-01", "anna@2027-03-01T99:00", "anna@0001-01-01T00:00", "anna@9999-12-31T23:00Z"):
            self.give(entry)
            self.asked("is not a time, such as")
            shutil.rmtree(f"{self.hand_ins}/{entry}")
        write(f"{self.hand_ins}/Lab 0_anna_attempt_2027-13-01-23-59-00_bytes.c", "")
        self.asked("2027-13-01-23-59-00 is not a time")
        os.unlink(f"{self.hand_ins}/Lab 0_anna_attempt_2027-13-01-23-59-00_bytes.c")
        self.give("eva@uni.example")
        self.give("eva@Tuebingen.example")
        self.grade()

    def test_a_time_to_come_is_said(self):
        for entry, seconds in (("ada", 10), ("bob", 7200), ("carl", -7200)):
            at(self.give(entry), time.time() + seconds)
        self.give("dora@2300-01-01T00:00Z")
        self.assertIn("2 handed in at a time that is still to come (a wrong clock?); a name such as NAME@TIME sets the right one: bob, dora\n", self.grade())

    def test_what_is_no_file(self):
        """Links, loops, pipes, a file of ten gigabytes that has none."""
        place = self.hand_ins
        for name, target in (("loop", "loop"), ("self", place), ("nowhere", "/nowhere"), ("passwd.zip", "/etc/passwd")):
            os.symlink(target, f"{place}/{name}")
        os.mkfifo(f"{place}/pipe")
        for name in ("fifo", "linked", "sparse", "beside", "around", "folder"):
            os.makedirs(f"{place}/{name}")
        os.mkfifo(f"{place}/fifo/bytes.c")
        os.symlink("/etc/passwd", f"{place}/linked/bytes.c")
        os.makedirs(f"{place}/folder/bytes.c")
        for path in (f"{place}/sparse/bytes.c", f"{place}/beside/core", f"{place}/huge.zip"):
            with open(path, "wb") as file:
                file.truncate(10 << 30)
        write(f"{place}/beside/bytes.c", "params states")
        write(f"{place}/around/bytes.c", "params states")
        os.symlink("..", f"{place}/around/up")
        os.mkfifo(f"{place}/around/pipe")
        begin = time.monotonic()
        self.grade()
        self.assertLess(time.monotonic() - begin, 60)
        refused = self.refusals()
        self.assertEqual({name for name, score in self.scores().items() if score}, {"around", "beside"})
        for name, words in (("loop", "link"), ("self", "link"), ("nowhere", "link"), ("passwd", "link"), ("pipe", "not a regular file"), ("fifo", "not a regular file"),
                            ("linked", "link"), ("folder", "not a regular file"), ("sparse", "more than 1.0 MiB"), ("huge", "more than 16.0 MiB")):
            self.assertIn(words, refused.pop(name))
        self.assertEqual(refused, {})
        self.everything_made(12)

    def test_archives(self):
        """One in another, and once more; bombs; names that climb, or are long; entries without end."""
        place, good, zeros = self.hand_ins, {"bytes.c": "params states"}, b"\0" * (70 << 20)
        zipped(f"{place}/one.zip", {"x.zip": packed(good)})
        zipped(f"{place}/two.zip", {"x.zip": packed({"y.zip": packed(good)})})
        zipped(f"{place}/bomb.zip", {"bytes.c": zeros})
        zipped(f"{place}/bomb_in_one.zip", {"x.zip": packed({"bytes.c": zeros})})
        zipped(f"{place}/bomb_beside.zip", {"x": zeros, **good})
        zipped(f"{place}/many.zip", {f"{i}": "" for i in range(10001)})
        zipped(f"{place}/long.zip", {"a" * 300 + "/bytes.c": "params states"})
        zipped(f"{place}/up.zip", {"../bytes.c": ""})
        zipped(f"{place}/turned.zip", {"\u202ebytes.c": ""})
        tarred(f"{place}/tar.tar.gz", {"x.bin": "\0" * (70 << 20)})
        write(f"{place}/empty.zip", "")
        self.grade()
        self.assertEqual({name for name, score in self.scores().items() if score}, {"one", "bomb_beside", "long"})
        refused = self.refusals()
        for name, words in (("two", "there is y.zip"), ("bomb", "more than 1.0 MiB"), ("bomb_in_one", "more than 1.0 MiB"), ("many", "more than 10000 entries"),
                            ("up", "climbs out"), ("turned", r"there is \u202ebytes.c"), ("tar", "more than 64.0 MiB"), ("empty", "without a byte")):
            self.assertIn(words, refused.pop(name))
        self.assertEqual(refused, {})

    def test_too_deep_for_a_path(self):
        self.give("ada")
        here = os.getcwd()
        os.makedirs(f"{self.hand_ins}/deep")
        os.chdir(f"{self.hand_ins}/deep")
        try:
            for _ in range(300):
                os.mkdir("d" * 20)
                os.chdir("d" * 20)
            write("./bytes.c", "params states")
        finally:
            os.chdir(here)
        self.grade()
        self.assertEqual(self.scores(), {"ada": 100, "deep": 0})
        self.assertIn("cannot be read: File name too long", self.refusals()["deep"])

    @unittest.skipIf(os.getuid(), "another user is needed, to whom something is closed")
    def test_what_this_user_may_not_read(self):
        """It says nothing of the student: no points are lost, the others are graded, and it is named until it can be read."""
        for name in ("ada", "closed", "closed_inside/x", "file"):
            self.give(name)
        zipped(f"{self.hand_ins}/archive.zip", {"bytes.c": "params"})
        subprocess.run(["chown", "-R", "65534:65534", self.place], check=True)
        closed = {"closed": "closed", "closed_inside": "closed_inside/x", "file": "file/bytes.c", "archive": "archive.zip"}
        for path in closed.values():
            os.chmod(f"{self.hand_ins}/{path}", 0)

        def grade():
            command = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-B", *self.command()[1:]]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            return done.returncode, done.stdout + done.stderr
        status, said = grade()
        self.assertEqual((status, self.scores()), (1, {"ada": 100}), said)
        self.assertIn("4 not graded: start again: archive, closed, closed_inside, file\n", said)
        for name, path in closed.items():
            self.assertIn(f"    {name}: cannot be read here: {self.hand_ins}/{path}: Permission denied\n", said)
        for path in closed.values():
            os.chmod(f"{self.hand_ins}/{path}", 0o755)
        status, said = grade()
        self.assertEqual((status, self.scores()), (0, {"ada": 100, "closed": 100, "closed_inside": 100, "file": 100, "archive": 60}), said)
        os.chmod(f"{self.out}/records/ada.json", 0)   # whole, perhaps: nothing takes its place
        status, said = grade()
        self.assertEqual(status, 1)
        self.assertIn("records/ada.json: Permission denied", said)
        self.assertNotIn("Errno", said)


if __name__ == "__main__":
    unittest.main()
