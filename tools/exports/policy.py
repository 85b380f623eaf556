"""policy.json: what a late hand-in loses, and which of several counts. A record has the points that the files earn; a policy
is applied where they are written to a table, so a change of it grades nothing again.

A deadline is the last moment that is on time, and a part of its second is not late. Every day that has begun after it costs
`loss_per_day` percent; a day ends at the deadline's time of day, also where the clocks change. See docs/exports.md.
"""
import datetime
import functools
import json
import os
import zoneinfo

try:
    import jsonschema
except ImportError:
    raise SystemExit("policy: python3-jsonschema is not installed: tools/setup.sh") from None

from class_folder import Unusable
from course import full_name
from exports import layout
from exports.record import check_one_kind, no_name_twice, no_number, one_line, same_points
from exports.roster import finder, key, keys_of, rows_by_key

SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../grader/schemas/policy.json")
DEFAULTS = {"grace_minutes": 0, "loss_per_day": 0, "loss_of": "total", "most_lost": 100, "counts": "last", "extensions": {}}
MOST_BYTES = 1 << 20
DAY = datetime.timedelta(days=1)


class BadPolicy(Unusable):
    """What is wrong with a policy: one line, with the key."""


# ---- reading ----------------------------------------------------------------------------------------

@functools.lru_cache(maxsize=None)
def validator():
    with open(SCHEMA, encoding="utf-8") as file:
        return jsonschema.Draft202012Validator(json.load(file))


def load(path):
    """The policy of a file, looked at as a whole: every moment in it exists."""
    try:
        with open(path, "rb") as file:
            data = json.loads(file.read(MOST_BYTES), object_pairs_hook=no_name_twice, parse_constant=no_number)
    except OSError as error:
        raise BadPolicy(f"{path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise BadPolicy(f"{path}: this is not JSON: {one_line(str(error))}") from None
    try:
        check(data)
    except BadPolicy as error:
        raise BadPolicy(f"{path}: {error}") from None
    return data


def complaint(error):
    """What the schema does not allow, in words for the one who wrote the file."""
    where = ".".join(map(str, error.absolute_path))
    if error.validator == "additionalProperties":
        unknown = sorted(set(error.instance) - set(error.schema["properties"]))[0]
        return f"{'.'.join(filter(None, [where, unknown]))}: there is no such key; known: {', '.join(error.schema['properties'])}"
    if "propertyNames" in error.absolute_schema_path:
        return f"{where}: {one_line(str(error.instance))!r}: " + ("a name must not be empty" if not error.instance else "a lab is meant, as 03 or 03_accumulate")
    said = {"pattern": "must be a moment such as 2027-03-05T23:59", "oneOf": "must have either days or deadline"}
    return f"{where or 'the whole file'}: {said.get(error.validator) or one_line(error.message)}"


def check(data):
    error = next(iter(sorted(validator().iter_errors(data), key=lambda each: (list(map(str, each.absolute_path)), str(each.validator)))), None)
    if error is not None:
        raise BadPolicy(complaint(error))
    check_labs(data.get("labs", {}))
    zone = zone_of(data)
    for where, settings in [("", data), *((f"labs.{lab}.", each) for lab, each in data.get("labs", {}).items())]:
        if "deadline" in settings:
            moment(settings["deadline"], zone, where + "deadline")
        check_names(settings.get("extensions", {}), where + "extensions")
        for name, extension in settings.get("extensions", {}).items():
            if "deadline" in extension:
                moment(extension["deadline"], zone, f"{where}extensions.{name}.deadline")


def check_labs(labs):
    first = {}
    for lab in labs:
        full = full_name(lab)
        if full is None:
            raise BadPolicy(f"labs.{lab}: there is no such lab; one of your own is known with LABS=")
        if first.setdefault(full, lab) != lab:
            raise BadPolicy(f"labs.{lab}: labs.{first[full]} is the same lab")


def check_names(extensions, where):
    """Of two spellings of a name one would be overlooked."""
    first = {}
    for name in extensions:
        if not key(name):
            raise BadPolicy(f"{where}: {one_line(name)!r}: a name must not be empty")
        if first.setdefault(key(name), name) != name:
            raise BadPolicy(f"{where}.{name}: {where}.{first[key(name)]} is the same name")


def zone_of(data):
    name = data.get("time_zone")
    try:
        return zoneinfo.ZoneInfo(name) if name else None
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise BadPolicy(f"time_zone: {one_line(name)!r} is not a time zone of this machine, such as Europe/Berlin") from None


def moment(text, zone, where):
    """A moment with its zone. Of an hour that the clocks repeat it is the second; one that they skip does not exist."""
    try:
        said = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise BadPolicy(f"{where}: {text} is not a moment") from None
    if not 1970 <= said.year <= 9000:
        raise BadPolicy(f"{where}: {text} is in no year of a course")
    if said.tzinfo is not None:
        return said
    if zone is None:
        raise BadPolicy(f"{where}: {text} has no offset, and there is no time_zone")
    local = said.replace(tzinfo=zone, fold=1)
    back = local.astimezone(datetime.timezone.utc).astimezone(zone)
    if back.replace(tzinfo=None) != said:
        raise BadPolicy(f"{where}: {text} does not exist in {zone.key}: the clocks are put forward")
    return local


# ---- of one lab ---------------------------------------------------------------------------------------

class Policy:
    """The rules of one lab, and whose deadline is another."""

    def __init__(self, data, lab):
        of_lab = data.get("labs", {}).get(lab) or data.get("labs", {}).get(lab.split("_")[0]) or {}
        self.rules = DEFAULTS | {name: value for name, value in data.items() if name != "labs"} | of_lab
        self.zone = zone_of(data)
        self.deadline = moment(self.rules["deadline"], self.zone, "deadline") if "deadline" in self.rules else None
        # Those of the lab come first.
        self.extensions = [{key(name): {"name": name, **extension} for name, extension in settings.get("extensions", {}).items()}
                           for settings in (of_lab, data)]
        self.taken = {}

    def deadline_of(self, names):
        """(the deadline of the student who is called so, why it is another one)"""
        found = next((extensions[name] for extensions in self.extensions for name in sorted(names) if name in extensions), None)
        if found is None or self.deadline is None and "days" in found:
            return self.deadline, ""
        mine = moment(found["deadline"], self.zone, "deadline") if "deadline" in found else later(self.deadline, found["days"])
        return mine, "extension" + (f" ({one_line(found['why'])})" if found.get("why") else "")

    def has_one_for(self, names):
        return any(name in extensions for extensions in self.extensions for name in names)

    def claim(self, names, student):
        """An extension is of one student, and a student has one."""
        for extensions in self.extensions:
            mine = [extensions[name]["name"] for name in sorted(names) if name in extensions]
            if len(mine) > 1:
                raise BadPolicy(f"extensions: {' and '.join(mine)} are both of {student}: keep one")
            for name in mine:
                if self.taken.setdefault(key(name), student) != student:
                    raise BadPolicy(f"extensions.{name}: it fits {self.taken[key(name)]} and {student}: say it by what only one of them has")

    def of_nobody(self, names):
        """Extensions of students whom neither a hand-in nor the roster knows: most likely a typing error."""
        return list(dict.fromkeys(extension["name"] for extensions in self.extensions for name, extension in extensions.items()
                                  if name not in names))

    def loss(self, handed_in, score, total, names):
        """{late: seconds, days, loss, why} of points handed in at that moment."""
        deadline, extended = self.deadline_of(names)
        if deadline is None:
            return {"late": 0, "days": 0, "loss": 0.0, "why": "no deadline"}
        if handed_in is None:
            return {"late": None, "days": 0, "loss": 0.0, "why": "the record does not say when it was handed in"}
        late = seconds_after(deadline, handed_in)
        if late <= 0:
            return {"late": 0, "days": 0, "loss": 0.0, "why": ", ".join(filter(None, ["on time", extended]))}
        if late <= 60 * self.rules["grace_minutes"]:
            return {"late": late, "days": 0, "loss": 0.0, "why": ", ".join(filter(None, ["within the grace", extended]))}
        days = days_begun(deadline, handed_in)
        percent = min(days * self.rules["loss_per_day"], self.rules["most_lost"])
        lost = min(score, round(percent / 100 * (score if self.rules["loss_of"] == "score" else total), 2))
        capped = ", no more than that" if days * self.rules["loss_per_day"] > self.rules["most_lost"] else ""
        why = f"{days} {'day' if days == 1 else 'days'} late: {percent:g} % of the {'points reached' if self.rules['loss_of'] == 'score' else 'total'}{capped}"
        return {"late": late, "days": days, "loss": lost, "why": ", ".join(filter(None, [why, extended]))}


def later(deadline, days):
    """The same time of day, that many days on. Where the clocks change then, it is what is better for the student."""
    moved = deadline + days * DAY   # within its zone: Python moves the date, not the duration
    return max((moved.replace(fold=fold) for fold in (0, 1)), key=lambda each: each.astimezone(datetime.timezone.utc))


def seconds_after(deadline, handed_in):
    """Whole seconds: a part of a second is dropped."""
    utc = datetime.timezone.utc
    return int((handed_in.astimezone(utc).replace(microsecond=0) - deadline.astimezone(utc)).total_seconds())


def days_begun(deadline, handed_in):
    """How many days have begun since the deadline: the first second after it begins the first."""
    days = max(1, seconds_after(deadline, handed_in) // 86400)
    while days > 1 and seconds_after(later(deadline, days - 1), handed_in) <= 0:
        days -= 1
    while seconds_after(later(deadline, days), handed_in) > 0:
        days += 1
    return days


# ---- of a class ---------------------------------------------------------------------------------------

def result(policy, record, names):
    found = policy.loss(layout.time_of(record["handed_in"]), record["score"], record["total"], names)
    return {"name": record["name"], "lab": record["lab"], "raw": record["score"], "total": record["total"], "record": record,
            "handed_in": record["handed_in"], "undecided": record["undecided"], "final": round(record["score"] - found["loss"], 2), **found}


def hand_ins_of(record):
    """([one record for each hand-in], how many others do not count and why, what cannot be read): of a hand-in that was graded
    again the newest record; without those that were taken out of IN."""
    before, bad = layout.older(record)
    of_one = {}
    others = 0
    for each in [*before, record]:
        if each["judge"] != record["judge"] or not same_points(each["kit"], record["kit"]):
            others += 1
        else:
            of_one[each["sums"], each["handed_in"]] = each
    there = [each for each in of_one.values() if not each["packed"] & record.get("taken_out", set())]
    left = {"graded by other checks": others, "taken out of the class's hand-ins": len(of_one) - len(there)}
    return there, {why: count for why, count in left.items() if count}, bad


def apply(policy, record, names):
    """What counts for a student: (the result, what cannot be read)."""
    last = result(policy, record, names)
    if policy.rules["counts"] == "last":
        return last, []
    hand_ins, left, bad = hand_ins_of(record)
    best = max((result(policy, each, names) for each in hand_ins if not each["undecided"]), default=last,
               key=lambda each: (each["final"], each is last))
    if len(hand_ins) > 1:
        best = best | {"why": f"the best of {len(hand_ins)}; {best['why']}"}
    for why, count in left.items():
        best = best | {"why": f"{best['why']}; {count} {why} not counted"}
    return best, bad


def results(data, records, rows=()):
    """(results of the newest records of a class, complaints). Without data there is no policy: the points are what was earned."""
    check_one_kind(records)
    of_lab, made, said, known = {}, [], [], set()
    rows_of = finder(rows)
    for record in records:
        names, found = {key(record["name"])}, rows_of(record["name"])
        if len(found) == 1:   # of those that fit several rows, nothing is known but the name
            names |= keys_of(found[0])
        policy = of_lab.setdefault(record["lab"], Policy(data or {}, record["lab"]))
        policy.claim(names, record["name"])
        if len(found) > 1 and policy.has_one_for(set().union(*map(keys_of, found)) - names):
            said.append(f"{record['name']}: in the roster on lines {', '.join(str(row['line']) for row in found)}, so no extension of theirs is applied")
        one, bad = apply(policy, record, names)
        made.append(one)
        said += bad
        known |= names
    known |= set(rows_by_key(rows))
    for lab, policy in of_lab.items():
        said += [f"extensions.{name}: neither a hand-in of {lab} nor the roster has that name" for name in policy.of_nobody(known)]
    return made, said


def duration(seconds):
    """As a reader says it: 2 d 03:04:05."""
    if seconds is None:
        return "not known"
    days, rest = divmod(int(seconds), 86400)
    clock = f"{rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
    return "" if not seconds else f"{days} d {clock}" if days else clock
