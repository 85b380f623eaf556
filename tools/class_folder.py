"""The folder that a class is graded into: secret, records, locks. Everything in it is whole or not there.

    OUT/secret          of the class; a student's seed is made from it. Keep it, and keep it to yourself
    OUT/records/*.json  one for each hand-in
    OUT/summary.json    scores together
"""
import contextlib
import errno
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import shutil
import socket
import stat
import tempfile

from exports import record as reader


class Stopped(Exception):
    """The grader's own trouble: what is graded stays, the rest waits for the next start."""


def file_name(name):
    """A name for files, different for different students. Characters that a file system might not take are written as %41."""
    text = "".join(c if c.isalnum() or c in "-_.,@+=() '" else "".join(f"%{byte:02X}" for byte in os.fsencode(c))
                   for c in name)
    if len(os.fsencode(text)) > 200:
        text = text[:40] + "%" + hashlib.sha256(os.fsencode(name)).hexdigest()
    return text


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
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        raise Stopped(f"{path}: {'the disk is full' if full else error.strerror}") from error


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
            raise Stopped(f"{path}: not a secret of at least 16 bytes in hexadecimal")
        return secret

    def seed(self, name):
        """A student's seed: of 64 bits, in hexadecimal. Without the secret nobody can foretell it."""
        return hmac.new(self.secret, os.fsencode(f"{self.lab}/{name}"), hashlib.sha256).hexdigest()[:16]

    def path(self, name):
        return os.path.join(self.records, file_name(name) + ".json")

    def check_lab(self):
        """Records have students' names: those of another lab would be written over."""
        for entry in sorted(os.listdir(self.records)):
            record = read_record(os.path.join(self.records, entry)) if entry.endswith(".json") else None
            if record is not None:
                if record["lab"] != self.lab:
                    raise Stopped(f"{self.out} has the records of {record['lab']}; take another OUT for {self.lab}, "
                                  f"with SECRET={os.path.join(self.out, 'secret')}")
                return

    def load(self, name):
        """The record of a hand-in, or None if there is none that is whole."""
        record = read_record(self.path(name))
        return record if record is not None and record["name"] == name else None

    def save(self, record):
        write_json(self.path(record["name"]), record)


def read_record(path):
    """What is in a file if it is a record of this folder, whole in all that is asked of it; None otherwise. Its score is
    added up again: a change by hand has no effect."""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        record["score"] = reader.read(record)["score"]
        return record if isinstance(record["hand_in"]["stamp"], str) and isinstance(record["judge"], str) else None
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
