# SPDX-License-Identifier: GPL-2.0-only
"""Results as DataFrames."""

import json
import sys
import warnings
from functools import cached_property
from pathlib import Path

from ._command import Error, call, options


def _pandas():
    """The library of tables: runs and sweeps need none, their tables do."""
    try:
        import pandas
    except ImportError as error:
        raise Error("tables are of pandas, which is not installed: pip install 'hpcc[data]', or pandas alone") from error
    return pandas


_UNITS = {"ns": "ns", "bytes": "bytes", "bps": "bit/s", "gbps": "Gb/s", "us": "us"}


def percentile(values, percent):
    """Element int(n * percent / 100) of the n sorted values: the notion of all tables and plots of hpcc."""
    ascending = sorted(values)
    return ascending[min(len(ascending) * percent // 100, len(ascending) - 1)]


def _frame(path):
    """A CSV file; `attrs["units"]` has the units that its header names."""
    frame = _pandas().read_csv(path)
    ends = {column: column.rsplit("_", 1)[-1] for column in frame.columns}
    frame.attrs["units"] = {column: _UNITS[end] for column, end in ends.items() if end in _UNITS}
    return frame


class Run:
    """What a run left. Tables are read when they are asked for; they become xarray by `.to_xarray()`."""

    def __init__(self, folder, notes=()):
        self.folder, self.notes = Path(folder), list(notes)
        if not (self.folder / "summary.json").exists():
            raise Error(f"{folder}: there are no results of a run")
        self.summary = json.loads((self.folder / "summary.json").read_text())

    def __repr__(self):
        return f"<hpcc.Run {self.folder}: {self.summary['flows_finished']} of {self.summary['flows_total']} flows finished>"

    def _repr_html_(self):
        plots = [path.read_text() for path in sorted(self.folder.glob("*.svg"))]
        return f"<p>{repr(self)[1:-1]}</p>" + "".join(plots)

    def table(self, name):
        """The table `name`.csv of the folder."""
        return _frame(self.folder / f"{name}.csv")

    def _of_flows(self, name):
        flows, groups = self.table(name), self.summary.get("groups", [])
        flows["group"] = [groups[number] if number < len(groups) else "flows" for number in flows.group]
        return flows

    flows = cached_property(lambda self: self._of_flows("fct"))
    flows.__doc__ = "The flows that finished."
    unfinished = cached_property(lambda self: self._of_flows("unfinished"))
    unfinished.__doc__ = "The flows that did not."
    queue = cached_property(lambda self: self.table("queue"))
    queue.__doc__ = "Queues of switch ports over time, a row where one has changed."
    goodput = cached_property(lambda self: self.table("goodput"))
    goodput.__doc__ = "Acknowledged payload of flows over time."
    control = cached_property(lambda self: self.table("control"))
    control.__doc__ = "Rates and windows of watched flows over time."
    ports = cached_property(lambda self: self.table("ports"))
    ports.__doc__ = "Every port."


class Sweep:
    """What a sweep left."""

    def __init__(self, folder, notes=()):
        self.folder, self.notes = Path(folder), list(notes)
        if not (self.folder / "sweep.csv").exists():
            raise Error(f"{folder}: there are no results of a complete sweep")
        self.manifest = json.loads((self.folder / "sweep.json").read_text())

    def __repr__(self):
        return f"<hpcc.Sweep {self.folder}: {self.manifest['title']}>"

    def _repr_html_(self):
        plots = [(self.folder / f"{name}.svg").read_text() for name in self.manifest["plots"]]
        return f"<p>{self.manifest['title']}</p>" + "".join(plots)

    @cached_property
    def metrics(self):
        """A row for each run, a column for each metric; `attrs` has "units" and "definitions" of these."""
        # A sweep without axes has an empty column for them.
        data = _frame(self.folder / "sweep.csv").dropna(axis="columns", how="all")
        keys = [column for column in data.columns if column not in ("metric", "value")]
        wide = data.pivot(index=keys, columns="metric", values="value").reset_index().rename_axis(columns=None)
        known = {name: self.manifest.get("metrics", {}).get(name.split("[")[0], ("", "")) for name in wide.columns}
        wide.attrs["units"] = {name: unit for name, (unit, _) in known.items() if unit}
        wide.attrs["definitions"] = {name: text for name, (_, text) in known.items() if text}
        return wide

    @cached_property
    def runs(self):
        """A row for each run: variant, label, values of axes, seed, and the Run."""
        rows = []
        for entry in self.manifest["entries"]:
            for run in entry["runs"]:
                known = {"variant": entry["variant"], "label": entry["label"], **entry["values"]}
                rows.append({**known, "seed": run["seed"], "run": Run(self.folder / run["folder"])})
        return _pandas().DataFrame(rows)

    @cached_property
    def flows(self):
        """All flows of all runs that finished, with the keys of their runs."""
        frames = [row.pop("run").flows.assign(**row) for row in self.runs.to_dict("records")]
        flows = _pandas().concat(frames, ignore_index=True)
        flows.attrs["units"] = frames[0].attrs["units"]
        return flows

    def plot(self, name):
        """The data of a plot, such as "slowdown-by-size"."""
        return _frame(self.folder / f"{name}.plot.csv")

    @cached_property
    def verdicts(self):
        """The claims and their verdicts."""
        file = self.folder / "verdicts.json"
        return _pandas().DataFrame(json.loads(file.read_text())["claims"] if file.exists() else [])


def load(folder):
    """The results in a folder, of a run or a sweep."""
    return Sweep(folder) if (Path(folder) / "sweep.csv").exists() else Run(folder)


def _interactive():
    return "ipykernel" in sys.modules or sys.stderr.isatty()


def _start(name, file, set, out, simulator, control, progress, more):
    out = Path(out) if out else Path("hpcc-out") / Path(file).stem
    words = [name, file, *options(set, out, simulator, control), *more]
    code, notes = call(words, _interactive() if progress is None else progress)
    if code == 3:
        warnings.warn(f"{out}: some flows did not finish", stacklevel=3)
    return out, notes


def run(scenario, set=None, out=None, simulator=None, control=None, progress=None, force=True, options=()):
    """Simulates a scenario, as `hpcc run` does.

    `set` is a dict of keys and values; `simulator` "core", "ns3" or "fluid", where the scenario shall not decide; `control` a file
    in C++ or Rust with a controller of your own, or a list of such files; `options` are further words of the command line. Results go into
    `out`, by default hpcc-out/ and the name of the scenario. They replace earlier ones; with `force` False only those of the same
    configuration.
    """
    more = [*(["--force"] if force else []), *options]
    return Run(*_start("run", scenario, set, out, simulator, control, progress, more))


def sweep(file, set=None, out=None, simulator=None, control=None, progress=None, quick=False, jobs=None, options=()):
    """Simulates what a sweep file lists, as `hpcc sweep` does, `jobs` runs at a time; complete runs of an earlier call are kept."""
    more = [*(["--quick"] if quick else []), *([f"--jobs={jobs}"] if jobs else []), *options]
    return Sweep(*_start("sweep", file, set, out, simulator, control, progress, more))
