#!/usr/bin/env python3
"""What doxygen must be told, and what it leaves out, to make a book of the handbook. `make docs` calls it three times.

    tools/book.py settings [instructor]   lines for the Doxyfile: which files and labs there are
    tools/book.py page FILE               a page as doxygen reads it (FILTER_PATTERNS)
    tools/book.py finish HTML PICTURES    adds pictures and the way from page to page to what doxygen wrote

In a page `<!-- labs -->` is the list of all labs, and `<!-- picture: name | text -->` is PICTURES/name.svg, or a sentence where
it could not be drawn. The site that shows the sources does not show either.
"""
import glob
import html
import json
import os
import re
import shutil
import sys

from lab_files import OWN, all_labs, path_of

PICTURES = "build/docs/pictures"
PICTURE = r"^<!-- picture: (\S+) \| (.*?) -->$"
# The chapters in the order of the side bar; a handout does not have all of them.
CHAPTERS = ("docs/course.md", "docs/ops/README.md", "docs/cudasim.md", "docs/instructors.md", "docs/reading.md")
FOLDERS = ("docs", "kernels", "cudasim", "common", "labs", "train", "grader")
SOURCES = ("kernels", "solutions", "common", "cudasim", "grader", "labs", "train", "tools/train.sbatch")
LISTS = ("modules.html", "annotated.html", "files.html")   # whose entries are looked up, not read one after the other
END = "</div><!-- contents -->\n"
NOT_DRAWN = "*Not drawn here: the picture takes labs that are not written yet. `make docs` draws it when they are.*"


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


# ---- what doxygen must be told ------------------------------------------------------------------------

def settings(sections):
    """A copy without a chapter has no sections that lead there."""
    own = [f"{OWN}/labs"] if OWN else []
    there = [path for path in CHAPTERS + FOLDERS if os.path.exists(path)]
    if "docs/instructors.md" in there:
        sections = sections + ["teaching"]
    print("INPUT =", *(json.dumps(path) for path in there + own))
    # A proof has a lab of its own, which is in the book only when LABS= names it.
    print("EXCLUDE =", *(path for path in ("grader/proof",) if not OWN.startswith(path)))
    print("EXAMPLE_PATH =", *(json.dumps(path) for path in [*SOURCES, *(f"{OWN}/{source}" for source in SOURCES if OWN)] if os.path.exists(path)))
    print("ENABLED_SECTIONS =", *sections)


# ---- a page as doxygen reads it -----------------------------------------------------------------------

def figure(source, text):
    return f'\n@htmlonly\n<figure><img src="{html.escape(source)}" alt="{html.escape(text)}"/></figure>\n@endhtmlonly\n'


def picture(match):
    name, text = match[1], match[2]
    return figure(f"pictures/{name}.svg", text) if os.path.exists(f"{PICTURES}/{name}.svg") else NOT_DRAWN


def page_id(path):
    """That of a page of docs/ in its title, that of a lab's by its folder; None of other files."""
    folder, name = os.path.split(path)
    if name == "README.md" and os.path.basename(folder) in all_labs():
        return f"lab_{os.path.basename(folder)}"
    found = re.search(r"^.*\{#(\w+)\}$", read(path), re.M) if path.endswith(".md") and os.path.exists(path) else None
    return found[1] if found else None


def link(folder):
    """A link to another file: to its page or, of a file that has none, its text alone."""
    def of(match):
        text, target = match[1], match[2]
        to = page_id(os.path.normpath(os.path.join(folder, target)))
        return f"[{text}](@ref {to})" if to else text
    return of


def unlinked(text):
    """The names of structs that are words, too: Run, Block, Step. Doxygen would make links of them where they stand in a sentence."""
    names = {name for path in glob.glob("*/*.h") + glob.glob("labs/*/*.h") for name in re.findall(r"^typedef struct (\w+)", read(path), re.M)}
    words = re.compile(rf"(`[^`\n]*`|\"[^\"\n]*\")|(?<![\w%])({'|'.join(sorted(names))})(?!\w)") if names else None
    return "".join(line if line.startswith(("    ", "#", "@", "<", "![")) or "{#" in line or not words else words.sub(lambda m: m[1] or f"%{m[2]}", line)
                   for line in text.splitlines(keepends=True))


def kept_code(text):
    """For doxygen a quote ends code that one backtick began, but not code that two began; and within double quotes there is no code."""
    indented_or_code = re.compile(r"^    .*|``.*?``|`([^`]*)`", re.M)
    text = indented_or_code.sub(lambda match: f"``{match[1]}``" if "'" in (match[1] or "") else match[0], text)
    quoted = re.compile(r'^    .*|"[^"`\n]*(?:`[^`\n]*`[^"`\n]*)+"', re.M)
    return quoted.sub(lambda match: match[0] if match[0].startswith("    ") else re.sub(r"`([\w().]+)`", r"<code>\1</code>", match[0]), text)


def kept_bold(text):
    """Doxygen does not see that text is bold where it begins with code."""
    return re.sub(r"^    .*|(?<![\w*])\*\*(`[^`\n]*`[^*\n]*)(?<=\S)\*\*", lambda match: f"<b>{match[1]}</b>" if match[1] else match[0], text, flags=re.M)


def pictures_of(text):
    """(name, text) of the pictures that a page shows."""
    return re.findall(PICTURE, text, re.M)


def page(path):
    path = os.path.relpath(path)
    folder, text = os.path.dirname(path), kept_bold(kept_code(unlinked(read(path))))
    lab = os.path.basename(folder)
    if page_id(path) == f"lab_{lab}":
        text = re.sub(r"^# .*", rf"\g<0> {{#lab_{lab}}}", text, count=1)
        text = re.sub(r"^!\[(.*?)\]\((.*?)\)$", lambda match: figure(f"labs/{lab}/{match[2]}", match[1]), text, flags=re.M)
    text = re.sub(PICTURE, picture, text, flags=re.M)
    text = re.sub(r"(?<!!)\[([^\]\n]+)\]\((?!\w+:|#|@)([^)\s]+)\)", link(folder), text)
    print(text.replace("<!-- labs -->", "\n".join(f"- @subpage lab_{lab}" for lab in all_labs("README.md"))))


# ---- what it leaves out -------------------------------------------------------------------------------

def tree(folder, name="navtreedata", variable="NAVTREE"):
    """The side bar, as doxygen wrote it: [title, page, its entries], the entries in a file of their own where that is named."""
    entries = json.loads(re.search(rf"^var {variable} =\s*(\[.*?^\]);", read(f"{folder}/{name}.js"), re.M | re.S)[1])
    return [entry for entry in entries if entry]


def chapters(folder, entries):
    """(title, page) of the book from front to back."""
    for title, address, below in entries:
        yield title, address
        if address not in LISTS:
            yield from chapters(folder, tree(folder, below, below) if isinstance(below, str) else below or [])


def way(before, after):
    links = [f'<a rel="{rel}" href="{address}">{arrow.format(html.escape(html.unescape(title)))}</a>'
             for rel, arrow, (title, address) in (("prev", "&larr; {}", before or ("", "")), ("next", "{} &rarr;", after or ("", ""))) if address]
    return f'<nav class="way" aria-label="Previous and next page">{"".join(links)}</nav>\n'


def add_ways(folder):
    book = list(chapters(folder, tree(folder)))
    for before, (_, address), after in zip([None, *book], book, [*book[1:], None]):
        text = read(f"{folder}/{address}")
        write(f"{folder}/{address}", text.replace(END, END + way(before, after)))


def one_chapter(folder):
    """The last chapter is there twice, as a page and as the group with doxygen's lists in it: a group's page cannot be hidden in
    the layout. The page goes; both have the same pages in the same places, so the group takes its number too."""
    side_bar = read(f"{folder}/navtreedata.js")
    entries = re.findall(r'^    \[ "[^"]*", "([^"]*)", .*\n', side_bar, re.M)
    number = entries.index("reading.html")
    write(f"{folder}/navtreedata.js", re.sub(r'^    \[ "[^"]*", "reading.html", "reading" \],\n', "", side_bar, count=1, flags=re.M))
    for path in glob.glob(f"{folder}/navtreeindex*.js"):
        write(path, re.sub(rf":\[{number + 1}\b", f":[{number}", read(path)))


def add_words(folder):
    """The text of the pages, for the search (docs/book.js): doxygen's own knows titles and names."""
    words = []
    for title, address in chapters(folder, tree(folder)):
        text = read(f"{folder}/{address}").split('<div class="contents">', 1)[1].split(END)[0]
        words.append([html.unescape(title), address, " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())])
    write(f"{folder}/search/words.js", f"var text_of_pages = {json.dumps(words)};\n")


def copy_pictures(folder, pictures):
    shutil.copytree(pictures, f"{folder}/pictures", ignore=lambda place, names: {name for name in names if not name.endswith(".svg")})
    for lab in all_labs("README.md"):
        os.makedirs(f"{folder}/labs/{lab}")
        for path in glob.glob(path_of(lab, "*.svg")):
            shutil.copy(path, f"{folder}/labs/{lab}")


def finish(folder, pictures):
    copy_pictures(folder, pictures)
    one_chapter(folder)
    add_words(folder)
    add_ways(folder)


if __name__ == "__main__":
    if sys.argv[1] == "settings":
        settings(sys.argv[2:])
    elif sys.argv[1] == "page":
        page(sys.argv[2])
    else:
        finish(*sys.argv[2:])
