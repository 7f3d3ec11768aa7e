# SPDX-License-Identifier: GPL-2.0-only
# Distributed storage of Alibaba (2019): mostly small flows; percentages rounded to halves.
# Flow size in bytes, then the percentage of flows up to this size; linear between points.
0 0
4000 23
8000 69
16000 80.5
32000 90.5
64000 93.5
128000 97
256000 97.5
2000000 100
