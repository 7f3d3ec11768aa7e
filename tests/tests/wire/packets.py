# SPDX-License-Identifier: GPL-2.0-only
"""Packets of an interface as lines of hexadecimal digits.

`send INTERFACE` sends those of standard input. `capture INTERFACE DESTINATION COUNT` says that it is ready, then prints
so many that come in for an IPv6 address with a hop-by-hop header; it gives up after a while.
"""

import socket
import sys
import time

IPV6 = 0x86DD
SECONDS = 60

mode, interface = sys.argv[1:3]
link = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(IPV6))
link.bind((interface, IPV6))
if mode == "send":
    for line in sys.stdin:
        link.send(bytes.fromhex(line))
    sys.exit()
destination, count = socket.inet_pton(socket.AF_INET6, sys.argv[3]), int(sys.argv[4])
print("ready", flush=True)
end = time.monotonic() + SECONDS
while count and time.monotonic() < end:
    link.settimeout(max(end - time.monotonic(), 0.001))
    try:
        packet, (_, _, direction, *_) = link.recvfrom(65535)
    except socket.timeout:
        break
    if direction != socket.PACKET_OUTGOING and packet[20] == 0 and packet[38:54] == destination:
        print(packet.hex(), flush=True)
        count -= 1
