# SPDX-License-Identifier: GPL-2.0-only
"""Runs hpcc and reads its results.

>>> import hpcc
>>> run = hpcc.run("configs/quickstart.toml", set={"congestion_control.eta": 0.8}, simulator="core")
>>> run.flows.groupby("group").slowdown.describe()

The package calls the command `hpcc`, which has to be there: set HPCC_COMMAND to it, start Python below a source tree, or install
the command in the PATH. Results of Python and of the command are therefore the same files.
"""

from ._command import Error, InputError, RunError, command
from ._results import Run, Sweep, load, percentile, run, sweep

__all__ = ["Error", "InputError", "Run", "RunError", "Sweep", "command", "load", "percentile", "run", "sweep"]
