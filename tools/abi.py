"""What the C interfaces promise to programs that are already compiled: functions, members of structs with their places,
constants. One fact a line, in src/api/*/NAME.abi. A header that no longer has one of these facts is incompatible; one
with more of them is an addition, which `./dev abi` records.

usage: abi.py check [LIBRARIES]     compares the headers with NAME.abi, and the symbols of libNAME.so with exports.txt
       abi.py write                 records additions; refuses to record incompatible changes
       abi.py write --break         records them too: raise COLLAGE_API_VERSION and the number in the library's name first
       abi.py show HEADER STUB      prints the facts

NAME_abi.c beside a header is a library without contents; libabigail's abidw reads its debug information, so that neither
the compiler of the library nor what it has inside matters.
"""
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# C's own types have the same form in every compiler for this architecture; structs of its library are not ours.
OURS = "collage_"


def stubs():
    return sorted((ROOT / "src/api").glob("*/*_abi.c"))


def description(stub, folder):
    """The XML that abidw makes of a stub, compiled with the headers of a folder."""
    with tempfile.TemporaryDirectory() as work:
        library = Path(work, "interface.so")
        subprocess.run(["gcc", "-std=c99", "-g", "-gdwarf-4", "-fno-eliminate-unused-debug-types", "-shared", "-fPIC",
                        "-iquote", folder, "-iquote", ROOT / "src/api/c", "-x", "c", "-", "-o", library], input=stub.read_bytes(), check=True)
        text = subprocess.run(["abidw", "--load-all-types", "--no-show-locs", library], check=True, capture_output=True)
        return xml.fromstring(text.stdout)


class Types:
    """Types by their numbers in the description, written as in C."""

    def __init__(self, root):
        self.by_id = {element.get("id"): element for element in root.iter() if element.get("id")}

    def parameters(self, function):
        return ", ".join(self.name(one.get("type-id")) for one in function.findall("parameter")) or "void"

    def result(self, function):
        return self.name(function.find("return").get("type-id"))

    def name(self, type_id):
        element = self.by_id[type_id]
        if element.tag == "pointer-type-def":
            target = self.by_id[element.get("type-id")]
            if target.tag == "function-type":
                return f"{self.result(target)} (*)({self.parameters(target)})"
            return self.name(element.get("type-id")) + "*"
        if element.tag == "qualified-type-def":
            inner = self.by_id[element.get("type-id")]
            words = [word for word in ("const", "volatile", "restrict") if element.get(word) == "yes"]
            plain = self.name(element.get("type-id"))
            return " ".join([plain, *words] if inner.tag == "pointer-type-def" else [*words, plain])
        if element.tag == "array-type-def":
            extents = "".join(f"[{one.get('length')}]" for one in element.findall("subrange"))
            return self.name(element.get("type-id")) + extents
        return element.get("name")


def facts(root):
    """The lines of NAME.abi, sorted within each kind."""
    types = Types(root)
    functions, members, constants = set(), set(), set()
    for function in root.iter("function-decl"):
        if function.get("elf-symbol-id"):
            functions.add(f"function {function.get('name')}: {types.result(function)} ({types.parameters(function)})")
    for struct in root.iter("class-decl"):
        name = struct.get("name")
        fields = [(int(one.get("layout-offset-in-bits")) // 8, one.find("var-decl")) for one in struct.findall("data-member")]
        if not name.startswith(OURS) or not fields:
            continue
        # A struct that begins with its size may grow.
        if fields[0][1].get("name") != "size":
            members.add(f"struct {name} bytes {int(struct.get('size-in-bits')) // 8}")
        for offset, field in fields:
            members.add(f"struct {name} {offset:4} {field.get('name')}: {types.name(field.get('type-id'))}")
    for constant in root.iter("enumerator"):
        if constant.get("name").startswith(OURS.upper()):
            constants.add(f"constant {constant.get('name')} = {constant.get('value')}")
    by_number = sorted(constants, key=lambda line: (line.split("_")[0], line))
    return [*sorted(functions), *sorted(members), *by_number]


def described(stub, folder=None):
    return facts(description(stub, folder or stub.parent))


def stored(stub):
    file = stub.with_name(stub.name.replace("_abi.c", ".abi"))
    lines = file.read_text().splitlines() if file.exists() else []
    return file, [line for line in lines if line and not line.startswith("#")]


def compare(label, old, new):
    """What is gone, and what is new."""
    gone = [line for line in old if line not in set(new)]
    added = [line for line in new if line not in set(old)]
    for line in gone:
        print(f"{label}: no longer: {line}")
    return gone, added


def exported(library):
    text = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return sorted(line.split()[-1].split("@")[0] for line in text.splitlines())


def wrong_symbols(stub, library):
    wanted = sorted((stub.parent / "exports.txt").read_text().split())
    saw = exported(library)
    if saw != wanted:
        print(f"{library}: exports {saw}; allowed what {stub.parent / 'exports.txt'} lists: {wanted}")
    return saw != wanted


def check(libraries):
    wrong = False
    for stub in stubs():
        file, old = stored(stub)
        gone, added = compare(file.name, old, described(stub))
        for line in added:
            print(f"{file.name}: not recorded: {line}")
        if gone:
            print(f"{file.name}: programs that are compiled would break: see docs/VERSIONS.md")
        elif added:
            print(f"{file.name}: an addition: run ./dev abi")
        wrong = wrong or bool(gone) or bool(added)
        library = Path(libraries, f"lib{file.stem}.so") if libraries else None
        if library and wrong_symbols(stub, library):
            wrong = True
    return 1 if wrong else 0


def write(may_break):
    for stub in stubs():
        file, old = stored(stub)
        new = described(stub)
        gone, added = compare(file.name, old, new)
        if gone and not may_break:
            print(f"{file.name}: not written: programs that are compiled would break; see docs/VERSIONS.md")
            return 1
        head = f"# What {file.stem}.h promises to compiled programs; written by ./dev abi.\n"
        file.write_text(head + "\n".join(new) + "\n")
        print(f"{file.relative_to(ROOT)}: {len(new)} facts, {len(added)} new, {len(gone)} gone")
    return 0


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["check"] and len(arguments) <= 2:
        return check(arguments[1] if len(arguments) == 2 else None)
    if arguments[:1] == ["write"] and arguments[1:] in ([], ["--break"]):
        return write(bool(arguments[1:]))
    if arguments[:1] == ["show"] and len(arguments) == 3:
        print("\n".join(described(Path(arguments[2]), Path(arguments[1]).resolve().parent)))
        return 0
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
