# SPDX-License-Identifier: GPL-2.0-only
"""The package against the command: HPCC_COMMAND names it, or the source tree's is taken."""

import os
import sysconfig
from pathlib import Path

import pytest

import hpcc

SCENARIO = """
[run]
stop = "1ms"
[topology]
kind = "star"
hosts = 3
rate = "100Gbps"
delay = "1us"
[[traffic]]
name = "pair"
kind = "flow"
src = 0
dst = 1
size = "100KB"
[monitor]
queue_interval = "1us"
goodput_interval = "1us"
"""
SWEEP = """
title = "Two"
base = "scenario.toml"
seeds = [1, 2]
[[variant]]
name = "a"
label = "HPCC (eta 0.95)"
[[variant]]
name = "b"
set = ["congestion_control.algorithm=dctcp"]
[[axis]]
name = "size"
values = ["10KB", "50KB"]
set = "traffic.0.size={}"
[[claim]]
text = "quick"
expected = "2"
measure = "slowdown"
of = "a"
at = "10KB"
holds = { at_most = 2 }
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HPCC_COMMAND", os.environ.get("HPCC_COMMAND") or str(Path(__file__).parents[3] / "hpcc"))
    monkeypatch.chdir(tmp_path)
    Path("scenario.toml").write_text(SCENARIO)
    Path("sweep.toml").write_text(SWEEP)
    return tmp_path


def test_a_run_gives_frames_with_units(folder):
    run = hpcc.run("scenario.toml", set={"traffic.0.size": "50KB", "transport.window": True}, simulator="core")
    assert run.folder == Path("hpcc-out/scenario") and run.summary["flows_finished"] == 1
    assert run.summary["scenario"]["transport"]["window"] is True
    assert list(run.flows.size_bytes) == [50_000] and list(run.flows.group) == ["pair"]
    assert run.flows.attrs["units"]["fct_ns"] == "ns" and run.goodput.attrs["units"]["goodput_bps"] == "bit/s"
    assert run.unfinished.empty and run.goodput.bytes.sum() == 50_000 and len(run.ports) == 6
    assert "<svg" in run._repr_html_()
    assert hpcc.load(run.folder).flows.equals(run.flows)


def test_a_sweep_gives_metrics_runs_flows_plots_and_verdicts(folder):
    sweep = hpcc.sweep("sweep.toml", out="out", simulator="core")
    assert len(sweep.metrics) == 8 and (sweep.metrics.slowdown_p99 >= 1).all()
    assert sweep.metrics.attrs["units"]["fct_p99_ns"] == "ns"
    assert sweep.metrics.attrs["definitions"]["slowdown_p99"].startswith("Completion time relative")
    assert set(sweep.runs["size"]) == {"10KB", "50KB"} and set(sweep.runs.seed) == {1, 2}
    of = sweep.flows.groupby(["variant", "size"]).size_bytes.max()
    assert of["a", "50KB"] == 50_000 and len(sweep.flows) == 8
    assert set(sweep.plot("slowdown-by-axis").line) == {"HPCC (eta 0.95)", "b"}
    assert list(sweep.verdicts.verdict) == ["holds"]


def test_a_sweep_without_axes_has_no_column_for_them(folder):
    Path("sweep.toml").write_text(SWEEP[: SWEEP.index("[[axis]]")])
    metrics = hpcc.sweep("sweep.toml", simulator="core").metrics
    assert len(metrics) == 4 and list(metrics.columns[:2]) == ["variant", "seed"]


def test_errors_have_file_line_and_key(folder):
    with pytest.raises(hpcc.InputError) as caught:
        hpcc.run("scenario.toml", set={"run.seed": "x"}, simulator="core")
    assert (caught.value.file, caught.value.key) == ("--set", "run.seed")
    Path("scenario.toml").write_text(SCENARIO.replace("dst = 1", "dst = 9"))
    with pytest.raises(hpcc.InputError, match="expected a host") as caught:
        hpcc.run("scenario.toml", simulator="core")
    assert (caught.value.file, caught.value.line, caught.value.key) == ("scenario.toml", 13, "traffic.dst")
    assert not Path("hpcc-out").exists()
    with pytest.raises(hpcc.Error, match="no results"):
        hpcc.load("nowhere")


def test_unfinished_flows_warn(folder):
    with pytest.warns(UserWarning, match="did not finish"):
        run = hpcc.run("scenario.toml", set={"run.stop": "2us"}, simulator="core")
    assert len(run.unfinished) == 1 and run.flows.empty


def test_progress_is_shown_when_asked_for(folder, capsys):
    hpcc.sweep("sweep.toml", simulator="core", progress=True)
    assert "8 of 8 runs" in capsys.readouterr().err


def test_percentiles_are_those_of_the_tables(folder):
    assert hpcc.percentile(range(100), 99) == 99 and hpcc.percentile([3, 1, 2], 50) == 2


def test_the_installed_command_runs_anywhere(tmp_path, monkeypatch):
    installed = Path(sysconfig.get_path("scripts")) / "hpcc"
    if not installed.exists():
        pytest.skip("the package was not installed by pip")
    monkeypatch.delenv("HPCC_COMMAND", raising=False)
    monkeypatch.chdir(tmp_path)
    Path("scenario.toml").write_text(SCENARIO)
    assert hpcc.command() == str(installed)
    run = hpcc.run("scenario.toml")
    assert run.summary["flows_finished"] == 1 and run.summary["versions"]["ns3"] == "none"
