# SPDX-License-Identifier: GPL-2.0-only
#
# The manual as HTML, by sphinx and myst-parser. ./hpcc docs --html runs it on the root of the repository, so that pages outside
# this folder are in it, too, and links between them are checked.
from pathlib import Path

project = "hpcc"
author = "The hpcc-ns3 authors"
copyright = author
root_doc = "ns3-module/doc/index"
include_patterns = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "configs/**.md", "ns3-module/doc/*.md", "ns3-module/doc/*.rst"]
exclude_patterns = ["target", "vendor", "**/target", "**/.git", "hpcc-out", "tests"]
extensions = ["myst_parser", "sphinx.ext.mathjax"]
# Headings that pages link to.
myst_heading_anchors = 3
html_theme = "furo"
html_title = "hpcc"
# Debian 12's furo has lost two things in packaging that others have. One is the colours of a dark page:
html_theme_options = {
    "dark_css_variables": {
        "color-background-primary": "#14161a",
        "color-background-secondary": "#1c1f24",
        "color-background-hover": "#262a31",
        "color-background-hover--transparent": "#262a3100",
        "color-background-border": "#333842",
        "color-foreground-primary": "#d6d9de",
        "color-foreground-secondary": "#a2a8b3",
        "color-foreground-muted": "#858c98",
        "color-foreground-border": "#5b616c",
        "color-brand-primary": "#6ea8ff",
        "color-brand-content": "#6ea8ff",
        "color-highlighted-background": "#2a4468",
        "color-highlight-on-target": "#3b3a18",
    }
}


def join_modules(app, failure):
    """The other: its script is one file. There it is two modules, and pages load the first as a plain script."""
    script, module = (Path(app.outdir, "_static/scripts", name) for name in ("furo.js", "gumshoe-patched.js"))
    if failure is None and module.exists():
        lines = script.read_text().splitlines(keepends=True)
        script.write_text(module.read_text() + "".join(line for line in lines if not line.startswith("import ")))


def setup(app):
    app.connect("build-finished", join_modules)
