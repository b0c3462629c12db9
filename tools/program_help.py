"""What the command `collage` says of itself: its commands and their options, from its help."""

import re
import subprocess
import sys
from dataclasses import dataclass, field


@dataclass
class Command:
    words: tuple  # ("db", "list")
    text: str  # of its help
    options: dict = field(default_factory=dict)  # "--shape" -> whether a value follows
    subcommands: list = field(default_factory=list)


def help_text(program, *words):
    done = subprocess.run([program, "help", *words], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{program} help {' '.join(words)}: exit {done.returncode}; ./dev build makes it")
    return done.stdout


def names_below(text, heading):
    """The first word of each entry of the list with this heading; its other lines lie deeper."""
    found = re.search(rf"^{heading}:\n((?:  .*\n?)*)", text, re.MULTILINE)
    return re.findall(r"^  (\w[\w-]*)", found.group(1), re.MULTILINE) if found else []


def options_in(text):
    """Of lines such as "  -o,--output PLAN (required)  the plan", "  --quiet   no progress"."""
    options = {}
    for names, value in re.findall(r"^  (-[-\w,]+)( \S+)?", text, re.MULTILINE):
        for name in names.split(","):
            options[name] = bool(value)
    return options


def command_of(program, words):
    text = help_text(program, *words)
    return Command(words, text, options_in(text), names_below(text, "Subcommands"))


def commands_of(program):
    """All of them by their words, in the order of the help; () is the program itself."""
    text = help_text(program)
    top = Command((), text, options_in(text), names_below(text, "Commands"))
    commands = {(): top}
    for name in top.subcommands:
        if name == "help":
            commands[(name,)] = Command((name,), "", dict(top.options))
            continue
        command = command_of(program, (name,))
        commands[(name,)] = command
        for below in command.subcommands:
            commands[(name, below)] = command_of(program, (name, below))
    return commands
