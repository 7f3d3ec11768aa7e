/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fast-cnp-host.h"

#include "call-rust.h"
#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/host.rs.h"
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

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FastCnpHost");

NS_OBJECT_ENSURE_REGISTERED(FastCnpHost);

namespace
{

/// Bytes of an Ethernet header and of the check sequence.
constexpr uint32_t ETHERNET_OVERHEAD = 14 + 4;
/// The least that a frame with them has.
constexpr uint32_t ETHERNET_MINIMUM = 64;

} // namespace

TypeId
FastCnpHost::GetTypeId()
{
    static TypeId tid =
        AddSettings(TypeId("ns3::FastCnpHost")
                        .SetParent<Object>()
                        .SetGroupName("Hpcc")
                        .AddConstructor<FastCnpHost>()
                        .AddTraceSource("Accepted",
                                        "A notification is believed, even if it has no effect",
                                        MakeTraceSourceAccessor(&FastCnpHost::m_acceptedTrace),
                                        "ns3::FastCnpHost::AcceptedTracedCallback")
                        .AddTraceSource("Refused",
                                        "A notification is not believed",
                                        MakeTraceSourceAccessor(&FastCnpHost::m_refusedTrace),
                                        "ns3::FastCnpHost::RefusedTracedCallback")
                        .AddTraceSource("Migrated",
                                        "A flow takes another UDP source port",
                                        MakeTraceSourceAccessor(&FastCnpHost::m_migrationTrace),
                                        "ns3::FastCnpHost::MigrationTracedCallback"),
                    hpcc::fast_cnp_host_settings());
    return tid;
}

FastCnpHost::FastCnpHost()
{
    NS_LOG_FUNCTION(this);
}

FastCnpHost::FastCnpHost(const FastCnpHost& other)
    : Object(other),
      SettingsOwner(other)
{
    NS_LOG_FUNCTION(this << &other);
}

FastCnpHost::~FastCnpHost()
{
    NS_LOG_FUNCTION(this);
}

void
FastCnpHost::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_core.reset();
    m_serializer.reset();
    Object::DoDispose();
}

bool
FastCnpHost::IsEnabled() const
{
    return m_core ? m_core->is_enabled() : GetSettings().accepts_fast_cnp();
}

void
FastCnpHost::Start(const hpcc::Network& network, const QbbNode& node)
{
    NS_LOG_FUNCTION(this);
    m_core = FromRust(CallRust([&] {
        return hpcc::new_fast_cnp_host(network, node.GetIndex(), GetSettings(), node.GetSettings());
    }));
    if (!m_core->is_enabled() && node.GetSettings().has_bytes())
    {
        m_serializer = std::make_unique<FrameSerializer>(node.GetSettings());
    }
    for (const auto& reason : hpcc::fast_cnp_refusals())
    {
        m_reasons.emplace_back(reason);
    }
}

void
FastCnpHost::Connect(uint32_t dstAddress, uint32_t receiver, uint32_t queuePair)
{
    if (m_core->is_enabled())
    {
        m_core->connect(dstAddress, receiver, queuePair);
    }
}

void
FastCnpHost::Disconnect(uint32_t dstAddress, uint32_t receiver)
{
    if (m_core->is_enabled())
    {
        m_core->disconnect(dstAddress, receiver);
    }
}

hpcc::FastCnpReaction
FastCnpHost::React(const QbbFrame& frame, hpcc::Host& host, hpcc::Rng& rng)
{
    NS_LOG_FUNCTION(this << frame.src << frame.queuePair);
    return m_core->on_notification(frame.receiver->GetNow(),
                                   frame.srcAddress,
                                   frame.queuePair,
                                   {frame.GetTelemetry(), frame.telemetryBytes},
                                   host,
                                   rng);
}

void
FastCnpHost::Tell(const QbbFrame& frame, const hpcc::FastCnpReaction& reaction)
{
    if (reaction.refused >= 0)
    {
        if (!m_refusedTrace.IsEmpty())
        {
            m_refusedTrace(frame, m_reasons[reaction.refused]);
        }
        return;
    }
    m_acceptedTrace(frame, reaction.queue_pair);
    if (reaction.sport != 0)
    {
        m_migrationTrace(reaction.queue_pair, reaction.sport);
    }
}

bool
FastCnpHost::Report(const QbbFrame& notification, QbbFrame& report)
{
    NS_LOG_FUNCTION(this << notification.src);
    if (!m_serializer)
    {
        return false;
    }
    const Ptr<Packet> packet =
        m_serializer->Serialize(notification, Mac48Address(), Mac48Address());
    std::vector<uint8_t> bytes(packet->GetSize());
    packet->CopyData(bytes.data(), packet->GetSize());
    const rust::Vec<uint8_t> answer =
        m_core->report(notification.receiver->GetNow(), {bytes.data(), bytes.size()});
    if (answer.empty() || answer.size() > report.GetRoom())
    {
        return false;
    }
    std::copy(answer.begin(), answer.end(), report.GetTelemetry());
    report.kind = QbbFrame::Kind::ICMPV6;
    report.telemetryBytes = static_cast<uint16_t>(answer.size());
    report.size = std::max(ETHERNET_MINIMUM, ETHERNET_OVERHEAD + report.telemetryBytes);
    return true;
}

bool
FastCnpHost::IsNotifying() const
{
    return m_core && m_core->notifies();
}

void
FastCnpHost::Fill(const QbbFrame& data, QbbFrame& notification) const
{
    NS_LOG_FUNCTION(this << data.queuePair);
    notification.kind = QbbFrame::Kind::FAST_CNP;
    notification.sport = data.sport;
    notification.dport = data.dport;
    notification.queuePair = data.queuePair;
    notification.replyQueuePair = 0;
    notification.telemetryBytes = static_cast<uint16_t>(
        m_core->write_options({data.GetTelemetry(), data.telemetryBytes},
                              {notification.GetTelemetry(), notification.GetRoom()}));
}

hpcc::FastCnpCounters
FastCnpHost::GetCounters() const
{
    return m_core ? m_core->counters() : hpcc::FastCnpCounters{};
}

uint64_t
FastCnpHost::GetAccepted() const
{
    return GetCounters().accepted;
}

uint64_t
FastCnpHost::GetRefused(const std::string& reason) const
{
    const auto place = std::find(m_reasons.begin(), m_reasons.end(), reason);
    NS_ABORT_MSG_IF(place == m_reasons.end(),
                    "no notification is refused for the reason \"" << reason << "\"");
    return GetCounters().refused[place - m_reasons.begin()];
}

uint64_t
FastCnpHost::GetReports() const
{
    return GetCounters().reports;
}

uint64_t
FastCnpHost::GetMigrations() const
{
    return GetCounters().migrations;
}

} // namespace ns3
