// SPDX-License-Identifier: GPL-2.0-only
//! One small experiment - two flows to one of three hosts - in both formats.

/// Files in the 2019 simulator's format.
pub const REFERENCE: &[(&str, &str)] = &[
    (
        "config.txt",
        "PACKET_PAYLOAD_SIZE 1000\n\
         TOPOLOGY_FILE topology.txt\n\
         FLOW_FILE flow.txt\n\
         CC_MODE 3\n\
         SIMULATOR_STOP_TIME 2.01\n\
         RATE_AI 50Mb/s\n\
         MIN_RATE 1000Mb/s\n\
         L2_CHUNK_SIZE 4000\n\
         L2_ACK_INTERVAL 1\n\
         U_TARGET 0.95\n\
         INT_MULTI 4\n\
         ENABLE_TRACE 0\n\
         KMAX_MAP 2 25000000000 400 100000000000 1600\n\
         KMIN_MAP 2 25000000000 100 100000000000 400\n\
         PMAX_MAP 2 25000000000 0.2 100000000000 0.2\n\
         BUFFER_SIZE 32\n\
         QLEN_MON_END 2000000000\n",
    ),
    ("topology.txt", "4 1 3\n3\n0 3 100Gbps 1000ns 0\n1 3 100Gbps 1000ns 0\n2 3 100Gbps 1000ns 0\n"),
    ("flow.txt", "2\n0 2 3 100 100000 2.000000\n1 2 3 100 200000 2.000005\n"),
];

/// The same experiments as TOML.
pub const TOML: &[(&str, &str)] = &[(
    "scenario.toml",
    "[run]\n\
     stop = \"10ms\"\n\
     \n\
     [topology]\n\
     kind = \"links\"\n\
     hosts = 3\n\
     switches = 1\n\
     rate = \"100Gbps\"\n\
     delay = \"1us\"\n\
     links = [\n\
     \x20   { a = 0, b = 3 },\n\
     \x20   { a = 1, b = 3 },\n\
     \x20   { a = 2, b = 3 },\n\
     ]\n\
     \n\
     [congestion_control]\n\
     eta = 0.95\n\
     \n\
     [[traffic]]\n\
     kind = \"flow\"\n\
     src = 0\n\
     dst = 2\n\
     size = \"100KB\"\n\
     \n\
     [[traffic]]\n\
     kind = \"flow\"\n\
     src = 1\n\
     dst = 2\n\
     size = \"200KB\"\n\
     start = \"5us\"\n\
     \n\
     [monitor]\n\
     queue_interval = \"1us\"\n\
     goodput_interval = \"2us\"\n",
)];
