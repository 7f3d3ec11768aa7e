/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "fast-cnp-host.h"

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

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FastCnpHost");

NS_OBJECT_ENSURE_REGISTERED(FastCnpHost);

TypeId
FastCnpHost::GetTypeId()
{
    static TypeId tid = AddSettings(
        TypeId("ns3::FastCnpHost")
            .SetParent<Object>()
            .SetGroupName("Hpcc")
            .AddConstructor<FastCnpHost>()
            .AddTraceSource("Accepted",
                            "A notification is believed, even if it has no effect",
                            MakeLateTraceAccessor<FastCnpHost>([](FastCnpHost & host) -> auto& {
                                host.Watch();
                                return host.m_acceptedTrace;
                            }),
                            "ns3::FastCnpHost::AcceptedTracedCallback")
            .AddTraceSource("Refused",
                            "A notification is not believed",
                            MakeLateTraceAccessor<FastCnpHost>([](FastCnpHost & host) -> auto& {
                                host.Watch();
                                return host.m_refusedTrace;
                            }),
                            "ns3::FastCnpHost::RefusedTracedCallback")
            .AddTraceSource("Migrated",
                            "A flow takes another UDP source port",
                            MakeLateTraceAccessor<FastCnpHost>([](FastCnpHost & host) -> auto& {
                                host.Watch();
                                return host.m_migrationTrace;
                            }),
                            "ns3::FastCnpHost::MigrationTracedCallback"),
        hpcc::attributes_of(hpcc::Holder::FastCnpHost));
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
    m_owner = nullptr;
    Object::DoDispose();
}

bool
FastCnpHost::IsEnabled() const
{
    return m_isEnabled;
}

void
FastCnpHost::Start(const QbbNode& node)
{
    NS_LOG_FUNCTION(this);
    m_owner = &node;
    m_isEnabled =
        hpcc::accepts_notifications(node.GetNetwork().Look(), node.GetIndex(), GetSettings());
    if (LogsEvents(g_log))
    {
        Watch();
    }
}

void
FastCnpHost::Watch()
{
    // A host is aggregated as soon as it is made.
    GetObject<QbbNode>()->WatchEvents();
}

hpcc::FastCnpCounters
FastCnpHost::GetCounters() const
{
    return m_owner ? m_owner->GetNetwork().Look().fast_cnp_counters(m_owner->GetIndex())
                   : hpcc::FastCnpCounters{};
}

void
FastCnpHost::OnNotice(const hpcc::Notice& notice, const QbbFrame& frame)
{
    if (notice.kind == hpcc::NoticeKind::Accepted)
    {
        NS_LOG_INFO(m_owner->Describe() << " heeds " << frame);
        m_acceptedTrace(frame, notice.queue_pair);
    }
    else if (notice.kind == hpcc::NoticeKind::Refused)
    {
        const std::string reason(hpcc::fast_cnp_refusals()[notice.value]);
        NS_LOG_WARN(m_owner->Describe() << " refuses (" << reason << ") " << frame);
        m_refusedTrace(frame, reason);
    }
    else if (notice.kind == hpcc::NoticeKind::Migrated)
    {
        m_migrationTrace(notice.queue_pair, static_cast<uint16_t>(notice.value));
    }
}

uint64_t
FastCnpHost::GetAccepted() const
{
    return GetCounters().accepted;
}

uint64_t
FastCnpHost::GetRefused(const std::string& reason) const
{
    const auto reasons = hpcc::fast_cnp_refusals();
    const auto place = std::find(reasons.begin(), reasons.end(), reason);
    NS_ABORT_MSG_IF(place == reasons.end(),
                    "no notification is refused for the reason \"" << reason << "\"");
    return GetCounters().refused[place - reasons.begin()];
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
