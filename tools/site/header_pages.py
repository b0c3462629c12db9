"""The reference of the installed headers: header_pages.py XML FOLDER.

In: what Doxygen wrote of them (tools/site/Doxyfile). Out: pages of Markdown in FOLDER, one for each
header that programs in C and C++ include, one for each folder of headers that backends are built
with. A page follows its header: what its first comment says, then every type and function with its
declaration, in which names of types are links, and its comment.
"""

import html
import re
import sys
from pathlib import Path

from doxygen_xml import RECORDS, read_entities
from prose import inline, prose

ROOT = Path(__file__).resolve().parent.parent.parent
# page -> headers that programs include as <collage/NAME>
PROGRAMS = {
    "c": ["src/api/c/collage.h"],
    "cpp": ["src/api/c/collage.hpp", "src/api/c/expected.hpp"],
    "c-tune": ["src/api/c_tune/collage_tune.h"],
    "cpp-tune": ["src/api/c_tune/collage_tune.hpp", "src/api/c_tune/collage_tune_options.hpp"],
}
# Folders of headers that backends and programs in C++23 include as <FOLDER/NAME>; a page each.
FOLDERS = ("base", "ir", "onnx", "region", "backend", "runtime", "export", "api/run")


def is_type(entity):
    return entity.kind in (*RECORDS, "enum", "typedef") and bool(entity.name)


def anchor_of(entity):
    return re.sub(r"\W+", "-", f"{Path(entity.file).stem}-{entity.name}")


def first_comment(path):
    """What a header says before its first line of code."""
    lines = []
    for line in (ROOT / path).read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].removeprefix(" "))
    return "\n".join(lines)


def titles_in(path):
    """(line, title) of comments such as "// ---- A session: ...", which divide a long struct."""
    lines = enumerate((ROOT / path).read_text().splitlines(), 1)
    found = [(number, re.match(r"\s*// ---- ([^.:]*)", line)) for number, line in lines]
    return [(number, match.group(1)) for number, match in found if match]


class Page:
    """Writes entries; `targets` says where types are described, by name."""

    def __init__(self, name, targets):
        self.name, self.targets = name, targets

    def code(self, text, own=""):
        def linked(found):
            name = found.group()
            if name == own or name not in self.targets:
                return name
            return f'<a href="{self.targets[name].removeprefix(self.name + ".html")}">{name}</a>'
        return re.sub(r"\b[A-Za-z_]\w+", linked, html.escape(text, quote=False))

    def declaration(self, entity):
        code = self.code(entity.declaration, entity.own_name)
        return f'<pre class="declaration"><code>{code}</code></pre>'

    def table(self, entities, title):
        rows = [f"<tr><th>{title}</th><th>meaning</th></tr>"]
        for one in entities:
            code = self.code(one.declaration.strip())
            rows.append(f"<tr><td><code>{code}</code></td><td>{inline(one.comment)}</td></tr>")
        return "\n".join(["<table>", *rows, "</table>"])

    def member(self, one):
        if one.kind == "enum":
            body = self.table(one.members, f"value of {one.name}")
        else:
            body = self.declaration(one)
        return f'<div class="member">\n{body}\n{prose(one.comment)}\n</div>'

    def record(self, entity):
        """Its data as a table, then its functions, pointers to functions of C included."""
        members = entity.members
        data = [one for one in members if one.kind == "variable" and "(*" not in one.declaration]
        out = [self.declaration(entity), prose(entity.comment)]
        out += [self.table(data, "member")] if data else []
        titles = titles_in(entity.file)
        for one in (one for one in members if one not in data):
            while titles and titles[0][0] < one.line:
                out.append(f"\n#### {titles.pop(0)[1]}\n")
            out.append(self.member(one))
        return out

    def entry(self, entity):
        title = f"`{entity.name}`" if entity.name else f"`{entity.members[0].name}` and others"
        out = [f'<div id="{anchor_of(entity)}"></div>', ""] if is_type(entity) else []
        out += [f"### {title}", ""]
        if entity.kind in RECORDS:
            out += self.record(entity)
        elif entity.kind == "enum":
            out += [prose(entity.comment), self.table(entity.members, "value")]
        else:
            out += [self.declaration(entity), prose(entity.comment)]
        return "\n".join(out) + "\n"


def targets_of(pages):
    targets = {}
    for page, headers in pages.items():
        for one in (one for entities in headers.values() for one in entities):
            if is_type(one):
                targets.setdefault(one.own_name, f"{page}.html#{anchor_of(one)}")
    return targets


def write_pages(folder, pages, titles, include):
    """`pages`: name -> header -> entities; `titles`: by name; `include`: how a path is included."""
    targets = targets_of(pages)
    for name, headers in pages.items():
        page = Page(name, targets)
        out = [f"# {titles[name]}", ""]
        for path, entities in headers.items():
            out += [f"## `{include(path)}`", "", prose(first_comment(path)), ""]
            out += [page.entry(one) for one in entities]
        (folder / f"{name}.md").write_text("\n".join(out))


def main():
    xml, folder = map(Path, sys.argv[1:])
    by_header = {}
    for entity in read_entities(xml):
        by_header.setdefault(entity.file, []).append(entity)

    programs = {name: {path: by_header[path] for path in paths} for name, paths in PROGRAMS.items()}
    titles = {name: f"Header `{Path(paths[0]).name}`" for name, paths in PROGRAMS.items()}
    write_pages(folder, programs, titles, lambda path: f"collage/{Path(path).name}")

    folders, titles = {}, {}
    for of in FOLDERS:
        name = "headers-" + of.replace("/", "-")
        paths = [path for path in sorted(by_header) if path.startswith(f"src/{of}/")]
        folders[name] = {path: by_header[path] for path in paths}
        titles[name] = f"Headers of `{of}`"
    write_pages(folder, folders, titles, lambda path: path.removeprefix("src/"))


if __name__ == "__main__":
    main()
