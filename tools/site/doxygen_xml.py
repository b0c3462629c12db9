"""What Doxygen found in the headers: types, functions, macros, with declarations and comments.

In: a folder of Doxygen's XML (tools/site/Doxyfile). Out: entities in the order of their headers.
"""

import re
import xml.etree.ElementTree as tree
from dataclasses import dataclass, field
from pathlib import Path

RECORDS = ("struct", "class", "union")
WIDEST = 96
# Namespaces that programs do not write, and an attribute that says nothing to a reader.
SILENT = re.compile(
    r"\b(?:collage::)?(?:capi::)?level::|\bcollage::(?:capi::)?(?=\w)|\[\[nodiscard\]\] ?")


@dataclass
class Entity:
    file: str
    line: int
    name: str
    kind: str  # "struct", "class", "union", "enum", "function", "variable", "typedef", "define"
    declaration: str
    comment: str  # with code in backticks; paragraphs are divided by an empty line
    members: list = field(default_factory=list)  # of a record; of an enum its values

    @property
    def own_name(self):
        return self.name.split("::")[-1]


def text_of(node):
    """Code in our spelling: `std::vector<int>& a` for Doxygen's `std::vector< int > & a`."""
    text = "".join(node.itertext()) if node is not None else ""
    text = SILENT.sub("", re.sub(r"\s+", " ", text)).strip()
    text = re.sub(r"(?<=\w)< | (?=>)", lambda found: found.group().strip(), text)
    text = re.sub(r" ([*&]+)(?=[,)>(]|$)", r"\1", text)
    return re.sub(r" ([*&]+) ?(?=\w)", r"\1 ", text)


def part_of(node, name):
    return text_of(node.find(name))


def marked(node):
    """Text of a comment, with code in backticks."""
    out = node.text or ""
    for child in node:
        out += f"`{marked(child)}`" if child.tag == "computeroutput" else marked(child)
        out += child.tail or ""
    return out


def comment_of(node):
    paragraphs = [*node.findall("briefdescription/para"), *node.findall("detaileddescription/para")]
    return "\n\n".join(re.sub(r"\s+", " ", marked(one)).strip() for one in paragraphs)


def parameters(node):
    out = []
    for one in node.findall("param"):
        text = f"{part_of(one, 'type')} {part_of(one, 'declname')}".strip() + part_of(one, "array")
        value = part_of(one, "defval")
        out.append(text + (f" = {value}" if value else ""))
    return out


def template_of(node):
    listed = node.find("templateparamlist")
    if listed is None or not len(listed):
        return ""
    return f"template <{', '.join(parameters(listed))}>\n"


def wrapped(head, arguments, tail):
    """On one line where it fits, else with a line for each argument."""
    line = f"{head}({', '.join(arguments)}){tail}"
    if len(line.splitlines()[-1]) <= WIDEST:
        return line
    return f"{head}(\n    " + ",\n    ".join(arguments) + f"){tail}"


def function_text(node):
    arguments = part_of(node, "argsstring")
    tail = arguments[arguments.rindex(")") + 1:].replace("=0", " = 0") if ")" in arguments else ""
    words = [part_of(node, "type"), part_of(node, "name")]
    if node.get("static") == "yes":
        words.insert(0, "static")
    elif node.get("virt") != "non-virtual":
        words.insert(0, "virtual")
    return wrapped(template_of(node) + " ".join(filter(None, words)), parameters(node), tail)


def variable_text(node):
    kind, name, arguments = (part_of(node, part) for part in ("type", "name", "argsstring"))
    if kind.endswith("(*") and arguments.startswith(")("):
        return wrapped(f"{kind[:-2].rstrip()} (*{name})", arguments[2:-1].split(", "), "")
    value = part_of(node, "initializer")
    return f"{kind} {name}{arguments} {value if len(value) < 60 else ''}".strip()


def define_text(node, name):
    arguments = [part_of(one, "defname") for one in node.findall("param")]
    if arguments:
        return f"#define {name}({', '.join(arguments)})"
    return f"#define {name} {part_of(node, 'initializer')}"


def declaration_of(node, kind, name):
    if kind == "function":
        return function_text(node)
    if kind == "variable":
        return variable_text(node)
    if kind == "define":
        return define_text(node, name)
    if kind == "typedef":
        definition = part_of(node, "definition").replace("= typedef ", "= ")
        return template_of(node) + definition + part_of(node, "argsstring")
    return f"{template_of(node)}{kind} {name}"


def entity_of(node, kind, name):
    location = node.find("location")
    file, line = ("", 0) if location is None else (location.get("file"), int(location.get("line")))
    values = [entity_of(one, "variable", part_of(one, "name")) for one in node.findall("enumvalue")]
    if name.startswith("@"):  # an enumeration without a name
        name = ""
    declaration = declaration_of(node, kind, name)
    return Entity(file, line, name, kind, declaration, comment_of(node), values)


def is_public(node):
    if node.get("prot") in ("private", "protected") or node.get("kind") == "friend":
        return False
    is_made = re.search(r"= ?(delete|default)$", part_of(node, "argsstring"))
    return not is_made and not re.match("~|.*_$", part_of(node, "name"))


def members_of(compound):
    for one in filter(is_public, compound.iter("memberdef")):
        yield entity_of(one, one.get("kind"), part_of(one, "name"))


def entities_of(compound):
    kind, name = compound.get("kind"), part_of(compound, "compoundname")
    if re.search(r"<.*>|\bdetail\b|^std\b|@", name):
        return
    if kind in RECORDS and compound.get("prot") == "public":
        record = entity_of(compound, kind, name)
        record.members = sorted(members_of(compound), key=lambda one: one.line)
        yield record
    elif kind in ("namespace", "file"):
        yield from members_of(compound)


def is_told(entity, records):
    """Not so: an include guard, a macro without a comment, the second name of a struct in C."""
    if entity.kind == "define":
        return bool(entity.comment)
    return entity.kind != "typedef" or entity.name not in records


def read_entities(folder):
    found = {}
    for path in Path(folder).glob("*.xml"):
        for compound in tree.parse(path).getroot().iter("compounddef"):
            for one in entities_of(compound):
                found[(one.file, one.line, one.name)] = one
    records = {one.name for one in found.values() if one.kind in RECORDS}
    told = [one for one in found.values() if is_told(one, records)]
    return sorted(told, key=lambda one: (one.file, one.line))
