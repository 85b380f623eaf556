"""A folder as a class is graded into it, made of records that are written here. For grades_test.py, policy_test.py and
forget_test.py.
"""
import csv
import json
import os
import subprocess
import tempfile
import unittest

from export_test import record, row   # which finds tools/

BERLIN = {"time_zone": "Europe/Berlin", "deadline": "2027-03-05T23:59", "loss_per_day": 10}
ON_TIME, LATE = "2027-03-05T23:59:00+01:00", "2027-03-06T00:00:00+01:00"


def hand_in(name, earned, at=ON_TIME, files="", **more):
    """A record of two checks, of 60 and 40 points."""
    a, b = (("pass" if earned & bit else "fail") for bit in (1, 2))
    return record(row("a", a, 60), row("b", b, 40), **({"name": name, "from": f"{name}.zip", "handed_in": at, "handed_in_from": "archive",
                  "graded": at, "kit": "1", "judge": "0123456789abcdef", "hand_in": {"stamp": "s", "files": {"bytes.c": files or name}}} | more))


def run(tool, *arguments):
    return subprocess.run([f"tools/{tool}", *arguments], capture_output=True, text=True, check=False)


def contents(path):
    with open(path, "rb") as file:
        return file.read()


def table(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


class Class(unittest.TestCase):
    """A folder as a class is graded into it."""
    def setUp(self):
        self.out = self.enterContext(tempfile.TemporaryDirectory()) + "/graded"
        os.makedirs(self.out + "/records")

    def put(self, *records, old=None):
        """The newest record of each, and {name: records} of those before."""
        for data in records:
            self.write(f"records/{data['name'].replace('/', '%2F')}.json", data)
        for name, before in (old or {}).items():
            for i, data in enumerate(before, 1):
                self.write(f"records/old/{name}/{i}.json", data)

    def write(self, name, data):
        path = os.path.join(self.out, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(data if isinstance(data, str) else json.dumps(data))
        return path

    def policy(self, **more):
        return self.write("../policy.json", BERLIN | more)

    def roster(self, text):
        return self.write("../roster.csv", text)

    def late(self, *arguments, status=0):
        done = run("grades.py", "late", self.out, *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        return {line["name"]: line for line in table(self.out + "/late.csv")} if status != 2 else done
