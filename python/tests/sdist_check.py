"""The source package has all it takes to be built: every crate, licences, and nothing that is built."""

import posixpath
import re
import sys
import tarfile

(path,) = sys.argv[1:]
included = set()
with tarfile.open(path) as archive:
    names = {name.partition("/")[2] for name in archive.getnames()}
    for member in archive.getmembers():
        if member.name.endswith(".rs") and "/src/" in member.name:
            source = archive.extractfile(member).read().decode()
            folder = posixpath.dirname(member.name.partition("/")[2])
            for file in re.findall(r'include_(?:str|bytes)!\("([^"]+)"\)', source):
                included.add(posixpath.normpath(posixpath.join(folder, file)))

CRATES = ("errbar", "errbar-cli", "errbar-paper", "errbar-report", "errbar-table")
needed = {
    "pyproject.toml",
    "PKG-INFO",
    "Cargo.toml",
    "Cargo.lock",
    "README.md",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "LICENSE-OFL",
    "errbar/__init__.py",
    "errbar/_errbar.pyi",
    "errbar/py.typed",
    "python/Cargo.toml",
    "python/src/lib.rs",
    "crates/errbar-report/fonts/Arimo-Regular.ttf",
    *included,
    *(f"crates/{crate}/{file}" for crate in CRATES for file in ("Cargo.toml", "src/lib.rs")),
}
missing = sorted(needed - names)
unwanted = sorted(name for name in names if name.endswith((".so", ".pyc")) or "target/" in name)
if missing or unwanted:
    sys.exit(f"{path} lacks {missing} and should not have {unwanted}")
print(f"{len(names)} files, among them all of {len(needed)} that are needed")
