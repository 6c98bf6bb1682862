"""How the book is built: `tools/book` makes it of the pages here.

Everything that a page needs comes with it: search, dark and light, formulas as MathML, which browsers draw themselves.
"""

import datetime
import pathlib
import re

import latex2mathml.converter
from docutils import nodes

ROOT = pathlib.Path(__file__).resolve().parent.parent
CARGO = (ROOT / "Cargo.toml").read_text(encoding="utf-8")

project = "errbar"
author = "The errbar developers"
copyright = f"{datetime.date.today().year}, {author}"  # noqa: A001, as Sphinx calls it
release = version = re.search(r'^version = "(.*)"$', CARGO, re.MULTILINE)[1]

extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["dollarmath", "smartquotes"]
myst_heading_anchors = 4
# Shell examples hold what is no shell: prompts, globs.
highlight_language = "text"

html_theme = "furo"
html_title = f"errbar {version}"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
html_math_renderer = "mathml"


def as_mathml(formula, display):
    """A formula as browsers draw it."""
    # What latex2mathml does not know: \operatorname is text, \dfrac and \tfrac are fractions.
    plain = re.sub(r"\\operatorname\{([^}]*)\}", r"\\mathrm{\1}", formula).replace(r"\dfrac", r"\frac").replace(r"\tfrac", r"\frac")
    return latex2mathml.converter.convert(plain, display="block" if display else "inline")


def inline(self, node):
    self.body.append(as_mathml(node.astext(), False))
    raise nodes.SkipNode


def block(self, node):
    self.body.append(f'<div class="math">{as_mathml(node.astext(), True)}</div>')
    raise nodes.SkipNode


def runs(app, name, text):
    """Dated runs are reached from where they are spoken of, and need a title."""
    if re.match("(benchmarks|reproduction)/", name):
        title = "" if text[0].startswith("# ") else f"# {pathlib.PurePath(name).name}\n\n"
        text[0] = f"---\norphan: true\n---\n\n{title}{text[0]}"


def setup(app):
    app.connect("source-read", runs)
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(block, None))
    return {"parallel_read_safe": True}
