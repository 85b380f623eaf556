"""What tests of tools say: a line for each expectation, and at the end once more those that were not met."""
import sys

FAILED = []


def expect(good, text):
    print(f"{'good' if good else 'WRONG'}: {text}", flush=True)
    if not good:
        FAILED.append(text)


def end(name):
    """Ends the test. Of a long output often only the end is kept."""
    for text in FAILED:
        print(f"WRONG: {text}")
    print(f"{name}: {'all good' if not FAILED else str(len(FAILED)) + ' failed'}")
    sys.exit(1 if FAILED else 0)
