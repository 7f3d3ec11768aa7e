/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What programs must not do with captures and text traces.
#include "hpcc-tests.h"

#include "ns3/node.h"
#include "ns3/trace-helper.h"

namespace ns3
{
namespace tests
{

TestCases
MakeTraceMisuseTests()
{
    return {
        MakeMisuseTest("a capture of frames without bytes",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.EnablePcap("none", network.GetHostDevice(0));
                                   }),
                       "frames of the WireProfile \"reference\" have no bytes"),
        MakeMisuseTest("such a capture before the start",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       network.helper.EnablePcap("none", network.GetHostDevice(0));
                                       network.helper.Start();
                                   }),
                       "frames of the WireProfile \"reference\" have no bytes"),
        MakeMisuseTest("a capture at no device",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.EnablePcap("none", Ptr<NetDevice>(nullptr));
                                   }),
                       "a null pointer is no device"),
        MakeMisuseTest("a text trace of no device",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.EnableAscii("none", Ptr<NetDevice>(nullptr));
                                   }),
                       "a null pointer is no device"),
        MakeMisuseTest(
            "captures of a node before its links are made",
            []() { QbbHelper().EnablePcap("capture", NodeContainer(1)); },
            "has no device yet that could be traced or captured; link it before"),
        MakeMisuseTest(
            "captures of all nodes before links are made",
            []() {
                const NodeContainer nodes(2);
                QbbHelper().EnablePcapAll("capture");
            },
            "no node has a device yet that could be traced or captured; link them before"),
        MakeMisuseTest(
            "lines of a node before its links are made",
            []() { QbbHelper().EnableAscii("lines", NodeContainer(1)); },
            "has no device yet that could be traced or captured; link it before"),
        MakeMisuseTest(
            "lines of all nodes before links are made",
            []() {
                const NodeContainer nodes(2);
                QbbHelper().EnableAsciiAll("lines");
            },
            "no node has a device yet that could be traced or captured; link them before"),
        MakeMisuseTest(
            "a capture at a node that there is not",
            WithNetwork(false,
                        [](TestNetwork& network) { network.helper.EnablePcap("capture", 7, 0); }),
            "there is no node 7 that could be traced or captured; there are 3 nodes"),
        MakeMisuseTest(
            "a capture at a device that there is not",
            WithNetwork(false,
                        [](TestNetwork& network) { network.helper.EnablePcap("capture", 0, 1); }),
            "node 0 has no device 1 that could be traced or captured; it has 1"),
        MakeMisuseTest("a text trace of a node that there is not",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       network.helper.EnableAscii("lines", 7, 0, false);
                                   }),
                       "there is no node 7 that could be traced or captured"),
        MakeMisuseTest("lines of a node that there is not",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       AsciiTraceHelper ascii;
                                       const auto lines = ascii.CreateFileStream("lines");
                                       network.helper.EnableAscii(lines, 7, 0);
                                   }),
                       "there is no node 7 that could be traced or captured"),
    };
}

} // namespace tests
} // namespace ns3
