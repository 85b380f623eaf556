"""Pictures by gnuplot: whole or not at all, and with a name for those who do not see them."""
import os
import re
import subprocess
import sys
import tempfile


def name_picture(path, text):
    """What it shows in place of what gnuplot says of itself."""
    with open(path, encoding="utf-8") as file:
        drawn = file.read()
    drawn = re.sub(r"<desc>.*?</desc>\n", "", drawn.replace("<title>Gnuplot</title>", f"<title>{text}</title>"))
    with open(path, "w", encoding="utf-8") as file:
        file.write(drawn)


def draw(script, size, path, text):
    """Draws an SVG of (width, height), named by text: beside its place, to which only a whole picture goes. Returns whether it did;
    else a line is on stderr."""
    folder = os.path.dirname(os.path.abspath(path))
    try:
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as aside:
            head = (f"set terminal svg size {size[0]},{size[1]} dynamic font 'sans-serif,13' background '#ffffff'\n"
                    f"set output '{aside}/picture'\nset encoding utf8\n")
            subprocess.run(["gnuplot"], input=head + script, text=True, check=True)
            name_picture(f"{aside}/picture", text.translate({ord(c): None for c in "<>&"}))
            os.replace(f"{aside}/picture", path)
    except (OSError, subprocess.CalledProcessError) as error:
        print(f"{path}: no picture: {error}", file=sys.stderr)
        return False
    print(f"Picture: {path}")
    return True
