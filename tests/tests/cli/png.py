# SPDX-License-Identifier: GPL-2.0-only
"""Prints the share of pixels of a PNG file (8-bit RGBA) that are not white, in percent. Knows nothing of who wrote it."""

import struct
import sys
import zlib


def chunks(data):
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at = 8
    while at < len(data):
        (length,) = struct.unpack(">I", data[at : at + 4])
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        at += length + 12


def paeth(left, above, corner):
    distances = [abs(left + above - corner - value) for value in (left, above, corner)]
    return (left, above, corner)[distances.index(min(distances))]


def row(kind, line, before):
    """The bytes of a row, from what a filter (section 9 of the specification) made of them."""
    for at, byte in enumerate(line):
        left, corner = (line[at - 4], before[at - 4]) if at >= 4 else (0, 0)
        above = before[at]
        line[at] = byte + (0, left, above, (left + above) // 2, paeth(left, above, corner))[kind] & 255
    return line


parts = list(chunks(open(sys.argv[1], "rb").read()))
width, height, depth, colour = struct.unpack(">IIBB", parts[0][1][:10])
assert (depth, colour) == (8, 6), (depth, colour)
packed = zlib.decompress(b"".join(data for name, data in parts if name == b"IDAT"))
length, before, drawn = 4 * width, bytearray(4 * width), 0
for start in range(0, height * (length + 1), length + 1):
    before = row(packed[start], bytearray(packed[start + 1 : start + 1 + length]), before)
    drawn += sum(before[at : at + 4] != b"\xff\xff\xff\xff" for at in range(0, length, 4))
print(100 * drawn / (width * height))
