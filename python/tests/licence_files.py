"""The licences are in the installed package, each whole. Run by ./test and where wheels are built."""

import importlib.metadata

BEGINNINGS = {
    "LICENSE-MIT": "MIT License",
    "LICENSE-APACHE": "Apache License",
    "LICENSE-OFL": "Copyright 2010 Google Inc.",
}
package = importlib.metadata.distribution("errbar")
for name, beginning in BEGINNINGS.items():
    text = package.read_text(f"licenses/{name}")
    assert text, f"{name} is not in the package"
    assert text.lstrip().startswith(beginning), f"{name} begins with {text[:60]!r}"
    assert len(text) > 1000, f"{name} is {text!r}"
