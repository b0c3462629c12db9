"""What a release's artifacts contain besides our own code: notices with the licence texts, and bills of materials.

usage: contents.py notices FOLDER FILE                  the texts for what lies in FOLDER, an installed tree
       contents.py bill ARTIFACT FOLDER FILE [PACKAGE...]  SPDX 2.3 of an artifact whose files lie in FOLDER and that needs
                                                        these packages of Debian

Which parts are in is told from the files: each part has a pattern. Versions and hashes are those of tools/parts.txt and
of the installed Debian packages; SOURCE_DATE_EPOCH is the date.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DEFAULT_PREFIX = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"), "collage/parts")
PREFIX = Path(os.environ.get("COLLAGE_PREFIX", DEFAULT_PREFIX))
OURS = r"(libcollage[^/]*\.so[^/]*|bin/collage|collage/[^/]*\.so)$"


@dataclass(frozen=True)
class Part:
    name: str
    licence: str
    supplier: str
    home: str
    found: str  # of a path in the artifact that shows that the part is in
    how: str
    row: str = ""  # of tools/parts.txt, or
    debian: str = ""  # a Debian package
    texts: tuple = ()  # of the part's folder; a Debian package has its own


PARTS = [
    Part("onnxruntime", "MIT", "Microsoft", "https://onnxruntime.ai", r"/libonnxruntime", "a shared library",
         row="onnxruntime", texts=("LICENSE", "ThirdPartyNotices.txt")),
    Part("openvino", "Apache-2.0", "Intel", "https://docs.openvino.ai", r"/libopenvino",
         "shared libraries, with oneDNN and others inside", row="openvino",
         texts=("licenses/LICENSE", "licenses/licensing/runtime-third-party-programs.txt",
                "licenses/licensing/onednn_third-party-programs.txt")),
    Part("onetbb", "Apache-2.0", "UXL Foundation", "https://uxlfoundation.github.io/oneTBB", r"/libtbb",
         "shared libraries, from the distribution of OpenVINO", row="openvino",
         texts=("licenses/licensing/onetbb_third-party-programs.txt",)),
    Part("hwloc", "BSD-3-Clause", "Inria", "https://www.open-mpi.org/projects/hwloc", r"/libhwloc",
         "a shared library, from the distribution of OpenVINO", row="openvino"),
    Part("halide", "MIT", "Halide", "https://halide-lang.org", r"/lib(Halide|autoschedule_)", "shared libraries",
         row="halide", texts=("licenses/LICENSE.txt",)),
    Part("llvm", "Apache-2.0 WITH LLVM-exception", "LLVM", "https://llvm.org", r"/libHalide", "inside Halide's library",
         row="halide"),
    Part("onnx", "Apache-2.0", "Linux Foundation AI & Data", "https://onnx.ai", r"libcollage_onnx\.so",
         "compiled into a library", row="onnx", texts=("LICENSE",)),
    Part("libxsmm", "BSD-3-Clause", "Debian", "https://github.com/libxsmm/libxsmm", r"libcollage_native_compiler\.so",
         "compiled into a module", debian="libxsmm-dev"),
    Part("SQLiteCpp", "MIT", "Debian", "https://srombauts.github.io/SQLiteCpp", r"libcollage_store\.so",
         "compiled into a library", debian="libsqlitecpp-dev"),
    Part("CLI11", "BSD-3-Clause", "Debian", "https://github.com/CLIUtils/CLI11", r"bin/collage$",
         "headers, compiled into the program", debian="libcli11-dev"),
    Part("fmt", "MIT", "Debian", "https://fmt.dev", OURS, "headers, compiled into libraries", debian="libfmt-dev"),
    Part("nlohmann-json", "MIT", "Debian", "https://json.nlohmann.me", OURS, "headers, compiled into libraries",
         debian="nlohmann-json3-dev"),
    Part("cpp-httplib", "MIT", "Debian", "https://github.com/yhirose/cpp-httplib", r"libcollage_serve\.so",
         "headers, compiled into a library", debian="libcpp-httplib-dev"),
    Part("nanobind", "BSD-3-Clause", "nanobind", "https://nanobind.readthedocs.io", r"/_native[^/]*\.so$",
         "compiled into the extension module", row="nanobind", texts=("licenses/LICENSE",)),
    Part("xxhash", "BSD-2-Clause", "Debian", "https://xxhash.com", r"libcollage_base\.so",
         "headers, compiled into a library", debian="libxxhash-dev"),
    # A wheel brings along what a Python environment does not have; Debian's packages depend on these instead.
    Part("onednn", "Apache-2.0", "Debian", "https://uxlfoundation.github.io/oneDNN", r"\.libs/libdnnl", "a shared library",
         debian="libdnnl2"),
    Part("ocl-icd", "BSD-2-Clause", "Debian", "https://github.com/OCL-dev/ocl-icd", r"\.libs/libOpenCL",
         "a shared library, which that of oneDNN names", debian="ocl-icd-libopencl1"),
    Part("protobuf", "BSD-3-Clause", "Debian", "https://protobuf.dev", r"\.libs/libprotobuf", "a shared library",
         debian="libprotobuf32"),
    Part("sqlite", "blessing", "Debian", "https://sqlite.org", r"\.libs/libsqlite3", "a shared library", debian="libsqlite3-0"),
    Part("libfmt", "MIT", "Debian", "https://fmt.dev", r"\.libs/libfmt", "a shared library", debian="libfmt9"),
    Part("zlib", "Zlib", "Debian", "https://zlib.net", r"\.libs/libz-", "a shared library", debian="zlib1g"),
    Part("openssl", "Apache-2.0", "Debian", "https://www.openssl.org", r"\.libs/libcrypto", "a shared library",
         debian="libssl3"),
    Part("libgomp", "GPL-3.0-or-later WITH GCC-exception-3.1", "Debian", "https://gcc.gnu.org", r"\.libs/libgomp",
         "a shared library", debian="libgomp1"),
]
CARRIED = re.compile(r"/engines/|\.libs/")


@cache
def rows():
    lines = (ROOT / "tools/parts.txt").read_text().splitlines()
    return {line.split()[0]: line.split() for line in reversed(lines) if line and not line.startswith("#")}


def asked(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@cache
def version_of(part):
    if part.debian:
        return asked("dpkg-query", "-W", "-f=${Version}", part.debian)
    version = rows()[part.row][2]
    return version if part.row == part.name else f"of {part.row} {version}"


def checksum_of(part):
    """Of the file that the part came in."""
    if part.row:
        return rows()[part.row][4]
    shown = asked("apt-cache", "show", f"{part.debian}={version_of(part)}")
    found = re.search(r"^SHA256: (\w{64})$", shown, re.MULTILINE)
    if not found:
        sys.exit(f"contents.py: apt-cache knows no SHA256 of {part.debian} {version_of(part)}: run apt-get update")
    return found.group(1)


def texts_of(part):
    if part.debian:
        return [Path("/usr/share/doc", part.debian, "copyright")]
    return [PREFIX / f"{part.row}-{rows()[part.row][2]}" / text for text in part.texts]


def own_version():
    return re.search(r"project\(collage VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def parts_in(folder):
    paths = [path.relative_to(folder).as_posix() for path in Path(folder).rglob("*") if path.is_file() and not path.is_symlink()]
    unknown = [path for path in paths if CARRIED.search(path) and not any(re.search(part.found, path) for part in PARTS)]
    if unknown:
        sys.exit(f"contents.py: {unknown}: of no part that is listed here")
    return [part for part in PARTS if any(re.search(part.found, path) for path in paths)]


def write_notices(folder, file):
    parts = parts_in(folder)
    lines = [f"Collage {own_version()}", "", "Collage is under the Apache License 2.0, whose text is the first below.", ""]
    if parts:
        lines += ["It contains code of others:", ""]
        lines += [f"  {part.name} {version_of(part)}: {part.licence}; {part.how}; {part.home}" for part in parts]
    out = ["\n".join(lines), ("Collage", (ROOT / "LICENSE"))]
    out += [(part.name, text) for part in parts for text in texts_of(part)]
    with open(file, "w", encoding="utf-8") as notices:
        notices.write(out[0] + "\n")
        for name, text in out[1:]:
            notices.write(f"\n{'=' * 78}\n{name}: {text.name}\n{'=' * 78}\n\n")
            notices.write(text.read_text(encoding="utf-8", errors="replace").rstrip() + "\n")


def spdx_id(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def package(name, version, licence, supplier, checksum=None, **more):
    out = {"SPDXID": spdx_id(name), "name": name, "versionInfo": version, "supplier": supplier,
           "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "licenseConcluded": licence,
           "licenseDeclared": licence, "copyrightText": "NOASSERTION"} | more
    if checksum:
        out["checksums"] = [{"algorithm": "SHA256", "checksumValue": checksum}]
    return out


def needed(text):
    """A package of Debian that is not contained: `NAME (>= VERSION)`."""
    name, _, bound = text.partition(" ")
    return package(name, bound.strip("()") or "any", "NOASSERTION", "Organization: Debian",
                   comment="not contained: the package manager provides it")


def write_bill(artifact, folder, file, debian):
    artifact = Path(artifact)
    checksum = hashlib.sha256(artifact.read_bytes()).hexdigest()
    own = package(artifact.name, own_version(), "Apache-2.0", "Organization: Collage", checksum,
                  packageFileName=artifact.name)
    contained = [package(part.name, version_of(part), part.licence, f"Organization: {part.supplier}", checksum_of(part),
                         homepage=part.home, comment=part.how) for part in parts_in(folder)]
    # Of several bounds on one package the last in order is kept.
    others = list({text.partition(" ")[0]: needed(text) for text in sorted(debian)}.values())
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", own["SPDXID"])]
    relations += [(own["SPDXID"], "CONTAINS", one["SPDXID"]) for one in contained]
    relations += [(own["SPDXID"], "DEPENDS_ON", one["SPDXID"]) for one in others]
    epoch = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    bill = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": artifact.name,
        "documentNamespace": f"https://collage.invalid/spdx/{artifact.name}-{checksum}",
        "creationInfo": {"created": datetime.fromtimestamp(epoch, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": [f"Tool: collage-contents-{own_version()}"]},
        "packages": [own, *contained, *others],
        "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b}
                          for a, kind, b in relations]}
    Path(file).write_text(json.dumps(bill, indent=1) + "\n")


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["notices"] and len(arguments) == 3:
        write_notices(*arguments[1:])
    elif arguments[:1] == ["bill"] and len(arguments) >= 4:
        write_bill(*arguments[1:4], arguments[4:])
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
