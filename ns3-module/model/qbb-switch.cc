/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-switch.h"

#include "call-rust.h"
#include "engine-network.h"
#include "event-log.h"
#include "fast-cnp-switch.h"
#include "late-trace.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/notices.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "setting-attributes.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/pointer.h"
#include "ns3/trace-source-accessor.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("QbbSwitch");

NS_OBJECT_ENSURE_REGISTERED(QbbSwitch);

TypeId
QbbSwitch::GetTypeId()
{
    static TypeId tid = AddSettings(
        TypeId("ns3::QbbSwitch")
            .SetParent<QbbNode>()
            .SetGroupName("Hpcc")
            .AddConstructor<QbbSwitch>()
            .AddAttribute("LoadBalancer",
                          "What balances load here, once the network is started, if "
                          "LoadBalancingScheme is a class of the program",
                          TypeId::ATTR_GET,
                          PointerValue(),
                          MakePointerAccessor(&QbbSwitch::GetLoadBalancer),
                          MakePointerChecker<QbbLoadBalancer>())
            .AddTraceSource("Mark",
                            "A data frame that leaves is marked (ECN), for the first time",
                            MakeLateTraceAccessor<QbbSwitch>([](QbbSwitch & owner) -> auto& {
                                owner.WatchEvents();
                                return owner.m_markTrace;
                            }),
                            "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource("Drop",
                            "A frame was dropped: no buffer, no route, or the end of its "
                            "hop limit; what waits for a link that fails is told of "
                            "by LinkDrop of the device",
                            MakeLateTraceAccessor<QbbSwitch>([](QbbSwitch & owner) -> auto& {
                                owner.WatchDrops();
                                return owner.m_dropTrace;
                            }),
                            "ns3::QbbNetDevice::FrameTracedCallback"),
        hpcc::attributes_of(hpcc::Holder::Switch));
    return tid;
}

QbbSwitch::QbbSwitch()
{
    NS_LOG_FUNCTION(this);
}

QbbSwitch::QbbSwitch(const QbbSwitch& other)
    : QbbNode(other)
{
    NS_LOG_FUNCTION(this << &other);
}

QbbSwitch::~QbbSwitch()
{
    NS_LOG_FUNCTION(this);
}

void
QbbSwitch::SetEcnThreshold(DataRate rate, uint64_t kmin, uint64_t kmax, double pmax)
{
    NS_LOG_FUNCTION(this << rate << kmin << kmax << pmax);
    NS_ABORT_MSG_IF(PeekNetwork(),
                    "the ECN thresholds are in use: set them before QbbHelper::Start()");
    CallRust([&] { GetSettings().set_ecn_threshold(rate.GetBitRate(), kmin, kmax, pmax); });
}

void
QbbSwitch::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_loadBalancer = nullptr;
    QbbNode::DoDispose();
}

Ptr<QbbLoadBalancer>
QbbSwitch::GetLoadBalancer() const
{
    return m_loadBalancer;
}

void
QbbSwitch::SetLoadBalancer(Ptr<QbbLoadBalancer> balancer)
{
    m_loadBalancer = balancer;
}

bool
QbbSwitch::IsSwitch() const
{
    return true;
}

void
QbbSwitch::Start(Ptr<EngineNetwork> network)
{
    QbbNode::Start(network);
    if (const auto agent = GetObject<FastCnpSwitch>())
    {
        agent->Start(*this);
    }
    if (m_watchesDrops || IsLogged())
    {
        WatchDrops();
    }
}

bool
QbbSwitch::IsLogged() const
{
    return LogsEvents(g_log);
}

void
QbbSwitch::WatchDrops()
{
    m_watchesDrops = true;
    if (PeekNetwork() && GetNPorts() > 0)
    {
        GetNetwork().Look().watch_port(GetIndex(), 0);
    }
}

void
QbbSwitch::OnNotice(const hpcc::Notice& notice, QbbFrame& frame)
{
    if (notice.kind == hpcc::NoticeKind::Drop)
    {
        NS_LOG_WARN(Describe() << " drops " << frame);
        m_dropTrace(frame);
        return;
    }
    if (notice.kind == hpcc::NoticeKind::Marked)
    {
        NS_LOG_INFO(Describe() << " port " << notice.port << " marks " << frame);
        m_markTrace(frame);
        return;
    }
    QbbNode::OnNotice(notice, frame);
}

void
QbbSwitch::Send(const QbbFrame& frame)
{
    NS_LOG_FUNCTION(this << frame.size);
    EngineNetwork& network = GetNetwork();
    network.Enter().send_by_switch(GetIndex(),
                                   frame.ToCore(),
                                   {frame.telemetry.data(), frame.telemetry.size()});
    network.Settle();
}

hpcc::SwitchCounters
QbbSwitch::GetCounters() const
{
    return GetNetwork().Look().switch_counters(GetIndex());
}

uint32_t
QbbSwitch::GetQueuedBytes(uint16_t port) const
{
    CheckPort(port);
    return GetNetwork().Look().accounted(GetIndex(), port);
}

uint64_t
QbbSwitch::GetSentBytes(uint16_t port) const
{
    CheckPort(port);
    return GetNetwork().Look().sent(GetIndex(), port);
}

uint64_t
QbbSwitch::GetDrops() const
{
    return GetCounters().overflows;
}

uint64_t
QbbSwitch::GetMarks() const
{
    return GetCounters().marks;
}

uint64_t
QbbSwitch::GetLinkDrops() const
{
    return GetCounters().link_drops;
}

uint64_t
QbbSwitch::GetUnroutable() const
{
    return GetCounters().unroutable;
}

uint64_t
QbbSwitch::GetExpired() const
{
    return GetCounters().expired;
}

} // namespace ns3
