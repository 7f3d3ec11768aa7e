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
#include "ns3/qbb-net-device.h"
#include "ns3/rdma-host.h"

#include <algorithm>

namespace ns3
{

void
QbbHelper::CheckCapture() const
{
    const auto isRdma = [](const Ptr<QbbNode>& node) { return DynamicCast<RdmaHost>(node); };
    const bool isDue = m_captures && m_isStarted;
    NS_ABORT_MSG_IF(isDue && std::any_of(m_nodes.begin(), m_nodes.end(), isRdma) &&
                        !m_network->GetSettings().has_bytes(),
                    "EnablePcap() has nothing to write: frames of the WireProfile \"reference\" "
                    "have no bytes; choose rocev2_ipv4 or rocev2_ipv6");
}

void
QbbHelper::EnablePcapInternal(std::string prefix,
                              Ptr<NetDevice> device,
                              bool,
                              bool explicitFilename)
{
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
