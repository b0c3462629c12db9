"""The pages say the same whoever builds them: check_reading.py PAGES SITE.

In: pages of Markdown, and the site built of them. Each page is read once more, by a parser of
CommonMark. Headings, items with their depth, rows, blocks of code and all words must be those of
the built page.
"""

import sys
from html.parser import HTMLParser
from itertools import zip_longest
from pathlib import Path

from markdown_it import MarkdownIt

MARKS = {"h1", "h2", "h3", "h4", "li", "tr", "pre", "blockquote"}
LISTS = {"ul", "ol"}
INLINE = {"a", "code", "em", "strong", "span", "del", "sup", "sub"}  # all others end a word


class Reading(HTMLParser):
    """What HTML says, in order: words, and marks such as <li 2>."""

    def __init__(self, html, inside=None):
        super().__init__()
        self.said = []
        self.text = ""  # since the last mark
        self.inside = inside  # what lies outside of this element does not count
        self.is_on = inside is None
        self.depth = 0
        self.skipped = ""  # the link beside a heading, which is there for its address
        self.feed(html)
        self.end_text()

    def end_text(self):
        self.said += self.text.split()
        self.text = ""

    def handle_starttag(self, tag, attributes):
        self.is_on = self.is_on or tag == self.inside
        if dict(attributes).get("class") == "headerlink":
            self.skipped = tag
        self.depth += tag in LISTS
        self.text += "" if tag in INLINE else " "
        if self.is_on and tag in MARKS:
            self.end_text()
            self.said.append(f"<{tag} {self.depth}>" if tag == "li" else f"<{tag}>")

    def handle_endtag(self, tag):
        self.depth -= tag in LISTS
        self.text += "" if tag in INLINE else " "
        if tag == self.skipped:
            self.skipped = ""
        if tag == self.inside:
            self.is_on = False

    def handle_data(self, data):
        if self.is_on and not self.skipped:
            self.text += data


def built_page(pages, site, path):
    name = path.relative_to(pages).with_suffix(".html")
    return site / (name.with_name("index.html") if path.name == "README.md" else name)


def first_difference(expected, seen):
    for i, (one, other) in enumerate(zip_longest(expected, seen)):
        if one != other:
            before = " ".join(expected[max(0, i - 6):i])
            return f'after "{before}" CommonMark says {one}, the site {other}'
    return ""


def main():
    pages, site = (Path(word).resolve() for word in sys.argv[1:])
    reader = MarkdownIt("commonmark").enable("table")
    wrong = []
    for path in sorted(pages.rglob("*.md")):
        expected = Reading(reader.render(path.read_text())).said
        seen = Reading(built_page(pages, site, path).read_text(), "article").said
        difference = first_difference(expected, seen)
        wrong += [f"{path.relative_to(pages)}: {difference}"] if difference else []
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
