# SPDX-License-Identifier: GPL-2.0-only
"""Reads frames as scapy does: lines `LAYOUT HEX` in, a line of JSON for each out.

Telemetry is removed first, as a receiver does: the section goes, and the IP length, the UDP length, the DSCP and the
next header become those of the packet without it. Checksums are left alone, for the ICRC does not cover them.
"""

import json
import sys

from scapy.contrib.mac_control import MACControlClassBasedFlowControl as Pfc
from scapy.contrib.roce import AETH, BTH
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether

ETHERNET = 14
# Low bits of the DSCP, which is the upper part of the traffic class.
MARKS = {"paper": 1, "draft": 1, "int_md": 2}


def number(frame, at):
    return int.from_bytes(frame[at : at + 2], "big")


def subtract(frame, at, length):
    frame[at : at + 2] = (number(frame, at) - length).to_bytes(2, "big")


def behind_udp(layout, section):
    """Bytes of telemetry behind the UDP header."""
    if layout == "paper":
        return 2 + 8 * (section[0] >> 4)
    if layout == "draft":
        return 4 + 8 * (section[0] >> 4)
    if layout == "int_md":
        return 4 + 4 * section[1]
    return 4 + 4 * section[3]  # IFA: the metadata header counts the words of the stack.


def traffic_class(frame, ipv6):
    return number(frame, ETHERNET) >> 4 & 0xFF if ipv6 else frame[ETHERNET + 1]


def mark(frame, ipv6, bits):
    """Takes a mark out of the DSCP."""
    if ipv6:
        frame[ETHERNET : ETHERNET + 2] = (number(frame, ETHERNET) & ~(bits << 6)).to_bytes(2, "big")
    else:
        frame[ETHERNET + 1] &= ~(bits << 2)


def without_telemetry(layout, frame):
    frame = bytearray(frame)
    ipv6 = frame[ETHERNET] >> 4 == 6
    udp = ETHERNET + (40 if ipv6 else 20)
    protocol_at, length_at = (ETHERNET + 6, ETHERNET + 4) if ipv6 else (ETHERNET + 9, ETHERNET + 2)
    removed = 0
    if ipv6 and frame[protocol_at] == 0:
        removed = 8 * (frame[udp + 1] + 1)
        frame[protocol_at] = frame[udp]
        del frame[udp : udp + removed]
    elif frame[protocol_at] == 253:
        frame[protocol_at] = frame[udp + 1]
        del frame[udp : udp + 4]
        length = behind_udp(layout, frame[udp + 8 :])
        del frame[udp + 8 : udp + 8 + length]
        removed = 4 + length
    elif traffic_class(frame, ipv6) >> 2 & 7 == MARKS.get(layout):
        removed = behind_udp(layout, frame[udp + 8 :])
        del frame[udp + 8 : udp + 8 + removed]
        mark(frame, ipv6, MARKS[layout])
        subtract(frame, udp + 4, removed)
    subtract(frame, length_at, removed)
    return bytes(frame)


def pfc(frame):
    classes = range(8)
    return {
        "dst": frame.dst,
        "enabled": [frame[Pfc].getfieldval(f"c{n}_enabled") for n in classes],
        "quanta": [frame[Pfc].getfieldval(f"c{n}_pause_time") for n in classes],
        "rest": bytes(frame[Pfc].payload).hex(),
    }


def roce(frame):
    bth = frame[BTH]
    ip = frame[IPv6] if IPv6 in frame else frame[IP]
    said = {
        "tos": ip.tc if IPv6 in frame else ip.tos,
        "hop_limit": ip.hlim if IPv6 in frame else ip.ttl,
        "sport": frame[UDP].sport,
        "opcode": bth.opcode,
        "fecn": bth.fecn,
        "becn": bth.becn,
        "ackreq": bth.ackreq,
        "pad": bth.padcount,
        "dqpn": bth.dqpn,
        "psn": bth.psn,
        "icrc": bth.icrc.to_bytes(4, "big").hex(),
        "computed": bth.compute_icrc(bytes(bth)).hex(),
    }
    if AETH in frame:
        said["aeth"] = [frame[AETH].syndrome, frame[AETH].msn]
    return said


for line in sys.stdin:
    layout, digits = line.split()
    raw = bytes.fromhex(digits)
    if raw[12:14] == b"\x88\x08":
        print(json.dumps(pfc(Ether(raw))))
    else:
        print(json.dumps(roce(Ether(without_telemetry(layout, raw)))))
