"""Progress and the time left of a command that takes more than a few seconds; for programs in C it is train/meter.h.

On a terminal one line that renews itself and is gone in the end, elsewhere a plain line every few seconds.
"""
import sys
import time

ERASE = "\r\033[K"


def duration_text(seconds):
    """1.5 s, 2:03, 1:02:03"""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes}:{seconds:02}" if minutes < 60 else f"{minutes // 60}:{minutes % 60:02}:{seconds:02}"


class Meter:
    """40 of 600 windows, left 0:12"""

    def __init__(self, of, all_of_them, to=sys.stderr):
        self.of, self.all, self.to = of, all_of_them, to
        self.terminal, self.open = to.isatty(), False
        self.every = 0.2 if self.terminal else 5
        self.began = self.told = time.monotonic()

    def tell(self, done):
        """Writes a line, if it is time for one."""
        now = time.monotonic()
        if now - self.told < self.every or not 0 < done < self.all:
            return
        left = duration_text((now - self.began) / done * (self.all - done))
        sys.stdout.flush()
        print(f"{ERASE if self.terminal else ''}{done:.0f} of {self.all:.0f} {self.of}, left {left}",
              end="" if self.terminal else "\n", file=self.to, flush=True)
        self.told, self.open = now, self.terminal

    def clear(self):
        """Takes the line off the screen: before anything else is written there."""
        if self.open:
            print(ERASE, end="", file=self.to, flush=True)
            self.open = False
