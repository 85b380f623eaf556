"""A make that a program starts, where a make has started the program."""

import os
import re


def making():
    """The environment for it. What make has learned on its command line holds for it as well, but not how many jobs there are: make
    closes the descriptors that tell it to all programs but make."""
    return os.environ | {"MAKEFLAGS": re.sub(r"(^| )(-j\d*|--jobserver-\S+)", "", os.environ.get("MAKEFLAGS", ""))}
