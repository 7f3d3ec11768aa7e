# SPDX-License-Identifier: GPL-2.0-only
"""NCCL's choice for H100 servers with a NIC of 400 Gb/s a GPU, written from a description of its tuning, apart from the Rust.

Prints, for each operation and shape, the choices from 2^10 to 2^34 bytes, each with how many sizes in a row have it.
"""

from itertools import groupby
from math import log2

SIMPLE = [0.9] * 7 + [0.8, 0.7, 0.6, 0.6, 0.5, 0.5, 0.5, 0.5, 0.6, 0.7, 0.8, 0.7, 0.7, 0.8, 0.9, 0.9, 0.9]
LL = [1, 1, 1, 1, 0.9, 0.8, 0.7, 0.7, 0.7, 0.7, 0.6, 0.5, 0.4, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] + [1] * 5
LL128 = [1] * 5 + [0.9, 0.8, 0.8, 0.8, 0.7] + [0.6] * 6 + [0.8, 0.9, 0.9, 0.9, 0.9, 1, 1, 1]
CORRECTION = {"simple": SIMPLE, "ll": LL, "ll128": LL128}
BASE = {"ring": {"ll": 6.6, "ll128": 14, "simple": 8.4}, "tree": {"ll": 6.8, "ll128": 14, "simple": 8.4}}
NVLINK = {"ring": {"ll": 0.6, "ll128": 1.9, "simple": 3.4}, "tree": {"ll": 0.6, "ll128": 1.25, "simple": 4}}
NET = {"ring": {"ll": 2.7, "ll128": 4, "simple": 14}, "tree": {"ll": 5, "ll128": 8.5, "simple": 14}}


def time(op, algorithm, protocol, nodes, ppn, size):
    """Microseconds, or None where there is none."""
    n, sums = nodes * ppn, op == "all_reduce"
    channels, bandwidth = (12, 30) if ppn > 1 else (2, 24)
    bus, row = channels * bandwidth, min(nodes, 3) - 1
    nsteps = 2 * (n - 1) if sums else n - 1
    most_ll = 141 if nodes == 1 else [39, 39, 20.4][row]
    floor = int(log2(nodes))
    if algorithm == "ring":
        if protocol == "ll":
            bus = min(most_ll, bus / 2)
        if protocol == "ll128":
            bus = min(0.92 * bus, channels * 36.7)
        between = nsteps // (n - 1) * (nodes - 1)
        inside, net = NVLINK["ring"][protocol], NET["tree" if ppn == 1 else "ring"][protocol]
        if nodes > 1:
            inside = max(inside, 3 if protocol == "simple" else 1)
        latency = BASE["ring"][protocol] + (nsteps - between) * inside + between * net
        if protocol == "simple" and sums and nodes > 1 and size / (channels * n) >= 64:
            latency *= 1.4
        return latency + size / (bus * n / nsteps) / 1e3
    if algorithm == "tree" and sums:
        bus = min(0.92 * bus, channels * [38.7, 41.4, 36][row])
        if protocol == "ll":
            bus = min(bus / 3.8, most_ll)
        if protocol == "ll128":
            bus = min(bus * (7 / 9 if nodes == 1 else 120 / 128), channels * [36.7, 36.7, 29][row])
        step = (ppn - 1) * NVLINK["tree"][protocol] + floor * NET["tree"][protocol]
        # A tree of lone GPUs, and the last share of the table, which NCCL's loop does not reach.
        rate, at = bus / 2 * (0.85 if ppn == 1 else 1), int(log2(size / 64))
        return BASE["tree"][protocol] + 2 * step + size / (rate * (CORRECTION[protocol][at] if at < 23 else 1)) / 1e3
    if protocol != "simple":
        return None
    if algorithm == "pat" and ppn == 1 and not sums:
        return 8 + floor * 14 / 3.5 + 2.8 * n + size / (0.75 * bus) / 1e3
    if algorithm in ("nvls", "nvls_tree") and sums and ppn > 1 and (algorithm == "nvls") == (nodes == 1):
        channel = min(40 * 0.85 * 7 / 8 * 2, 60 * (2 if algorithm == "nvls_tree" and nodes <= 2 else 1))
        if algorithm == "nvls_tree":
            channel = min(channel, 57.7 if nodes == 2 else 45.5)
        latency = 25 + (0 if algorithm == "nvls" else 2 * floor * 20.9)
        return latency + size / (8 * channel * n / nsteps) / 1e3
    return None


def choice(op, nodes, ppn, size):
    """The algorithm and the protocol that take least."""
    names = [(a, p) for a in ("ring", "tree", "pat", "nvls", "nvls_tree") for p in ("simple", "ll", "ll128")]
    times = [(t, name) for name in names if (t := time(op, *name, nodes, ppn, size)) is not None]
    return " ".join(min(times, key=lambda pair: pair[0])[1])


for op in ("all_reduce", "all_gather", "reduce_scatter"):
    for ppn in (8, 1):
        for nodes in (1, 2, 3, 4, 8, 16, 32, 128):
            if nodes * ppn > 1:
                row = [choice(op, nodes, ppn, 1 << power) for power in range(10, 35)]
                runs = ", ".join(f"{len(list(run))} {name}" for name, run in groupby(row))
                print(f"{op} {nodes} x {ppn}: {runs}")
