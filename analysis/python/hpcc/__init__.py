# SPDX-License-Identifier: GPL-2.0-only
"""Runs hpcc and reads its results.

>>> import hpcc
>>> run = hpcc.run("configs/quickstart.toml", set={"congestion_control.eta": 0.8})
>>> run.flows.groupby("group").slowdown.describe()

The package calls the command `hpcc` that `pip install .` installs with it, or that of the source tree below which Python was started;
HPCC_COMMAND names another one. Results of Python and of the command are therefore the same files.
"""

from ._command import Error, InputError, RunError, command
from ._results import Run, Sweep, load, percentile, run, sweep

__all__ = ["Error", "InputError", "Run", "RunError", "Sweep", "command", "load", "percentile", "run", "sweep"]
