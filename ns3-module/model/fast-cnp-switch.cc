/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fast-cnp-switch.h"

#include "engine-network.h"
#include "event-log.h"
#include "late-trace.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/notices.rs.h"
#include "ns3-bridge/src/settings.rs.h"
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
    static TypeId tid = AddSettings(
        TypeId("ns3::FastCnpSwitch")
            .SetParent<Object>()
            .SetGroupName("Hpcc")
            .AddConstructor<FastCnpSwitch>()
            .AddTraceSource(
                "Sent",
                "A notification is sent",
                MakeLateTraceAccessor<FastCnpSwitch>([](FastCnpSwitch & agent) -> auto& {
                    agent.Watch();
                    return agent.m_sentTrace;
                }),
                "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource(
                "Withheld",
                "A frame met congestion, but its sender is not notified",
                MakeLateTraceAccessor<FastCnpSwitch>([](FastCnpSwitch & agent) -> auto& {
                    agent.Watch();
                    return agent.m_withheldTrace;
                }),
                "ns3::FastCnpSwitch::WithheldTracedCallback")
            .AddTraceSource(
                "Learnt",
                "A sender said that it does not understand notifications",
                MakeLateTraceAccessor<FastCnpSwitch>([](FastCnpSwitch & agent) -> auto& {
                    agent.Watch();
                    return agent.m_learntTrace;
                }),
                "ns3::FastCnpSwitch::LearntTracedCallback")
            .AddTraceSource(
                "BorderDrop",
                "A notification was dropped at the edge of the domain",
                MakeLateTraceAccessor<FastCnpSwitch>([](FastCnpSwitch & agent) -> auto& {
                    agent.Watch();
                    return agent.m_borderTrace;
                }),
                "ns3::FastCnpSwitch::BorderTracedCallback"),
        hpcc::attributes_of(hpcc::Holder::FastCnpSwitch));
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
    m_owner = nullptr;
    Object::DoDispose();
}

void
FastCnpSwitch::Start(const QbbNode& node)
{
    NS_LOG_FUNCTION(this);
    m_owner = &node;
    if (LogsEvents(g_log))
    {
        Watch();
    }
}

void
FastCnpSwitch::Watch()
{
    // A switch is aggregated as soon as it is made.
    GetObject<QbbNode>()->WatchEvents();
}

hpcc::FastCnpCounters
FastCnpSwitch::GetCounters() const
{
    return m_owner ? m_owner->GetNetwork().Look().fast_cnp_counters(m_owner->GetIndex())
                   : hpcc::FastCnpCounters{};
}

void
FastCnpSwitch::OnNotice(const hpcc::Notice& notice, const QbbFrame& frame)
{
    if (notice.kind == hpcc::NoticeKind::Notified)
    {
        NS_LOG_INFO(m_owner->Describe() << " notifies by " << frame);
        m_sentTrace(frame);
    }
    else if (notice.kind == hpcc::NoticeKind::Withheld)
    {
        const std::string reason(hpcc::fast_cnp_withheld()[notice.value]);
        NS_LOG_INFO(m_owner->Describe() << " does not notify (" << reason << ") of " << frame);
        m_withheldTrace(frame, reason);
    }
    else if (notice.kind == hpcc::NoticeKind::Learnt)
    {
        m_learntTrace(static_cast<uint32_t>(notice.value));
    }
    else if (notice.kind == hpcc::NoticeKind::Stopped)
    {
        NS_LOG_INFO(m_owner->Describe() << " drops at the edge of the domain " << frame);
        m_borderTrace(frame, notice.flag);
    }
}

uint64_t
FastCnpSwitch::GetSent() const
{
    return GetCounters().sent;
}

uint64_t
FastCnpSwitch::GetBorderDrops() const
{
    return GetCounters().dropped;
}

} // namespace ns3
