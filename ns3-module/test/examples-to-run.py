#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# Examples that test.py runs: (command, whether to run it, whether to run it under valgrind).
cpp_examples = [
    ("hpcc-attack-example --stop=1ms", "True", "True"),
    ("hpcc-background-example", "True", "False"),
    ("hpcc-fairness-example --step=100us", "True", "True"),
    ("hpcc-leaf-spine-example", "True", "True"),
    ("hpcc-opened-example", "True", "True"),
    ("hpcc-own-balancer-example --size=100kB", "True", "True"),
    ("hpcc-reactive-example", "True", "True"),
    ("hpcc-tcp-example --stop=1ms", "True", "True"),
    ("hpcc-tcp-example --stop=1ms --datagrams", "True", "True"),
]

python_examples = []
