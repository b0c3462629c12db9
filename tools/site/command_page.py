"""The reference of the command: command_page.py COLLAGE FILE.

In: the built program. Out: a page of Markdown with the help of every command.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from program_help import commands_of  # noqa: E402


def section(command):
    level = "#" * (1 + max(len(command.words), 1))
    title = " ".join(("collage", *command.words))
    return [f"{level} {title}", "", "```text", command.text.rstrip(), "```", ""]


def main():
    program, file = sys.argv[1:]
    out = ["# Every command", "", "What `collage help COMMAND` prints.", ""]
    for command in commands_of(program).values():
        out += section(command) if command.text else []
    Path(file).write_text("\n".join(out))


if __name__ == "__main__":
    main()
