# SPDX-License-Identifier: GPL-2.0-only
"""The core's controllers as Python objects, against the algorithms' own formulas."""

import pytest

hpcc_control = pytest.importorskip("hpcc_control", reason="the package of analysis/python/control is not installed")
Controller = hpcc_control.Controller

RATE, RTT, WINDOW = 100_000_000_000, 13_000, 162_500


def hop(time, sent, queue):
    return (RATE, time, sent, queue)


def test_every_algorithm_starts_at_line_rate():
    for name in hpcc_control.algorithms():
        if name == "bolt":
            with pytest.raises(ValueError, match="header"):
                Controller(name)
            continue
        control = Controller(name)
        assert control.rate == RATE and control.window in (WINDOW, None), name


def test_hpcc_computes_its_window_from_records():
    control = Controller("hpcc", line_rate="100Gbps", base_rtt="13us", eta=0.95, additive_increase="50Mbps")
    assert control.feedback(20_000, 1_000, 200_000, hops=[hop(10_000, 0, 0)]) == (RATE, WINDOW)
    rate = RATE
    # A round trip later the link was full; in the next one 100 kB wait at both of its ends, too.
    for number, queued in enumerate([0, 100_000], start=1):
        queue = hop(10_000 + number * RTT, number * WINDOW, 100_000)
        now, window = control.feedback(20_000 + number * RTT, 1_000 + number * 200_000, 200_000 + number * 200_000, hops=[queue])
        load = 1 + queued / WINDOW
        rate = rate * 0.95 / load + 50e6
        assert control.utilisation == pytest.approx(load)
        assert now == pytest.approx(rate, rel=1e-9) and window == pytest.approx(WINDOW * rate / RATE, abs=1)
        assert (control.rate, control.window) == (now, window)


def test_dcqcn_goes_by_timers():
    control = Controller("dcqcn", min_rate="1Gbps")
    assert control.feedback(100_000, 1_000, 2_000, marked=True) == (RATE, None)
    due = control.next_timer
    assert due > 100_000 and control.advance(due - 1) == (RATE, None)
    assert control.advance(due) == (RATE // 2, None)
    control.advance(due + 10_000_000)
    assert RATE // 2 < control.rate <= RATE


def test_marks_round_trip_times_and_losses_count_where_the_algorithm_says_so():
    assert Controller("dctcp").feedback(100_000, 1_000, 2_000, marked=True) == (RATE // 2, WINDOW // 2)
    assert Controller("swift").feedback(100_000, 1_000, 2_000, acked=1_000, rtt=1_000_000) == (RATE, WINDOW // 2)
    assert Controller("swift").loss(100_000, 1_000, timeout=True)[1] < WINDOW


def test_wrong_names_and_values_say_what_was_expected():
    for wrong, words in [
        (lambda: Controller("hpc"), "no algorithm hpc; expected one of hpcc, hpcc_plus"),
        (lambda: Controller("hpcc", etta=1.0), "hpcc has no etta; expected one of "),
        (lambda: Controller("hpcc", eta=9.0), "eta: "),
        (lambda: Controller("hpcc", line_rate="0Gbps"), "line_rate: expected a rate"),
    ]:
        with pytest.raises(ValueError, match=words):
            wrong()
