# SPDX-License-Identifier: GPL-2.0-only
"""Draws the CSV file beside it with matplotlib, as PDF. It is a begin: edit it."""
import csv
from pathlib import Path

import matplotlib.pyplot as plt

AXES = [
    # CHARTS
]
here = Path(__file__)
charts = {}
for row in csv.DictReader(here.with_suffix(".csv").open()):
    charts.setdefault(row["chart"], {}).setdefault(row["line"], []).append(row)

plt.rcParams.update({"font.size": 7, "pdf.fonttype": 42, "lines.linewidth": 1, "lines.markersize": 3})
figure, panels = plt.subplots(1, len(AXES), figsize=(3.46 * len(AXES), 2.2), squeeze=False, layout="constrained")
for panel, axes, lines in zip(panels[0], AXES, charts.values()):
    for name, rows in lines.items():
        x, value, low, high = ([float(row[key] or "nan") for row in rows] for key in ("x", "value", "low", "high"))
        style = {"marker": axes["marker"], "drawstyle": axes["drawstyle"]}
        (line,) = panel.plot(x, value, label=name, **style)
        panel.fill_between(x, low, high, color=line.get_color(), alpha=0.2, linewidth=0)
        few = [(a, b) for a, b, row in zip(x, value, rows) if row["few_flows"] == "1"]
        panel.plot(*zip(*few), "o", color=line.get_color(), markerfacecolor="white") if few else None
    panel.set(xlabel=axes["x"], ylabel=axes["y"], xscale=axes["xscale"], yscale=axes["yscale"], ylim=axes["ylim"])
    if axes["xticks"]:
        panel.set_xticks(*zip(*axes["xticks"]))
panels[0][0].legend()
figure.savefig(here.with_suffix(".pdf"))
