"""One type, one name: a type of a header shares its name with no other type of its namespace.

Two source files may each have a private type of one name, as long as no header has one too. Types inside other types
and forward declarations are not looked at.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TYPE = re.compile(r"^(?:template <[^>]*>\s*)?(?:struct|class|enum class|enum)\s+(?:\[\[\w+\]\]\s+)?(\w+)\s*(?:final\s*)?(?::[^:].*)?\{")
ALIAS = re.compile(r"^using\s+(\w+)\s*=")


def types_of(path):
    """Names of types that begin at the left margin: clang-format puts those of a namespace there."""
    namespace = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        opened = re.match(r"namespace ([\w:]+) \{", line)
        if opened:
            namespace = opened.group(1)
        found = TYPE.match(line) or ALIAS.match(line)
        if found and namespace:
            yield namespace, found.group(1), f"{path.relative_to(ROOT)}:{number}"


def main():
    places = collections.defaultdict(list)
    for top in ("src", "backends"):
        for path in sorted((ROOT / top).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                # Each backend is a module of its own: its private types meet the product's, not other backends'.
                scope = path.relative_to(ROOT).parts[1] if top == "backends" else ""
                for namespace, name, where in types_of(path):
                    places[(namespace, name)].append((scope, path.suffix, where))
    wrong = set()
    for (namespace, name), found in sorted(places.items()):
        for scope in {scope for scope, _, _ in found}:
            meeting = [(suffix, where) for other, suffix, where in found if other in ("", scope)]
            if len(meeting) > 1 and any(suffix == ".h" for suffix, _ in meeting):
                wrong.add(f"{namespace}::{name} is {len(meeting)} types: " + ", ".join(where for _, where in meeting))
    print("\n".join(sorted(set(wrong))), end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
