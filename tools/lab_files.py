"""Where labs are: their three folders stand here, or in the folder that LABS= names."""
import glob
import json
import os

OWN = os.environ.get("LABS", "").rstrip("/")   # another folder with labs, or ""


def roots():
    return [".", OWN] if OWN else ["."]


def root_of(lab):
    """The folder in which labs/LAB lies; "." for a lab that there is not."""
    return next((root for root in roots() if os.path.isfile(f"{root}/labs/{lab}/lab.json")), ".")


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
