"""How tools that read records end: with 2 where they cannot begin, with 1 where something is not right, each with a line for it."""
import sys

from class_folder import Stopped, Unusable
from exports.record import BadRecord, told


def end(tool, work):
    """Ends with 1 where `work()` has something to complain of, which it returns as lines; with 2 where it cannot begin."""
    sys.stdout.reconfigure(errors="replace")
    try:
        said = work()
    except (BadRecord, Unusable) as error:
        print(f"{tool}: {error}", file=sys.stderr)
        sys.exit(2)
    except (Stopped, OSError) as error:
        sys.exit(f"{tool}: {told(error)}")
    for line in said:
        print(f"{tool}: {line}", file=sys.stderr)
    sys.exit(1 if said else 0)
