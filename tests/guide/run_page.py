"""Runs the commands and builds the programs of a page of docs/guide: run_page.py PAGE WORK_FOLDER RESULTS.xml.

In: a page in Markdown. Its blocks of code are taken in order, in one empty folder:
- after a line `<!-- file: NAME -->` a block is the contents of the file NAME;
- a block `sh` is run by bash, which ends at the first command that fails;
- after a line `<!-- server -->` a block `sh` runs beside the ones that follow, until the page ends;
- after a line `<!-- output -->` a block is what the last commands printed, where "..." stands for anything;
- after a line `<!-- not run: REASON -->` a block is only shown.
A block of another language must be one of these, so that no example goes untried.

Budgets of tunes are shortened. Out: a case for each block that is run, in the form of gtest's XML; exit 1 if one failed.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as tree
from dataclasses import dataclass
from pathlib import Path

SHORTER = [
    (re.compile(r"--budget[ =]\S+"), "--budget 3s"),
    (re.compile(r'budget="[^"]+"'), 'budget="3s"'),
    (re.compile(r"budget_s = [0-9.]+"), "budget_s = 3"),
]
LIMIT_S = 240


@dataclass
class Block:
    line: int
    language: str
    mark: str  # "file: NAME", "server", "output", "not run: REASON" or ""
    text: str


def blocks_of(page):
    blocks, mark, opened = [], "", None
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if opened is not None:
            if line.strip() == "```":
                blocks.append(opened)
                opened, mark = None, ""
            else:
                opened.text += line + "\n"
        elif line.startswith("```"):
            opened = Block(number, line[3:].strip(), mark, "")
        elif found := re.fullmatch(r"<!-- (.*) -->", line.strip()):
            mark = found.group(1)
        elif line.strip():
            mark = ""
    if opened is not None:
        sys.exit(f"{page}:{opened.line}: this block has no end")
    return blocks


def shortened(text):
    for pattern, replacement in SHORTER:
        text = pattern.sub(replacement, text)
    return text


def matches(expected, seen):
    """Whether the lines of `expected` are what was seen; "..." stands for any text, blanks count as one."""
    parts = [re.escape(re.sub(r"\s+", " ", part.strip())) for part in expected.split("...")]
    return re.fullmatch(".*".join(parts).replace(r"\ ", r"\s+"), re.sub(r"\s+", " ", seen.strip()), re.DOTALL)


class Page:
    def __init__(self, page, work):
        self.page, self.work = page, work
        self.output = ""
        self.servers = []

    def run(self, block):
        """What went wrong, or nothing; None for a block that is not run."""
        if block.mark.startswith("not run: "):
            return None
        if block.mark.startswith("file: "):
            file = self.work / block.mark.removeprefix("file: ")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(shortened(block.text))
            return None
        if block.mark == "output":
            if matches(block.text, self.output):
                return ""
            return f"expected\n{block.text}\nsaw\n{self.output}"
        if block.language != "sh":
            return f"a block of {block.language or 'no language'} without a mark: see {Path(__file__).name}"
        return self.serve(block) if block.mark == "server" else self.execute(block)

    def execute(self, block):
        command = ["bash", "-euo", "pipefail", "-c", shortened(block.text)]
        try:
            done = subprocess.run(command, cwd=self.work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=LIMIT_S, text=True, errors="replace")
        except subprocess.TimeoutExpired as late:
            return f"no end after {LIMIT_S} s\n{late.output}"
        self.output = done.stdout
        return "" if done.returncode == 0 else f"exit {done.returncode}\n{done.stdout}"

    def serve(self, block):
        log = open(self.work / f"server-{block.line}.log", "w+")
        server = subprocess.Popen(["bash", "-euo", "pipefail", "-c", "exec " + shortened(block.text)], cwd=self.work,
                                  stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        self.servers.append(server)
        time.sleep(1)
        if server.poll() is None:
            return ""
        log.seek(0)
        return f"exit {server.returncode}\n{log.read()}"

    def end(self):
        for server in self.servers:
            if server.poll() is None:
                os.killpg(server.pid, signal.SIGTERM)
        for server in self.servers:
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(server.pid, signal.SIGKILL)


def main(page, work, results):
    page, work = Path(page), Path(work)
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    suite = tree.Element("testsuites")
    failed = False
    runner = Page(page, work)
    try:
        for block in blocks_of(page):
            wrong = runner.run(block)
            if wrong is None:
                continue
            case = tree.SubElement(suite, "testcase", name=f"line {block.line}", result="completed")
            if wrong:
                failed = True
                print(f"{page}:{block.line}: {wrong}")
                tree.SubElement(case, "failure", message="see the output")
                break  # later blocks use what earlier ones made
    finally:
        runner.end()
    tree.ElementTree(suite).write(results)
    return 1 if failed or not len(suite) else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
