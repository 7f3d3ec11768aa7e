# SPDX-License-Identifier: GPL-2.0-only
"""Draws the CSV file beside it with matplotlib, as PDF. It is a begin: edit it."""
import csv
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.transforms import ScaledTranslation

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
    bars = axes["bars"] and any(row["low"] for rows in lines.values() for row in rows)
    places = [row["x"] for rows in lines.values() for row in rows]
    shared = len(set(places)) < len(places)
    for number, (name, rows) in enumerate(lines.items()):
        x, value, low, high = ([float(row[key] or "nan") for row in rows] for key in ("x", "value", "low", "high"))
        style = {**axes["styles"][name], "drawstyle": axes["drawstyle"], "markevery": axes["every"]}
        if bars:
            # Side by side, as bars at one place hide each other; a panel is some 180 points wide.
            points = (number - (len(lines) - 1) / 2) * min(3, 90 * axes["gap"] / len(lines)) * shared
            style["transform"] = panel.transData + ScaledTranslation(points / 72, 0, figure.dpi_scale_trans)
            errors = [[a - b for a, b in zip(value, low)], [a - b for a, b in zip(high, value)]]
            panel.errorbar(x, value, errors, fmt="none", ecolor=style["color"], elinewidth=0.6, capsize=1.5, transform=style["transform"])
        else:
            panel.fill_between(x, low, high, color=style["color"], alpha=0.2, linewidth=0)
        panel.plot(x, value, label=name, **style)
        few = [(a, b) for a, b, row in zip(x, value, rows) if row["few_flows"] == "1"]
        panel.plot(*zip(*few), **{**style, "linestyle": "", "markevery": 1}, markerfacecolor="white") if few else None
        for a, b, row in zip(x, value, rows):
            if bars and row.get("seeds") and row["seeds"] != max((one["seeds"] for one in rows), key=int):
                panel.annotate(row["seeds"], (a, b), xytext=(2, 2), textcoords="offset points", fontsize=5)
    panel.set(xlabel=axes["x"], ylabel=axes["y"], xscale=axes["xscale"], yscale=axes["yscale"], xlim=axes["xlim"], ylim=axes["ylim"])
    if axes["xticks"]:
        panel.set_xticks(*zip(*axes["xticks"]))
handles, names = panels[0][0].get_legend_handles_labels()
figure.legend(handles, names, loc="outside right upper", ncols=1 + len(names) // 15)
figure.savefig(here.with_suffix(".pdf"))
