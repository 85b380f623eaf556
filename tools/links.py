#!/usr/bin/env python3
"""Follows every link inside of the generated handbook: files must be there, and so must anchors.

    tools/links.py build/docs/html
"""

import os
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag


class Page(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.anchors = [], set()

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if value and name in ("href", "src"):
                self.links.append(value)
            elif value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)


def main():
    root = sys.argv[1]
    pages = {}
    for name in os.listdir(root):
        if name.endswith(".html"):
            pages[name] = Page()
            with open(os.path.join(root, name), encoding="utf-8") as file:
                pages[name].feed(file.read())
    followed, broken = 0, []
    for name, page in sorted(pages.items()):
        for link in page.links:
            if link.startswith(("http:", "https:", "javascript:", "mailto:", "data:")):
                continue
            target, anchor = urldefrag(unquote(link))
            target = os.path.normpath(target or name)
            followed += 1
            if not os.path.exists(os.path.join(root, target)):
                broken.append(f"{name}: {link}: no such file")
            elif anchor and target in pages and anchor not in pages[target].anchors:
                broken.append(f"{name}: {link}: no such anchor")
    for line in broken:
        print(line)
    print(f"links: {followed} followed in {len(pages)} pages, {len(broken)} broken")
    sys.exit(bool(broken))


if __name__ == "__main__":
    main()
