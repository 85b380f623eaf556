"""The folder that a class is graded into: secret, records, locks. Everything in it is whole or not there.

    OUT/secret                  of the class; a student's seed is made from it. Keep it, and keep it to yourself
    OUT/records/NAME.json       of each student who has a hand-in, the record of the newest one
    OUT/records/old/NAME/K.json what was there before, 1, 2, ...: of older hand-ins, of the same by other checks, and of
                                those who have taken theirs back
    OUT/hand_ins.json           every hand-in that was seen, with its record; written before the first is graded, and at the end
    OUT/settings.json           how the last run was started
    OUT/summary.json            scores together
"""
import contextlib
import datetime
import errno
import fcntl
import filecmp
import glob
import hashlib
import hmac
import json
import os
import re
import secrets
import shutil
import socket
import stat
import tempfile

from exports import record as reader


class Stopped(Exception):
    """The grader's own trouble: what is graded stays, the rest waits for the next start."""


class Unusable(Stopped):
    """What no new start mends: a command, a setting, a folder."""


def file_name(name):
    """A name for files, different for different students. Characters that a file system might not take are written as %41."""
    text = "".join(c if c.isalnum() or c in "-_.,@+=() '" else "".join(f"%{byte:02X}" for byte in os.fsencode(c))
                   for c in name)
    if len(os.fsencode(text)) > 200:
        text = text[:40] + "%" + hashlib.sha256(os.fsencode(name)).hexdigest()
    return text


def stopped(path, error):
    full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return Stopped(f"{path}: {'the disk is full' if full else error.strerror}")


def write_whole(path, data, mode=0o644, put=os.replace):
    """Aside, to the disk, then renamed: it is never seen in part."""
    aside = f"{path}.{os.getpid()}.new"
    try:
        handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        put(aside, path)
    except OSError as error:
        if os.path.exists(aside):
            os.unlink(aside)
        raise stopped(path, error) from error


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def put_first(aside, path):
    """For `put`: of several who begin at the same moment one wins, and the others find what is there."""
    with contextlib.suppress(FileExistsError):
        os.link(aside, path)
    os.unlink(aside)


def write_json(path, value):
    write_whole(path, (json.dumps(value, indent=2, ensure_ascii=True) + "\n").encode())


class Class:
    """What is known of a class and a lab."""

    def __init__(self, out, lab, secret=None):
        self.out, self.lab, self.records = out, lab, os.path.join(out, "records")
        os.makedirs(self.records, exist_ok=True)
        self.check_lab()
        if secret and not os.path.exists(secret):   # the first lab of a class, or a name that is mistyped
            print(f"{secret}: a new secret is drawn; keep it, and keep it to yourself")
        self.secret = self.read_secret(secret or os.path.join(out, "secret"))

    @staticmethod
    def read_secret(path):
        if not os.path.exists(path):
            write_whole(path, (secrets.token_hex(32) + "\n").encode(), 0o600, put_first)
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read().strip()
        try:
            secret = bytes.fromhex(text)
        except ValueError:
            secret = b""
        if len(secret) < 16:
            raise Unusable(f"{path}: not a secret of at least 16 bytes in hexadecimal")
        return secret

    def seed(self, name):
        """A student's seed: of 64 bits, in hexadecimal. Without the secret nobody can foretell it."""
        return hmac.new(self.secret, os.fsencode(f"{self.lab}/{name}"), hashlib.sha256).hexdigest()[:16]

    def which_secret(self):
        """Tells one secret from another, and nothing about it."""
        return hmac.new(self.secret, b"which secret", hashlib.sha256).hexdigest()[:16]

    def path(self, name):
        return os.path.join(self.records, file_name(name) + ".json")

    def check_lab(self):
        """Records have students' names: those of another lab would be written over."""
        for _, record in self.all_records():
            if record["lab"] != self.lab:
                raise Unusable(f"{self.out} has the records of {record['lab']}; take another OUT for {self.lab}, "
                               f"with SECRET={os.path.join(self.out, 'secret')}")
            return

    def all_records(self):
        """(path, record) of all students: of each the newest hand-in's."""
        return ((path, record) for path in record_files(self.records) if (record := read_record(path)) is not None)

    def load(self, name):
        """The record of a student's newest hand-in, or None if there is none that is whole."""
        record = read_record(self.path(name))
        return record if record is not None and record["name"] == name else None

    # ---- what was there before

    def old_folder(self, name):
        return os.path.join(self.records, "old", file_name(name))

    def old_paths(self, name):
        """Paths of a student's old records, the first one first."""
        folder = self.old_folder(name)
        numbers = sorted(int(entry[:-5]) for entry in os.listdir(folder) if OLD.fullmatch(entry)) if os.path.isdir(folder) else []
        return [os.path.join(folder, f"{number}.json") for number in numbers]

    def next_old(self, name):
        before = self.old_paths(name)
        os.makedirs(self.old_folder(name), exist_ok=True)
        number = int(os.path.basename(before[-1])[:-5]) + 1 if before else 1
        return os.path.join(self.old_folder(name), f"{number}.json")

    def known(self, name):
        """[(path, record)] of all that there is of a student, the latest first."""
        found = ((path, read_record(path)) for path in [self.path(name), *reversed(self.old_paths(name))])
        return [(path, record) for path, record in found if record is not None and record["name"] == name]

    @staticmethod
    def is_of(record, hand_in):
        """Whether a record is of these bytes, whatever they are called."""
        seen = record["hand_in"]
        sums = {seen.get("sha256"), *seen.get("same", [])}
        return seen["stamp"] == hand_in.stamp() or hand_in.sha256() in sums

    def record_of(self, hand_in, known):
        """(path, record) of a hand-in among those of a student, the latest; (None, None) where there is none."""
        return next(((path, record) for path, record in known if self.is_of(record, hand_in)), (None, None))

    def handed_in(self, hand_in, record):
        """(time, where it is from): what the name says, else what was seen the first time, for a copy of a file may have another."""
        if record is None or hand_in.said or hand_in.sha256() in record["hand_in"].get("same", []):
            return hand_in.handed_in()
        return record["handed_in"], record["handed_in_from"]

    @staticmethod
    def note_same(path, record, hand_in, taken):
        """The same files, packed another time: graded already. Bets have no part in the grade."""
        seen = record["hand_in"]
        if hand_in.sha256() != seen.get("sha256"):
            seen["same"] = [*seen.get("same", []), hand_in.sha256()]
        seen["bets"] = taken.get("bets", {})
        write_json(path, record)
        return record

    def put_aside(self, name):
        """Gives the newest record a second name among the old ones. Ended at any moment and begun again, it is there once."""
        path = self.path(name)
        if self.load(name) is None or any(filecmp.cmp(path, old, shallow=False) for old in self.old_paths(name)):
            return
        with open(path, "rb") as file:
            write_whole(self.next_old(name), file.read())

    def withdraw(self, name):
        """The student has no hand-in any more."""
        self.put_aside(name)
        os.unlink(self.path(name))

    def make_latest(self, hand_in, path, newest):
        """A record of before counts again: as the student's where it is of the newest hand-in, else before others of the same
        one. Its path."""
        name = hand_in.name
        if newest and path != self.path(name):
            self.put_aside(name)
            os.replace(path, self.path(name))
            return self.path(name)
        if not newest and path != self.record_of(hand_in, self.known(name))[0]:
            latest = self.next_old(name)
            os.replace(path, latest)
            return latest
        return path

    def remove_parts(self):
        """What a killed run had begun to write. Nobody else may write at this time."""
        for path in glob.glob(f"{glob.escape(self.records)}/**/*.[0-9]*.new", recursive=True):
            os.unlink(path)

    def save(self, record, newest):
        """Of the newest hand-in in the place of what was there, which is kept; of an older one among the old. Its path."""
        name = record["name"]
        if newest:
            self.put_aside(name)
        path = self.path(name) if newest else self.next_old(name)
        write_json(path, record)
        return path


OLD = re.compile(r"[1-9]\d{0,8}\.json")


def record_files(folder):
    return [os.path.join(folder, entry) for entry in sorted(os.listdir(folder)) if entry.endswith(".json")]


LATER = ("kit", "handed_in", "handed_in_from", "graded", "from")   # what records of before 1.0.0 do not have


def read_record(path):
    """What is in a file if it is a record of this folder, whole in all that is asked of it; None otherwise. Its score is
    added up again: a change by hand has no effect."""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        record["score"] = reader.read(record)["score"]
        texts = [record["hand_in"]["stamp"], record["judge"], *(record.setdefault(key, "") for key in LATER)]
        return record if all(isinstance(text, str) for text in texts) else None
    except PermissionError as error:   # it may be whole: nothing must take its place
        raise stopped(path, error) from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError, reader.BadRecord):
        return None


def undecided(record):
    """Whether a check ended for a reason that is not the student's."""
    return any(row["state"] in reader.UNDECIDED for row in record["checks"])


# ---- one grader at a time, and nothing left behind --------------------------------------------------

@contextlib.contextmanager
def lock(out, shard):
    """Given back when this process ends, however it ends. A shard excludes itself and a whole run, not other shards."""
    wanted = [(".lock", fcntl.LOCK_EX)]
    if shard is not None:
        wanted = [(".lock", fcntl.LOCK_SH), (f".lock-{shard}", fcntl.LOCK_EX)]
    with contextlib.ExitStack() as held:
        for name, kind in wanted:
            file = held.enter_context(open(os.path.join(out, name), "w", encoding="ascii"))
            try:
                fcntl.flock(file, kind | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Stopped(f"{out}: is being graded into at this moment") from None
        yield


def is_left_by_us(path):
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return (stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            and os.path.basename(path).startswith("grade-all-"))


@contextlib.contextmanager
def work_folder(out, shard):
    """A new private folder on a local disk. The leftovers of a killed run are removed."""
    note = os.path.join(out, ".work" + ("" if shard is None else f"-{shard}"))
    if os.path.exists(note):
        with open(note, encoding="utf-8", errors="replace") as file:
            host, _, path = file.read().strip().partition(":")
        if host == socket.gethostname() and is_left_by_us(path):
            shutil.rmtree(path, ignore_errors=True)
    work = tempfile.mkdtemp(prefix="grade-all-")
    os.chmod(work, 0o711)   # the sandbox's other users go through it
    try:
        write_whole(note, f"{socket.gethostname()}:{work}\n".encode())
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
