# SPDX-License-Identifier: GPL-2.0-only
#
# The manual as HTML, by sphinx and myst-parser. ./hpcc docs --html runs it on the root of the repository, so that pages outside
# this folder are in it, too, and links between them are checked.
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
