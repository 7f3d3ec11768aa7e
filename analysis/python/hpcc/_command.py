# SPDX-License-Identifier: GPL-2.0-only
"""The command, and its errors as exceptions."""

import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path


class Error(Exception):
    """What the command says."""


class InputError(Error):
    """Bad input; nothing has run. `file`, `line` and `key` are None where the command does not say them."""

    def __init__(self, message, file=None, line=None, key=None):
        super().__init__(message)
        self.file, self.line, self.key = file, line, key


class RunError(Error):
    """The simulator, or a run of a sweep, has failed."""


_BLAMED = re.compile(r"(?P<file>[^\s:][^:]*)(?::(?P<line>\d+))?: (?:(?P<key>[a-z_]\w*(?:\.\w+)*): )?")
_PROGRESS = re.compile(r"hpcc: .*(\d+ of \d+ runs|\d ?%)")


def command():
    """The command's path.

    It is HPCC_COMMAND, the `hpcc` of the source tree that Python was started in or that this package is part of, that which was
    installed with this package, or that of the PATH.
    """
    if os.environ.get("HPCC_COMMAND"):
        return os.environ["HPCC_COMMAND"]
    here = Path.cwd()
    for folder in [here, *here.parents, *Path(__file__).resolve().parents]:
        if (folder / "hpcc").is_file() and (folder / "hpcc-core").is_dir():
            return str(folder / "hpcc")
    beside = Path(sysconfig.get_path("scripts")) / "hpcc"
    found = str(beside) if beside.is_file() else shutil.which("hpcc")
    if not found:
        raise Error("there is no command hpcc: set HPCC_COMMAND to it, or start Python in a source tree of hpcc")
    return found


def _words(value):
    """A value as `--set` takes it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def options(set, out, simulator, control):
    """The words that `run` and `sweep` have in common."""
    words = [f"--set={key}={_words(value)}" for key, value in (set or {}).items()]
    words += ["--out", str(out)]
    words += ["--simulator", simulator] if simulator else []
    controls = [control] if isinstance(control, (str, os.PathLike)) else control or []
    return words + [word for file in controls for word in ("--control", str(file))]


def call(words, progress):
    """Runs the command; returns its exit code, 0 or 3, and what it noted."""
    process = subprocess.Popen([command(), *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    said = []
    try:
        for line in process.stderr:
            line = line.rstrip()
            if not _PROGRESS.match(line):
                said.append(line.removeprefix("hpcc: "))
            elif progress:
                print("\r" + line[:100].ljust(100), end="", file=sys.stderr, flush=True)
        code = process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    finally:
        process.stderr.close()
        if progress:
            print(file=sys.stderr)
    if code in (0, 3):
        return code, said
    message = "\n".join(said) or f"the command ended with {code}"
    if code == 2:
        blamed = _BLAMED.match(message)
        found = blamed.groupdict() if blamed else {}
        raise InputError(message, found.get("file"), int(found["line"]) if found.get("line") else None, found.get("key"))
    raise RunError(message)
