/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Captures, and traces as text.
#include "frame-ascii-trace.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-helper.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/qbb-net-device.h"
#include "ns3/rdma-host.h"

#include <algorithm>

namespace ns3
{

namespace
{

/**
 * \brief End the program if a node has no device yet: ns-3's helpers would pass it over in silence.
 * \param nodes the nodes whose devices are to be followed
 */
void
CheckLinked(const NodeContainer& nodes)
{
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        NS_ABORT_MSG_UNLESS(
            (*node)->GetNDevices(),
            "node " << (*node)->GetId()
                    << " has no device yet that could be traced or captured; link it before");
    }
}

/// End the program if no node has a device yet.
void
CheckAnyLinked()
{
    const NodeContainer nodes = NodeContainer::GetGlobal();
    NS_ABORT_MSG_UNLESS(
        std::any_of(nodes.Begin(),
                    nodes.End(),
                    [](const Ptr<Node>& node) { return node->GetNDevices() != 0; }),
        "no node has a device yet that could be traced or captured; link them before");
}

/**
 * \brief End the program if there is no such device, which ns-3's helpers pass over in silence.
 * \param node id of its node
 * \param device its number at the node
 */
void
CheckDevice(uint32_t node, uint32_t device)
{
    const uint32_t nodes = NodeList::GetNNodes();
    NS_ABORT_MSG_UNLESS(node < nodes,
                        "there is no node " << node << " that could be traced or captured; there "
                                            << "are " << nodes << " nodes, numbered from 0");
    const uint32_t devices = NodeList::GetNode(node)->GetNDevices();
    NS_ABORT_MSG_UNLESS(device < devices,
                        "node " << node << " has no device " << device
                                << " that could be traced or captured; it has " << devices);
}

} // namespace

void
QbbHelper::EnablePcap(std::string prefix, uint32_t node, uint32_t device, bool promiscuous)
{
    CheckDevice(node, device);
    PcapHelperForDevice::EnablePcap(prefix, node, device, promiscuous);
}

void
QbbHelper::EnableAscii(std::string prefix, uint32_t node, uint32_t device, bool explicitFilename)
{
    CheckDevice(node, device);
    AsciiTraceHelperForDevice::EnableAscii(prefix, node, device, explicitFilename);
}

void
QbbHelper::EnableAscii(Ptr<OutputStreamWrapper> stream, uint32_t node, uint32_t device)
{
    CheckDevice(node, device);
    AsciiTraceHelperForDevice::EnableAscii(stream, node, device);
}

void
QbbHelper::EnablePcap(std::string prefix, NodeContainer nodes, bool promiscuous)
{
    CheckLinked(nodes);
    PcapHelperForDevice::EnablePcap(prefix, nodes, promiscuous);
}

void
QbbHelper::EnablePcapAll(std::string prefix, bool promiscuous)
{
    CheckAnyLinked();
    PcapHelperForDevice::EnablePcapAll(prefix, promiscuous);
}

void
QbbHelper::EnableAscii(std::string prefix, NodeContainer nodes)
{
    CheckLinked(nodes);
    AsciiTraceHelperForDevice::EnableAscii(prefix, nodes);
}

void
QbbHelper::EnableAscii(Ptr<OutputStreamWrapper> stream, NodeContainer nodes)
{
    CheckLinked(nodes);
    AsciiTraceHelperForDevice::EnableAscii(stream, nodes);
}

void
QbbHelper::EnableAsciiAll(std::string prefix)
{
    CheckAnyLinked();
    AsciiTraceHelperForDevice::EnableAsciiAll(prefix);
}

void
QbbHelper::EnableAsciiAll(Ptr<OutputStreamWrapper> stream)
{
    CheckAnyLinked();
    AsciiTraceHelperForDevice::EnableAsciiAll(stream);
}

void
QbbHelper::CheckCapture() const
{
    const auto isRdma = [](const Ptr<QbbNode>& node) { return DynamicCast<RdmaHost>(node); };
    const bool isDue = m_captures && m_isStarted;
    NS_ABORT_MSG_IF(isDue && std::any_of(m_nodes.begin(), m_nodes.end(), isRdma) &&
                        !m_nodes.front()->GetSettings().has_bytes(),
                    "EnablePcap() has nothing to write: frames of the WireProfile \"reference\" "
                    "have no bytes; choose rocev2_ipv4 or rocev2_ipv6");
}

void
QbbHelper::EnablePcapInternal(std::string prefix,
                              Ptr<NetDevice> device,
                              bool,
                              bool explicitFilename)
{
    NS_ABORT_MSG_UNLESS(device, "a null pointer is no device");
    if (!DynamicCast<QbbNetDevice>(device))
    {
        return;
    }
    m_captures = true;
    CheckCapture();
    PcapHelper pcap;
    const std::string name = explicitFilename ? prefix : pcap.GetFilenameFromDevice(prefix, device);
    // Not PcapHelper::CreateFile(), whose time stamps are microseconds.
    const auto file = CreateObject<PcapFileWrapper>();
    file->SetAttribute("NanosecMode", BooleanValue(true));
    file->Open(name, std::ios::out);
    NS_ABORT_MSG_IF(file->Fail(), "cannot write " << name);
    constexpr uint32_t ETHERNET = 1;
    file->Init(ETHERNET);
    pcap.HookDefaultSink(DynamicCast<QbbNetDevice>(device), "PromiscSniffer", file);
}

void
QbbHelper::EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                               std::string prefix,
                               Ptr<NetDevice> device,
                               bool explicitFilename)
{
    NS_ABORT_MSG_UNLESS(device, "a null pointer is no device");
    const auto port = DynamicCast<QbbNetDevice>(device);
    if (!port)
    {
        return;
    }
    if (!stream)
    {
        AsciiTraceHelper ascii;
        stream = ascii.CreateFileStream(
            explicitFilename ? prefix : ascii.GetFilenameFromDevice(prefix, device));
    }
    TraceFramesAsText(*port, stream);
}

} // namespace ns3
