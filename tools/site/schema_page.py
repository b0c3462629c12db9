"""The reference of JSON: schema_page.py SCHEMAS FILE.

In: docs/schemas. Out: a page of Markdown with a table of the keys of each form.
"""

import json
import sys
from pathlib import Path


def anchor_of(title):
    """Of a heading, as builders of Markdown make it."""
    kept = "".join(one for one in title.lower() if one.isalnum() or one in "-_ ")
    return kept.replace(" ", "-")


class Form:
    """One schema; `titles` are those of all, by file."""

    def __init__(self, file, schema, titles):
        self.file, self.schema, self.titles = file, schema, titles
        self.title = schema["title"]

    def reference(self, target):
        """To another form, or to a definition in this one."""
        name = self.titles.get(target) or target.split("/")[-1]
        title = name if target in self.titles else f"{name} of {self.title}"
        return f"[{name}](#{anchor_of(title)})"

    def type_of(self, part):
        if "const" in part:
            return f"`{json.dumps(part['const'])}`"
        if "enum" in part:
            return " or ".join(f"`{json.dumps(one)}`" for one in part["enum"])
        if "anyOf" in part:
            return " or ".join(map(self.type_of, part["anyOf"]))
        if "$ref" in part:
            return self.reference(part["$ref"])
        types = part.get("type", "any value")
        if types == "array":
            return f"list of {self.type_of(part.get('items', {}))}"
        others = part.get("additionalProperties")
        if types == "object" and "properties" not in part and isinstance(others, dict):
            return f"object: name to {self.type_of(others)}"
        return " or ".join(types) if isinstance(types, list) else types

    def rows(self, part, prefix=""):
        for key, below in part.get("properties", {}).items():
            name = f"{prefix}{key}"
            is_there = "yes" if key in part.get("required", []) else "no"
            yield f"`{name}`", self.type_of(below), is_there, below.get("description", "")
            yield from self.rows(below, f"{name}.")
            items = below.get("items", below.get("additionalProperties"))
            if isinstance(items, dict):
                yield from self.rows(items, f"{name}[].")

    def table(self, part):
        rows = [*self.rows(part)]
        if not rows:
            return [self.type_of(part), ""]
        out = ["| key | type | always there | meaning |", "|---|---|---|---|"]
        out += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
        return [*out, ""]

    def section(self):
        out = [f"## {self.title}", "", self.schema.get("description", ""), ""]
        out += [f"Schema: [`{self.file}`](../docs/schemas/{self.file}).", ""]
        out += self.table(self.schema)
        for name, part in self.schema.get("$defs", {}).items():
            out += [f"### {name} of {self.title}", "", part.get("description", ""), ""]
            out += self.table(part)
        return out


def main():
    folder, file = map(Path, sys.argv[1:])
    files = sorted(folder.glob("*.schema.json"))
    schemas = {path.name: json.loads(path.read_text()) for path in files}
    titles = {name: schema["title"] for name, schema in schemas.items()}
    out = ["# JSON", "", "The keys of every form that Collage writes."]
    out += ["`a.b` is a key inside of `a`, `a[].b` one of each item.", ""]
    for name, schema in schemas.items():
        out += Form(name, schema, titles).section()
    file.write_text("\n".join(out))


if __name__ == "__main__":
    main()
