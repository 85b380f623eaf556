"""Who handed in what, and when: the entries of a folder, as a person or a system has put them there.

    NAME  NAME.zip  03-NAME.tar.gz              a folder or an archive
    NAME@20270301T235900+0100.tar.gz            with the time at which it was handed in; a student may have several
    Tina Berg_123_assignsubmission_file_        Moodle: a folder, or with a file's name after it
    bergtina_LATE_12_345_x                      Canvas: loose files
    Lab 3_tberg_attempt_2027-03-01-23-59-00_x   Blackboard: loose files, several attempts

A hand-in without a time in its name has that of the archive, or of the newest file in its folder.
"""
import datetime
import hashlib
import os
import re
import stat

from hand_in_reader import MOST_ENTRIES, MOST_UNPACKED, ending_of

FROM_NAME, FROM_ARCHIVE, FROM_FOLDER = "name", "archive", "newest file"
NEWEST = 253402300799   # the end of the year 9999

MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<file>.*)", re.S)
CANVAS = re.compile(r"(?P<name>anon_[A-Za-z0-9]{5}|[^_]+(?=_(?:LATE_)?\d+_\d+_))(?P<late>_LATE)?(_(?P<id>\d+))?_\d+_(?P<file>.+)", re.S)
BLACKBOARD = re.compile(r".+_(?P<name>[^_]+)_attempt_(?P<time>\d{4}(-\d\d){5})(_(?P<file>.+)|\.txt)", re.S)


class Unclear(Exception):
    """What is the instructor's to settle."""


def shown(name):
    """Nothing that a terminal could take for more than text."""
    return "".join(c if c.isprintable() else "?" for c in name)


# ---- names ------------------------------------------------------------------------------------------

def split_time(name):
    """("anna", time) of "anna@20270301T235900+0100"; (name, None) where that says another thing. Without an offset it is one of
    this machine's zone."""
    before, at, after = name.rpartition("@")
    try:
        if not before or not at or "T" not in after:
            return name, None
        time = datetime.datetime.fromisoformat(after)
        return before, time if time.tzinfo else time.astimezone()
    except (ValueError, OverflowError):
        return name, None


def local(text):
    """Blackboard's time, which has no zone: that of this machine."""
    return datetime.datetime.strptime(text, "%Y-%m-%d-%H-%M-%S").astimezone()


def meaning_of(entry, is_folder, number):
    """{name, time, file, system, id} that the name of an entry stands for; None where it is not a hand-in. `file`: what a loose
    file was called before a system renamed it."""
    moodle = MOODLE.fullmatch(entry)
    if moodle:
        if moodle["kind"] != "file":
            return None   # a text that was typed into Moodle, or a comment
        return {"name": moodle["name"], "file": "" if is_folder else moodle["file"], "system": "moodle", "id": moodle["id"]}
    blackboard = None if is_folder else BLACKBOARD.fullmatch(entry)
    if blackboard:
        return {"name": blackboard["name"], "file": blackboard["file"], "system": "blackboard", "time": local(blackboard["time"])} \
            if blackboard["file"] else None   # the text about an attempt
    canvas = None if is_folder else CANVAS.fullmatch(entry)
    if canvas:
        # Canvas numbers what is handed in again.
        file = re.sub(r"-\d+(?=\.[^.]+$)", "", canvas["file"])
        return {"name": canvas["name"], "file": file, "system": "canvas", "id": canvas["id"]} | ({"late": True} if canvas["late"] else {})
    name = entry if is_folder else entry[:len(entry) - len(ending_of(entry))]
    name, time = split_time(name.removeprefix(number + "-") or name)   # as `make handin03` calls it
    return {"name": name, "file": "", "time": time}


# ---- hand-ins ---------------------------------------------------------------------------------------

class HandIn:
    """What one student has handed in at one time: `path`, or loose `files`, pairs of name and path."""

    def __init__(self, meaning, entry):
        self.name, self.entry, self.said = meaning["name"], entry, meaning.get("time")
        self.lms = {key: meaning[key] for key in ("system", "id", "late") if meaning.get(key)}
        self.path, self.files, self.seen = None, [], {}

    def look_again(self):
        """Forgets what was seen of its files."""
        self.seen.clear()

    def stamp(self):
        """Changes when the hand-in might have."""
        return self.remembered(self.find_stamp)

    def sha256(self):
        """Of an archive the sum that `sha256sum` prints; of several files one over their names and bytes."""
        return self.remembered(self.find_sha256)

    def remembered(self, find):
        if find.__name__ not in self.seen:
            self.seen[find.__name__] = find()
        return self.seen[find.__name__]

    def places(self):
        """Each file of it with its name inside: as many as an honest one has."""
        if self.path is None:
            return sorted(self.files)
        if not os.path.isdir(self.path) or os.path.islink(self.path):
            return [("", self.path)]
        found = []
        for folder, folders, files in os.walk(self.path):
            folders.sort()
            found += [(os.path.relpath(os.path.join(folder, name), self.path), os.path.join(folder, name)) for name in sorted(files)]
            if len(found) > MOST_ENTRIES:
                break
        return found

    def find_stamp(self):
        seen = hashlib.sha256()
        for name, place in self.places():
            found = os.lstat(place)
            seen.update(f"{name!a} {found.st_size} {found.st_mtime_ns}\n".encode())
        return seen.hexdigest()[:32]

    def find_sha256(self):
        places, left, sums = self.places(), MOST_UNPACKED, []
        for name, place in places:
            found, digest = os.lstat(place), hashlib.sha256()
            if stat.S_ISREG(found.st_mode) and found.st_size <= left:
                left -= found.st_size
                with open(place, "rb") as file:
                    while data := file.read(1 << 20):
                        digest.update(data)
            else:
                digest.update(f"{stat.S_IFMT(found.st_mode)} {found.st_size}".encode())
            sums.append((name, digest.hexdigest()))
        if len(sums) == 1 and sums[0][0] == "":
            return sums[0][1]
        return hashlib.sha256("".join(f"{name!a} {digest}\n" for name, digest in sums).encode()).hexdigest()

    def handed_in(self):
        """(time in ISO 8601 with its offset, where it comes from)"""
        if self.said:
            return self.said.isoformat(timespec="seconds"), FROM_NAME
        times = [os.lstat(place).st_mtime for _, place in self.places()] or [os.lstat(self.path).st_mtime]
        newest = datetime.datetime.fromtimestamp(min(max(0, *times), NEWEST), datetime.timezone.utc)
        folder = self.path is None or os.path.isdir(self.path)
        return newest.isoformat(timespec="seconds"), FROM_FOLDER if folder else FROM_ARCHIVE


def moment(text):
    """A time of a record, to be compared with others."""
    try:
        return datetime.datetime.fromisoformat(text).timestamp()
    except (ValueError, TypeError, OverflowError):
        return 0.0


# ---- the folder -------------------------------------------------------------------------------------

def is_looked_at(entry):
    """What a system or an editor leaves beside hand-ins is called so."""
    return not entry.startswith(".") and entry != "__MACOSX"


def entries_of(folder, number):
    """(entry, meaning or None) of all that lies in a folder, by name."""
    for entry in sorted(os.listdir(folder)):
        is_folder = os.path.isdir(os.path.join(folder, entry))
        yield entry, meaning_of(entry, is_folder, number) if is_looked_at(entry) else None


def left_out(folder, number):
    """What is in the folder and not looked at. A student's work might be called so."""
    return [entry for entry, meaning in entries_of(folder, number) if meaning is None]


def check_ids(hand_ins):
    """A system has two students of one name under two numbers."""
    first = {}
    for hand_in in hand_ins:
        other = first.setdefault(hand_in.name, hand_in)
        if other.lms.get("id") != hand_in.lms.get("id"):
            raise Unclear(f"two students are called {shown(hand_in.name)}: {shown(other.entry)} and {shown(hand_in.entry)}; rename one")


def check_times(hand_ins):
    """Which of two is the newer one must be said."""
    seen = {}
    for hand_in in hand_ins:
        other = seen.setdefault((hand_in.name, hand_in.said), hand_in)
        if other is not hand_in:
            raise Unclear(f"{shown(hand_in.name)} has handed in twice: {shown(other.entry)} and {shown(hand_in.entry)}; "
                          "keep one, or say when: NAME@20270301T235900+0100")


def find(folder, number):
    """{name: hand-ins} of all students. `number` of the lab: "03"."""
    found = {}
    for entry, meaning in entries_of(folder, number):
        if meaning is None:
            continue
        path = os.path.join(folder, entry)
        key = (meaning["name"], meaning.get("time"), meaning.get("id")) if meaning["file"] else (entry,)
        hand_in = found.setdefault(key, HandIn(meaning, entry))
        if meaning["file"]:
            hand_in.files.append((meaning["file"], path))
            hand_in.lms |= {"late": True} if meaning.get("late") else {}
        else:
            hand_in.path = path
    check_ids(found.values())
    check_times(found.values())
    students = {}
    for hand_in in found.values():
        students.setdefault(hand_in.name, []).append(hand_in)
    if not students:
        others = ", ".join(map(shown, left_out(folder, number)))
        raise Unclear(f"{folder}: there is no hand-in in it" + (f"; not looked at, by its name: {others}" if others else ""))
    return {name: students[name] for name in sorted(students)}
