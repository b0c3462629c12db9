"""Every JSON form the program names is published: "collage.NAME/N" in src has docs/schemas/NAME.schema.json, docs/CLI.md
lists it, and the schema says which keys there are and must be. What is published is named in src."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs" / "schemas"
WORDS = {"$schema", "$defs", "$ref", "title", "description", "const", "enum", "type", "items", "additionalProperties",
         "required", "properties", "anyOf"}


def named_in_sources():
    """name -> all versions: those of before are read and written too."""
    versions = {}
    for path in sorted((ROOT / "src").rglob("*.cpp")) + sorted((ROOT / "src").rglob("*.h")):
        for name, version in re.findall(r'"collage\.([a-z-]+)/(\d+)"', path.read_text()):
            versions.setdefault(name, set()).add(int(version))
    return versions


def is_said_by(schema, name, versions):
    """Whether the key `schema` is the newest of these versions, or may be each of them."""
    said = schema.get("properties", {}).get("schema", {})
    wanted = [f"collage.{name}/{version}" for version in sorted(versions)]
    return said == {"const": wanted[-1]} or said.get("enum") == wanted


def faults_of(schema, where):
    """A misspelt word of JSON Schema checks nothing, and an open object lets misspelt keys pass."""
    for word in schema.keys() - WORDS:
        yield f"{where}: {word} is no word that our schemas use"
    if "properties" in schema:
        if schema.get("additionalProperties") is not False:
            yield f"{where}: lets other keys pass"
        if "required" not in schema:
            yield f"{where}: does not say what must be there"
        for key in set(schema.get("required", [])) - schema["properties"].keys():
            yield f"{where}: {key} must be there but is not described"
    parts = {**schema.get("properties", {}), **schema.get("$defs", {})}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            parts[key] = schema[key]
    parts.update((f"anyOf/{i}", one) for i, one in enumerate(schema.get("anyOf", [])))
    for key, part in parts.items():
        yield from faults_of(part, f"{where}/{key}")
    target = schema.get("$ref", "")
    if target.endswith(".json") and not (FOLDER / target).is_file():
        yield f"{where}: no schema {target}"


def faults_of_file(path, named, listed):
    name = path.name.removesuffix(".schema.json")
    where = path.relative_to(ROOT)
    try:
        schema = json.loads(path.read_text())
    except json.JSONDecodeError as error:
        yield f"{where}: {error}"
        return
    if name not in named:
        yield f"{where}: nothing in src names collage.{name}"
    elif schema.get("title") != f"collage.{name}/{max(named[name])}":
        yield f"{where}: its title is {schema.get('title')}, src names collage.{name}/{max(named[name])}"
    elif not is_said_by(schema, name, named[name]):
        yield f"{where}: its key schema is not its title, or an enum of the versions that src names"
    if f"(schemas/{path.name})" not in listed:
        yield f"docs/CLI.md: does not list schemas/{path.name}"
    yield from faults_of(schema, where)


def main():
    named = named_in_sources()
    listed = (ROOT / "docs" / "CLI.md").read_text()
    files = sorted(FOLDER.glob("*"))
    wrong = [f"collage.{name}: no docs/schemas/{name}.schema.json" for name in sorted(named)
             if not (FOLDER / f"{name}.schema.json").is_file()]
    for path in files:
        wrong += faults_of_file(path, named, listed)
    print("\n".join(wrong), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
