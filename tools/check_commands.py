"""Every `collage ...` and `./dev ...` that the documents show names what exists.

usage: check_commands.py [--count] [COLLAGE]
    COLLAGE is the built program, whose help is asked; without it only ./dev is checked.
    --count prints how many command lines there were.

In: README.md, CONTRIBUTING.md, docs. Looked at are blocks of code, words in backticks, and tables
of commands, whose first column leaves out the program's name. Words in capitals stand for anything.
"""

import pathlib
import re
import shlex
import sys

from program_help import Command, commands_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = {"collage": re.compile(r"(\S*/)?collage"), "./dev": re.compile(r"\./dev")}
SHELLS = ("", "sh", "bash", "console")
INTERNAL = "worker"  # a command that help does not list


def pages():
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def lines_of_code(text):
    """(number, line) of blocks of code, fenced or indented; a line that ends in \\ goes on."""
    fence, begun, first = None, "", 0
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*```(\w*)", line)
        if mark:
            fence = mark.group(1) if fence is None else None
            continue
        if fence not in SHELLS if fence is not None else not line.startswith("    "):
            continue
        first = first or number
        begun += line.strip()
        if begun.endswith("\\"):
            begun = begun[:-1] + " "
            continue
        yield first, begun
        begun, first = "", 0


def shown(text):
    """(number, command line) of everything in the page that may be one."""
    yield from lines_of_code(text)
    is_table = False
    for number, line in enumerate(text.splitlines(), 1):
        is_table = line.startswith("|") and (is_table or line.startswith("| command |"))
        words = re.findall(r"`((?:collage|\./dev) [^`]+)`", line)
        if is_table:
            cells = re.findall(r"`([a-z][^`]*)`", line.split(" | ")[0])
            words += ["collage " + cell for cell in cells]
        for word in words:
            # Of a|b, in tables a\|b, both are looked at.
            yield number, re.sub(r"(?<=\S)\\?\|(?=\S)", " ", word)


def simple_commands(line):
    """The words of each command of a line of shell: a pipe, a list, a substitution have several."""
    line = re.sub(r"[\[\]]", " ", line)
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    try:
        tokens = list(lexer)
    except ValueError:  # a quote without an end: not shell
        return
    words = []
    for token in [*tokens, ";"]:
        if re.fullmatch(r"[();<>|&]+", token):
            yield words
            words = []
        else:
            words.append(token)


def called(words):
    """("collage" or "./dev", the words behind it), or None where something else is called."""
    while words and re.fullmatch(r"\w+=.*|\$|!|sudo|exec|time|env", words[0]):
        words = words[1:]
    for program, pattern in PROGRAMS.items():
        if words and pattern.fullmatch(words[0]):
            return program, words[1:]
    return None


def find_command(words, commands):
    """(the command that is called, the words behind its name, what is wrong)."""
    command, rest = commands[()], list(words)
    while command.subcommands and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        if re.match(r"[A-Z.<$]", name):  # it stands for any
            every = {}
            for one in commands.values():
                every.update(one.options)
            return Command((name,), "", every), rest, ""
        if (*command.words, name) not in commands:
            return command, [], f"no command {' '.join((*command.words, name))}"
        command = commands[(*command.words, name)]
    return command, rest, ""


def fault_of(program, words, commands):
    """What is wrong with a command line, or nothing."""
    command, rest, fault = find_command(words, commands)
    is_value = False
    for word in rest:
        if fault or word == "--":
            break
        option = word.split("=")[0]
        if is_value or not re.match(r"--?[A-Za-z]", word):
            is_value = False
        elif option not in command.options and option[:2] not in command.options:
            fault = f"{' '.join((program, *command.words))} has no option {option}"
        else:
            is_value = command.options.get(option, False) and "=" not in word
    return fault


def dev_commands():
    """Those of the usage text in ./dev; what begins with - there is an option."""
    script = (ROOT / "dev").read_text()
    usage = re.search(r"<<'TEXT'\n(.*?)\nTEXT", script, re.DOTALL).group(1)
    commands = {(): Command((), usage, {"-h": False, "--help": False})}
    for name, text in re.findall(r"^  ([a-z]\w*)(.*(?:\n {6,}.*)*)", usage, re.MULTILINE):
        options = re.findall(r"(?<![\w-])--?[A-Za-z]\w*", text)
        commands[(name,)] = Command((name,), text, dict.fromkeys(options, False))
        commands[()].subcommands.append(name)
    return commands


def faults_of(page, known, counts):
    for number, line in shown(page.read_text()):
        for program, words in filter(None, map(called, simple_commands(line))):
            if program not in known:
                continue
            counts.append(program)
            fault = fault_of(program, words, known[program])
            if fault:
                yield f"{page.relative_to(ROOT)}:{number}: {fault}"


def main():
    programs = [word for word in sys.argv[1:] if word != "--count"]
    known = {"./dev": dev_commands()}
    for program in programs:
        known["collage"] = commands_of(program)
        known["collage"][(INTERNAL,)] = Command((INTERNAL,), "")
    counts = []
    wrong = [fault for page in pages() for fault in faults_of(page, known, counts)]
    print("\n".join(wrong), end="\n" if wrong else "")
    if not programs:
        print("skipped: command lines of collage: no built program to ask, see ./dev build")
    elif wrong:
        print(f"asked was {programs[0]}; ./dev build makes it of the present sources")
    if "--count" in sys.argv:
        print(f"{len(counts)} command lines checked")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
