"""Writes files that no import may accept, crash on or hang on: FOLDER/<group>/<case>/model.onnx and FOLDER/cases.txt.

A line of cases.txt is "path<TAB>codes<TAB>parts of the message<TAB>limits"; codes are separated by "|", and so are
parts, of which one must occur; "ok" means that the file imports; limits are NAME=VALUE that the import gets. The files are the same in every run."""

import pathlib
import sys

from attribute_cases import odd_attributes, operands, operators
from file_cases import external_data
from graph_cases import bodies, graphs, long_graphs
from size_cases import bombs, functions
from tensor_cases import tensors
from wire_cases import bombs_of_messages, broken_text, lengths, plain_bytes, versions


class Catalogue:
    def __init__(self, folder):
        self.folder, self.lines = folder, []

    def add(self, group, name, model, codes, part="", limits=""):
        """Writes one case; a model may be bytes. Returns its folder, for files beside it."""
        place = self.folder / group / name
        place.mkdir(parents=True)
        data = model if isinstance(model, bytes) else model.SerializeToString()
        (place / "model.onnx").write_bytes(data)
        self.lines.append(f"{group}/{name}/model.onnx\t{codes}\t{part}\t{limits}\n")
        return place

    def close(self):
        (self.folder / "cases.txt").write_text("".join(self.lines))


def main():
    folder = pathlib.Path(sys.argv[1])
    c = Catalogue(folder)
    for group in (
        plain_bytes,
        lengths,
        bombs_of_messages,
        versions,
        broken_text,
        graphs,
        long_graphs,
        bodies,
        tensors,
        operators,
        operands,
        odd_attributes,
        bombs,
        functions,
        external_data,
    ):
        group(c)
    c.close()
    print(f"-- hostile-cases: {len(c.lines)} written", file=sys.stderr)


if __name__ == "__main__":
    main()
