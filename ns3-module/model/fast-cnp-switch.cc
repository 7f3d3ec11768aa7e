/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fast-cnp-switch.h"

#include "call-rust.h"
#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/random.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-frame.h"
#include "qbb-net-device.h"
#include "qbb-node.h"
#include "setting-attributes.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/trace-source-accessor.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FastCnpSwitch");

NS_OBJECT_ENSURE_REGISTERED(FastCnpSwitch);

TypeId
FastCnpSwitch::GetTypeId()
{
    static TypeId tid =
        AddSettings(TypeId("ns3::FastCnpSwitch")
                        .SetParent<Object>()
                        .SetGroupName("Hpcc")
                        .AddConstructor<FastCnpSwitch>()
                        .AddTraceSource("Sent",
                                        "A notification is sent",
                                        MakeTraceSourceAccessor(&FastCnpSwitch::m_sentTrace),
                                        "ns3::QbbNetDevice::FrameTracedCallback")
                        .AddTraceSource("Withheld",
                                        "A frame met congestion, but its sender is not notified",
                                        MakeTraceSourceAccessor(&FastCnpSwitch::m_withheldTrace),
                                        "ns3::FastCnpSwitch::WithheldTracedCallback")
                        .AddTraceSource("Learnt",
                                        "A sender said that it does not understand notifications",
                                        MakeTraceSourceAccessor(&FastCnpSwitch::m_learntTrace),
                                        "ns3::FastCnpSwitch::LearntTracedCallback")
                        .AddTraceSource("BorderDrop",
                                        "A notification was dropped at the edge of the domain",
                                        MakeTraceSourceAccessor(&FastCnpSwitch::m_borderTrace),
                                        "ns3::FastCnpSwitch::BorderTracedCallback"),
                    hpcc::fast_cnp_switch_settings());
    return tid;
}

FastCnpSwitch::FastCnpSwitch()
{
    NS_LOG_FUNCTION(this);
}

FastCnpSwitch::FastCnpSwitch(const FastCnpSwitch& other)
    : Object(other),
      SettingsOwner(other)
{
    NS_LOG_FUNCTION(this << &other);
}

FastCnpSwitch::~FastCnpSwitch()
{
    NS_LOG_FUNCTION(this);
}

void
FastCnpSwitch::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_core.reset();
    m_serializer.reset();
    Object::DoDispose();
}

bool
FastCnpSwitch::IsEnabled() const
{
    return GetSettings().uses_fast_cnp();
}

void
FastCnpSwitch::SetBorder(uint16_t port)
{
    NS_LOG_FUNCTION(this << port);
    m_borders.insert(port);
}

bool
FastCnpSwitch::Start(const hpcc::Network& network, const QbbNode& node)
{
    NS_LOG_FUNCTION(this);
    m_enabled = IsEnabled();
    if (!m_enabled && m_borders.empty())
    {
        return false;
    }
    m_core = FromRust(CallRust([&] {
        return hpcc::new_fast_cnp_switch(network,
                                         node.GetIndex(),
                                         GetSettings(),
                                         node.GetSettings());
    }));
    for (const auto& reason : hpcc::fast_cnp_withheld())
    {
        m_reasons.emplace_back(reason);
    }
    if (!m_borders.empty())
    {
        CallRust([&] { hpcc::check_border(node.GetIndex(), node.GetSettings()); });
        m_serializer = std::make_unique<FrameSerializer>(node.GetSettings());
    }
    return true;
}

hpcc::FastCnpVerdict
FastCnpSwitch::OnData(const QbbNetDevice& out, const QbbFrame& frame, bool marked, hpcc::Rng& rng)
{
    if (!m_enabled)
    {
        return {false, marked, -1};
    }
    const hpcc::FastCnpDeparture departure{frame.srcAddress,
                                           frame.dstAddress,
                                           frame.queuePair,
                                           out.GetQueuedBytes(frame.priority),
                                           marked};
    const hpcc::FastCnpVerdict verdict =
        m_core->on_data(out.GetPortNumber(), out.GetNow(), departure, rng);
    if (verdict.withheld >= 0 && !m_withheldTrace.IsEmpty())
    {
        m_withheldTrace(frame, m_reasons[verdict.withheld]);
    }
    return verdict;
}

void
FastCnpSwitch::OnSent(const QbbNetDevice& out, const QbbFrame& frame)
{
    m_core->on_sent(out.GetPortNumber(), out.GetNow(), frame.size);
}

void
FastCnpSwitch::Fill(const QbbFrame& data, uint32_t node, uint32_t address, QbbFrame& notification)
{
    NS_LOG_FUNCTION(this << data.queuePair);
    notification.kind = QbbFrame::Kind::FAST_CNP;
    notification.src = node;
    notification.srcAddress = address;
    notification.dst = data.src;
    notification.dstAddress = data.srcAddress;
    notification.sport = data.sport;
    notification.dport = data.dport;
    notification.queuePair = data.queuePair;
    notification.mtu = data.mtu;
    notification.telemetryBytes = static_cast<uint16_t>(
        m_core->write_options(data.dstAddress,
                              {data.GetTelemetry(), data.telemetryBytes},
                              {notification.GetTelemetry(), notification.GetRoom()}));
    notification.size = m_core->notification_bytes(notification.telemetryBytes);
    m_sentTrace(notification);
}

void
FastCnpSwitch::Receive(const QbbFrame& frame)
{
    NS_LOG_FUNCTION(this << frame.size);
    if (frame.kind == QbbFrame::Kind::ICMPV6 &&
        m_core->learn(frame.receiver->GetNow(), {frame.GetTelemetry(), frame.telemetryBytes}))
    {
        m_learntTrace(frame.src);
    }
}

bool
FastCnpSwitch::Passes(const QbbNetDevice& port, const QbbFrame& frame, bool inbound)
{
    if (!m_borders.count(port.GetPortNumber()))
    {
        return true;
    }
    // The border reads bytes, as on the wire: it recognises a notification by its option, not by
    // the simulated frame's kind.
    const Ptr<Packet> packet = m_serializer->Serialize(frame, Mac48Address(), Mac48Address());
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    const bool passes = m_core->passes({bytes.data(), bytes.size()}, inbound);
    if (!passes)
    {
        m_borderTrace(frame, inbound);
    }
    return passes;
}

hpcc::FastCnpCounters
FastCnpSwitch::GetCounters() const
{
    return m_core ? m_core->counters() : hpcc::FastCnpCounters{};
}

uint64_t
FastCnpSwitch::GetSent() const
{
    return GetCounters().sent;
}

uint64_t
FastCnpSwitch::GetBorderDrops() const
{
    const hpcc::FastCnpCounters counters = GetCounters();
    return counters.dropped_inbound + counters.dropped_outbound;
}

} // namespace ns3
