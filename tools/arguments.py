"""The command line of a tool. A mistake in it is one line on stderr, as every error of the kit is, and exit status 2."""
import argparse
import os


class Parser(argparse.ArgumentParser):
    """Without the usage before an error: who typed make's settings does not know these options."""

    def error(self, message):
        self.exit(2, f"{os.path.splitext(self.prog)[0].replace('_', '-')}: {message}\n")
