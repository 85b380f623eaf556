"""What a program that make has started hands on to a make of its own."""

import os
import re


OF_MAKE = ("MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS")


def apart(*words):
    """The environment for a make that has nothing to do with ours, as one that is typed in a shell: without words of our command line
    either."""
    return {name: value for name, value in os.environ.items() if name not in OF_MAKE + words}


def making():
    """The environment for a make that is a part of ours. What make has learned on its command line holds for it as well, but not how
    many jobs there are: make closes the descriptors that tell it to all programs but make."""
    return os.environ | {"MAKEFLAGS": re.sub(r"(^| )(-j\d*|--jobserver-\S+)", "", os.environ.get("MAKEFLAGS", ""))}
