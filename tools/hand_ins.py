"""Who handed in what, and when: the entries of a folder, as a person or a system has put them there.

    NAME  NAME.zip  03-NAME.tar.gz              a folder or an archive
    NAME@20270301T235900+0100.tar.gz            with the time at which it was handed in; a student may have several
    Tina Berg_123_assignsubmission_file_        Moodle: a folder, or with a file's name after it
    bergtina_LATE_12_345_x                      Canvas: loose files
    Lab 3_tberg_attempt_2027-03-01-23-59-00_x   Blackboard: loose files, several attempts

A hand-in without a time in its name has that of the archive, or of the newest file in its folder.
"""
import datetime
import errno
import hashlib
import itertools
import os
import re
import stat
import time

from exports import roster
from exports.record import one_line
from hand_in_reader import MOST_ENTRIES, MOST_UNPACKED, is_archive, stem_of

FROM_NAME, FROM_ARCHIVE, FROM_FOLDER = "name", "archive", "newest file"
NEWEST = 253370764799   # the end of the year 9998
MOST_UNCLEAR = 8        # that are named
LONGEST = 4096          # path that Linux takes
CLOCKS_DIFFER = 3600    # seconds by which two machines may

MOODLE = re.compile(r"(?P<name>.+)_(?P<id>\d+)_assignsubmission_(?P<kind>[a-z]+)_?(?P<file>.*)", re.S)
CANVAS = re.compile(r"(?P<name>anon_[A-Za-z0-9]{5}|[^_]+(?=_(?:LATE_)?\d+_\d+_))(?P<late>_LATE)?(_(?P<id>\d+))?_\d+_(?P<file>.+)", re.S)
DATED = re.compile(r"\d{4}-?\d\d-?\d\d($|[T _-])")
BLACKBOARD = re.compile(r".+_(?P<name>[^_]+)_attempt_(?P<time>\d{4}(-\d\d){5})(_(?P<file>.+)|\.txt)", re.S)


class Unclear(Exception):
    """What is the instructor's to settle: a line for each."""


def shown(name):
    """Nothing that a terminal could take for more than text."""
    return "".join(c if c.isprintable() else "?" for c in name)


# ---- names ------------------------------------------------------------------------------------------

def time_in(entry, text, read, zone):
    """{time, local} that `read` finds in a part of an entry's name. One without an offset is local in `zone`, or else in this
    machine's; of an hour that the clocks repeat it is the first."""
    try:
        said = read(text)
        local = said.tzinfo is None
        if local:
            said = said.replace(tzinfo=zone) if zone else said.astimezone()
        if 0 <= said.timestamp() <= NEWEST:
            return {"time": said, "local": local}
    except (ValueError, OverflowError):
        pass
    raise Unclear(f"{shown(entry)}: {shown(text)} is not a time, such as 20270301T235900+0100")


def split_time(entry, name, zone):
    """("anna", {time, local}) of "anna@20270301T235900+0100"; (name, {}) where no date follows the @."""
    before, _, after = name.rpartition("@")
    return (before, time_in(entry, after, ours, zone)) if before and DATED.match(after) else (name, {})


def ours(text):
    """A day alone says neither its begin nor its end."""
    if "T" not in text:
        raise ValueError
    return datetime.datetime.fromisoformat(text)


def blackboards(text):
    """Blackboard's time, which has no zone."""
    return datetime.datetime.strptime(text, "%Y-%m-%d-%H-%M-%S")


def meaning_of(entry, is_folder, number, zone):
    """{name, time, local, file, system, id} that the name of an entry stands for; None where it is not a hand-in. `file`: what a loose
    file was called before a system renamed it."""
    moodle = MOODLE.fullmatch(entry)
    if moodle:
        if moodle["kind"] != "file":
            return None   # a text that was typed into Moodle, or a comment
        return {"name": moodle["name"], "file": "" if is_folder else moodle["file"], "system": "moodle", "id": moodle["id"]}
    blackboard = None if is_folder else BLACKBOARD.fullmatch(entry)
    if blackboard:
        said = time_in(entry, blackboard["time"], blackboards, zone)
        return {"name": blackboard["name"], "file": blackboard["file"], "system": "blackboard"} | said if blackboard["file"] else None   # the text about an attempt
    canvas = None if is_folder else CANVAS.fullmatch(entry)
    if canvas:
        # Canvas numbers what is handed in again.
        file = re.sub(r"-\d+(?=\.[^.]+$)", "", canvas["file"])
        return {"name": canvas["name"], "file": file, "system": "canvas", "id": canvas["id"]} | ({"late": True} if canvas["late"] else {})
    name = entry if is_folder else stem_of(entry)
    name, said = split_time(entry, name.removeprefix(number + "-") or name, zone)   # as `make handin03` calls it
    return {"name": name, "file": ""} | said


# ---- hand-ins ---------------------------------------------------------------------------------------

def is_folder(path):
    return os.path.isdir(path) and not os.path.islink(path)


def files_below(path, stop=None):
    """Of a folder as many files as an honest hand-in has, in order. `stop` is called with what cannot be listed."""
    def found():
        for folder, folders, names in os.walk(path, onerror=stop):
            folders.sort()
            yield from (os.path.join(folder, name) for name in sorted(names))
    return itertools.islice((file for file in found() if len(os.fsencode(file)) < LONGEST), MOST_ENTRIES + 1)


class HandIn:
    """What one student has handed in at one time: `path`, or loose `files`, pairs of name and path."""

    def __init__(self, meaning, entry):
        self.name, self.entry, self.said, self.local = meaning["name"], entry, meaning.get("time"), meaning.get("local", False)
        self.lms = {key: meaning[key] for key in ("system", "id", "late") if meaning.get(key)}
        self.path, self.files, self.seen, self.unread = None, [], {}, ""

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

    def why_not_read(self):
        """What of it this machine cannot read, and why; "" if it can read all. The student has no part in that."""
        def stop(error):
            if error.errno != errno.ENAMETOOLONG:   # what is too deep for a path, the reader refuses
                raise error

        try:
            for path in [path for _, path in self.files] or [self.path]:
                for file in files_below(path, stop) if is_folder(path) else [path]:
                    if os.path.isfile(file) and not os.path.islink(file) and not os.access(file, os.R_OK):
                        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), file)
        except OSError as error:
            return f"{shown(error.filename)}: {error.strerror}"
        return ""

    def places(self):
        """Each file of it with its name inside: as many as an honest one has."""
        if self.path is None:
            return sorted(self.files)
        if self.unread or not is_folder(self.path):
            return [("", self.path)]
        return [(os.path.relpath(path, self.path), path) for path in files_below(self.path)]

    def find_stamp(self):
        if self.unread:
            return ""
        seen = hashlib.sha256()
        for name, place in self.places():
            found = os.lstat(place)
            seen.update(f"{name!a} {found.st_size} {found.st_mtime_ns}\n".encode())
        return seen.hexdigest()[:32]

    def find_sha256(self):
        places, left, sums = self.places(), MOST_UNPACKED, []
        if self.unread:
            return ""
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


def is_of_the_future(text):
    """Whether a time is still to come: a clock is wrong, or the name of an entry."""
    return moment(text) > time.time() + CLOCKS_DIFFER


# ---- the folder -------------------------------------------------------------------------------------

def is_looked_at(entry):
    """What a system or an editor leaves beside hand-ins is called so."""
    return not entry.startswith(".") and entry != "__MACOSX"


def is_hand_in(meaning, path):
    """Whether an entry is one: a file that no system has named, and that says no time, must be an archive. A link is refused later."""
    return bool(meaning.get("system") or meaning.get("time")) or not os.path.isfile(path) or os.path.islink(path) or is_archive(path)


def entries_of(folder, number, zone=None):
    """(entry, meaning or None) of all that lies in a folder, by name."""
    found, unclear = [], []
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        try:
            meaning = meaning_of(entry, os.path.isdir(path), number, zone) if is_looked_at(entry) else None
            found.append((entry, meaning if meaning and is_hand_in(meaning, path) else None))
        except Unclear as why:
            unclear.append(str(why))
    settle(unclear)
    return found


def left_out(folder, number):
    """What is in the folder and not looked at. A student's work might be called so."""
    return [entry for entry, meaning in entries_of(folder, number) if meaning is None]


def settle(unclear):
    """Ends here where there is something to be asked."""
    more = [f"and {len(unclear) - MOST_UNCLEAR} more"] if len(unclear) > MOST_UNCLEAR else []
    if unclear:
        raise Unclear("\n  ".join(unclear[:MOST_UNCLEAR] + more))


def of_two_students(hand_ins):
    """A system has two students of one name under two numbers; and what differs in capitals alone, or in how an umlaut is
    written, is one name to a grade book, to a report and to some disks."""
    first = {}
    for hand_in in hand_ins:
        other = first.setdefault(roster.key(one_line(hand_in.name)), hand_in)
        if other.name != hand_in.name:
            yield f"{shown(other.entry)} and {shown(hand_in.entry)}: two names that a grade book takes for one; rename one"
        elif other.lms.get("id") != hand_in.lms.get("id"):
            yield f"two students are called {shown(hand_in.name)}: {shown(other.entry)} and {shown(hand_in.entry)}; rename one"


def of_one_time(hand_ins):
    """Which of two is the newer one must be said."""
    seen = {}
    for hand_in in hand_ins:
        other = seen.setdefault((hand_in.name, hand_in.said), hand_in)
        if other is not hand_in:
            yield (f"{shown(hand_in.name)} has handed in twice: {shown(other.entry)} and {shown(hand_in.entry)}; "
                   "keep one, or say when: NAME@20270301T235900+0100")


def find(folder, number, zone=None):
    """{name: hand-ins} of all students. `number` of the lab: "03"; `zone` of times that say none."""
    found = {}
    for entry, meaning in entries_of(folder, number, zone):
        if meaning is None:
            continue
        path = os.path.join(folder, entry)
        place = (meaning["name"], meaning.get("time"), meaning.get("id")) if meaning["file"] else (entry,)
        hand_in = found.setdefault(place, HandIn(meaning, entry))
        if meaning["file"]:
            hand_in.files.append((meaning["file"], path))
            hand_in.lms |= {"late": True} if meaning.get("late") else {}
        else:
            hand_in.path = path
    settle([*of_two_students(found.values()), *of_one_time(found.values())])
    students = {}
    for hand_in in found.values():
        hand_in.unread = hand_in.why_not_read()
        students.setdefault(hand_in.name, []).append(hand_in)
    if not students:
        others = ", ".join(map(shown, left_out(folder, number)))
        raise Unclear(f"{folder}: there is no hand-in in it" + (f"; not looked at, by name or kind: {others}" if others else ""))
    return {name: students[name] for name in sorted(students)}
