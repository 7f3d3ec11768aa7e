#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# Examples that test.py runs: (command, whether to run it, whether to run it under valgrind).
cpp_examples = [
    ("hpcc-attack-example --stop=1ms", "True", "True"),
    ("hpcc-leaf-spine-example", "True", "True"),
    ("hpcc-pfc-example", "True", "True"),
    ("hpcc-shared-example", "True", "True"),
    ("hpcc-bridge-cost --calls=1000", "True", "True"),
    ("hpcc-tcp-example --stop=1ms", "True", "True"),
    ("hpcc-tcp-example --stop=1ms --datagrams", "True", "True"),
    ("hpcc-pfc-example --ns3::RdmaHost::CongestionControl=none --ns3::RdmaHost::Window=false", "True", "False"),
]

python_examples = []
