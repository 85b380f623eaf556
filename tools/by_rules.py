"""What tools that know of policy and roster share: the options that name both, and how they end."""
import sys

from class_folder import Stopped, Unusable
from exports.policy import BadPolicy
from exports.record import BadRecord, told


def add_options(parser):
    parser.add_argument("--policy", help="policy.json")
    parser.add_argument("--roster", help="roster.csv")
    parser.add_argument("--course", help="course.json, which may name both; otherwise that in OUT or above it")


def end(tool, work):
    """Ends with 1 where `work()` has something to complain of, which it returns as lines; with 2 where it cannot begin."""
    sys.stdout.reconfigure(errors="replace")
    try:
        said = work()
    except (BadRecord, Unusable, BadPolicy) as error:
        print(f"{tool}: {error}", file=sys.stderr)
        sys.exit(2)
    except (Stopped, OSError) as error:
        sys.exit(f"{tool}: {told(error)}")
    for line in said:
        print(f"{tool}: {line}", file=sys.stderr)
    sys.exit(1 if said else 0)
