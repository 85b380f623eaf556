"""Where labs are: their three folders stand here, or in the folder that LABS= names."""
import glob
import json
import os
import re
import sys

OWN = os.environ.get("LABS", "").rstrip("/")   # another folder with labs, or ""
NAME = re.compile(r"\d\d_[A-Za-z0-9_]+")


# ---- a folder with labs of one's own -------------------------------------------------------------------

def labs_in(root):
    return sorted(name for name in os.listdir(f"{root}/labs") if os.path.isdir(f"{root}/labs/{name}") and not name.startswith("."))


def wrong_json(path):
    """Why a file cannot be read as JSON; or None."""
    try:
        with open(path, encoding="utf-8") as file:
            json.load(file)
    except json.JSONDecodeError as error:
        return f"line {error.lineno}: {error.msg}"
    except (OSError, ValueError) as error:
        return str(error)
    return None


def wrong_lab(root, name, taken):
    """`taken`: {number: the lab that has it}, of the kit and of the folder."""
    if not NAME.fullmatch(name):
        return f"labs/{name}: a lab's folder is called by two digits, _, then letters and digits, as 90_topic"
    other = taken.setdefault(name[:2], name)
    if other != name or os.path.exists(f"labs/{name}/lab.json"):
        return f"labs/{name}: {other} has the number {name[:2]} already"
    if not os.path.isfile(f"{root}/labs/{name}/lab.json"):
        return f"labs/{name} has no lab.json"
    why = wrong_json(f"{root}/labs/{name}/lab.json")
    if why:
        return f"labs/{name}/lab.json: {why}"
    return None if os.path.isfile(f"{root}/labs/{name}/README.md") else f"labs/{name} has no README.md, whose first line is the lab's title"


def wrong_folder(root):
    """What is wrong with a folder of labs, as a line; or None."""
    if not os.path.isdir(f"{root}/labs"):
        return "there is no folder labs/ in it" if os.path.isdir(root) else "there is no such folder"
    taken = {name[:2]: name for name in labs_in(".") if NAME.fullmatch(name)}
    found = [wrong_lab(root, name, taken) for name in labs_in(root)] or ["labs/ in it has no lab: a folder such as labs/90_topic"]
    return next((why for why in found if why), None)


def roots():
    if not OWN:
        return ["."]
    why = wrong_folder(OWN)
    if why:
        print(f"LABS={OWN}: {why}", file=sys.stderr)
        sys.exit(2)
    return [".", OWN]


# ---- the labs ------------------------------------------------------------------------------------------

def root_of(lab):
    """The folder in which labs/LAB lies; "." for a lab that there is not."""
    return next((root for root in (".", OWN) if root and os.path.isfile(f"{root}/labs/{lab}/lab.json")), ".")


def path_of(lab, *names, kind="labs"):
    """labs/LAB/name, or that of `kind`: "solutions", "grader/labs"."""
    return os.path.normpath(os.path.join(root_of(lab), kind, lab, *names))


def all_labs(name="lab.json"):
    """The labs that have a file of that name, in order."""
    return sorted(path.split("/")[-2] for root in roots() for path in glob.glob(f"{root}/labs/[0-9]*_*/{name}"))


def read_lab(lab):
    with open(path_of(lab, "lab.json"), encoding="utf-8") as file:
        return json.load(file)


def files_of(lab):
    """The files that a student writes."""
    return [hole["file"] for hole in read_lab(lab)["holes"]]


def has_cuda(lab):
    """Whether its checks run with every access of a kernel looked at."""
    return any(name.endswith(".cu") for name in files_of(lab))
