"""Comments of headers and docstrings as HTML: paragraphs, lists, indented code, terms.

A line such as "Errors: ..." begins a paragraph, whose further lines may be indented. A short line
with deeper ones directly below it is a term: they say what it means.
"""

import html
import re
import textwrap

KEYED = re.compile(r"[A-Z][\w ]{0,24}: ")


def escape(text):
    return html.escape(text, quote=False)


def inline(text):
    """Words in backticks are code."""
    parts = re.split(r"`+([^`]+)`+", text)
    return "".join(f"<code>{escape(one)}</code>" if i % 2 else escape(one)
                   for i, one in enumerate(parts))


def indent_of(line):
    return len(line) - len(line.lstrip())


def end_of_block(lines, begin, depth):
    """Where the lines from `begin` on end that are indented by `depth` at least."""
    end = begin
    for i in range(begin, len(lines)):
        if lines[i] and indent_of(lines[i]) < depth:
            break
        if lines[i]:
            end = i + 1
    return end


def is_term(lines, i):
    line = lines[i]
    below = lines[i + 1] if i + 1 < len(lines) else ""
    is_sentence = len(line) >= 60 or re.search(r"[.;]$|: ", line)
    return bool(below) and indent_of(below) >= 4 and not is_sentence


class Writer:
    """Gathers paragraphs, items and terms; neighbours of one kind become one list."""

    def __init__(self):
        self.out, self.paragraph, self.listed = [], [], ""

    def end_paragraph(self):
        if self.paragraph:
            self.add("", f"<p>{inline(' '.join(self.paragraph))}</p>")
            self.paragraph = []

    def add(self, kind, text):
        """`kind`: the list that the text belongs in, "ul" or "dl", or none."""
        if kind != self.listed:
            self.out += [f"</{self.listed}>"] if self.listed else []
            self.out += [f"<{kind}>"] if kind else []
            self.listed = kind
        self.out += [text] if text else []

    def html(self):
        self.end_paragraph()
        self.add("", "")
        return "\n".join(self.out)


def term(line, below):
    meaning = textwrap.dedent("\n".join(below))
    if line == "Attributes:":
        meaning = re.sub(r"^(\w+): ", r"- `\1`: ", meaning, flags=re.MULTILINE)
    return f"<dt>{inline(line.rstrip(':'))}</dt>\n<dd>{prose(meaning)}</dd>"


def prose(text):
    lines = [line.rstrip() for line in textwrap.dedent(text).strip("\n").splitlines()]
    writer, i = Writer(), 0
    while i < len(lines):
        line, end = lines[i], i + 1
        if not line:
            writer.end_paragraph()
        elif indent_of(line) >= 4 and not writer.paragraph:
            end = end_of_block(lines, i, 4)
            code = textwrap.dedent("\n".join(lines[i:end]))
            writer.add("", f"<pre><code>{escape(code)}</code></pre>")
        elif line.startswith("- "):
            writer.end_paragraph()
            end = max(end, end_of_block(lines, i + 1, 2))
            item = " ".join(one.strip() for one in lines[i:end])
            writer.add("ul", f"<li>{inline(item[2:])}</li>")
        elif not writer.paragraph and is_term(lines, i):
            end = end_of_block(lines, i + 1, 4)
            writer.add("dl", term(line, lines[i + 1:end]))
        else:
            if KEYED.match(line):
                writer.end_paragraph()
            writer.paragraph.append(line.strip())
        i = end
    return writer.html()
