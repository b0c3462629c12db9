"""The reference of the package for Python: python_page.py PACKAGE FILE.

In: PACKAGE, the package's folder in a build, whose modules are parsed; in the sources it lacks
what is compiled. Out: a page of Markdown with every name of the package and of `collage.extend`:
its signature and its docstring.
"""

import ast
import html
import importlib
import re
import sys
from pathlib import Path

from prose import prose

LONG = 92


def definitions(path):
    body = ast.parse(path.read_text()).body
    return {one.name: one for one in body if isinstance(one, (ast.FunctionDef, ast.ClassDef))}


def names_of_package(package):
    """Names with their definitions. To import the package itself runs nothing of it."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(package.parent))
    found = {}
    for name, module in sorted(importlib.import_module(package.name)._HOMES.items()):
        paths = [package / f"{module}{ending}" for ending in (".py", ".pyi")]
        path = next(filter(Path.exists, paths), None)
        if path is None:
            print(f"skipped: {package.name}.{name}: {module} is not built")
        else:
            found[name] = definitions(path)[name]
    return found


def names_of_extend(package):
    """Names with their definitions, by the imports in its __init__.py."""
    found = {}
    for one in ast.parse((package / "extend" / "__init__.py").read_text()).body:
        if isinstance(one, ast.ImportFrom) and one.level == 1:
            inside = definitions(package / "extend" / f"{one.module}.py")
            names = [each.name for each in one.names]
            found.update((name, inside[name]) for name in names if name in inside)
    return dict(sorted(found.items()))


def arguments_of(node):
    for group in (node.args.posonlyargs, node.args.args):
        if group and group[0].arg in ("self", "cls"):
            group.pop(0)
    return ast.unparse(node.args)


def signature(node, name):
    """`name(a, b=1) -> T`, an argument a line where it is long."""
    arguments = arguments_of(node)
    gives = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    if len(name) + len(arguments) + len(gives) <= LONG:
        return f"{name}({arguments}){gives}"
    inside = re.split(r", (?![^\[({]*[\])}])", arguments)
    return f"{name}(\n    " + ",\n    ".join(inside) + f",\n){gives}"


def has_decorator(node, kind, name=None):
    """A decorator of this kind of expression; with `name`, this one."""
    return any(isinstance(one, kind) and name in (None, getattr(one, "id", None))
               for one in node.decorator_list)


def members_of(node):
    """(declaration, docstring) of public methods and properties."""
    for one in node.body:
        if not isinstance(one, ast.FunctionDef) or one.name.startswith("_"):
            continue
        if has_decorator(one, ast.Attribute):  # a setter
            continue
        shown = signature(one, one.name)
        if has_decorator(one, ast.Name, "property"):
            shown = one.name + (f": {ast.unparse(one.returns)}" if one.returns else "")
        yield shown, ast.get_docstring(one) or ""


def class_text(node, name):
    bases = ", ".join(map(ast.unparse, node.bases))
    out = f"class {name}({bases})" if bases else f"class {name}"
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and one.name == "__init__":
            out += "\n" + signature(one, name)
    return out


def declaration(text):
    return f'<pre class="declaration"><code>{html.escape(text, quote=False)}</code></pre>'


def entry(name, node):
    is_class = isinstance(node, ast.ClassDef)
    shown = class_text(node, name) if is_class else signature(node, name)
    out = [f"### {name}", "", declaration(shown), prose(ast.get_docstring(node) or "")]
    for shown, text in members_of(node) if is_class else ():
        out.append(f'<div class="member">\n{declaration(shown)}\n{prose(text)}\n</div>')
    return "\n".join(out) + "\n"


def main():
    package, file = map(Path, sys.argv[1:])
    out = ["# The package `collage`", "", "Every name of it, from its docstrings.", ""]
    out += ["## collage", ""]
    out += [entry(name, node) for name, node in names_of_package(package).items()]
    out += ["## collage.extend", "", "Backends, patterns, rules and estimators of your own.", ""]
    out += [entry(name, node) for name, node in names_of_extend(package).items()]
    file.write_text("\n".join(out))


if __name__ == "__main__":
    main()
