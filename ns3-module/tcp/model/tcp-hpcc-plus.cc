/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "tcp-hpcc-plus.h"

#include "../../model/call-rust.h"
#include "../../model/setting-attributes.h"
#include "core-time.h"
#include "ns3-bridge/src/probed.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/object-vector.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-socket-base.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("TcpHpccPlus");

NS_OBJECT_ENSURE_REGISTERED(TcpHpccPlus);

TypeId
TcpHpccPlus::GetTypeId()
{
    static TypeId tid = AddSettings(TypeId("ns3::TcpHpccPlus")
                                        .SetParent<TcpNewReno>()
                                        .SetGroupName("Hpcc")
                                        .AddConstructor<TcpHpccPlus>(),
                                    hpcc::parameters_of("hpcc_plus"));
    return tid;
}

TcpHpccPlus::TcpHpccPlus()
{
    NS_LOG_FUNCTION(this);
}

TcpHpccPlus::TcpHpccPlus(const TcpHpccPlus& other)
    : TcpNewReno(other),
      SettingsOwner(other)
{
    NS_LOG_FUNCTION(this);
}

TcpHpccPlus::~TcpHpccPlus()
{
    m_probeTimer.Cancel();
}

Ptr<TcpHpccPlus>
TcpHpccPlus::Find(const Node& node, const Address& own, const Address& other)
{
    ObjectVectorValue sockets;
    node.GetObject<TcpL4Protocol>()->GetAttribute("SocketList", sockets);
    for (auto it = sockets.Begin(); it != sockets.End(); ++it)
    {
        const auto socket = DynamicCast<TcpSocketBase>(it->second);
        Address name;
        Address peer;
        if (!socket || socket->GetPeerName(peer) != 0 || socket->GetSockName(name) != 0)
        {
            continue;
        }
        if (name == own && peer == other)
        {
            PointerValue controller;
            socket->GetAttribute("CongestionOps", controller);
            return controller.Get<TcpHpccPlus>();
        }
    }
    return nullptr;
}

bool
TcpHpccPlus::IsBound() const
{
    return m_core != nullptr;
}

bool
TcpHpccPlus::Bind(const ProbedPath& path,
                  const hpcc::Settings& host,
                  uint32_t first,
                  ProbeSender sendProbe)
{
    NS_LOG_FUNCTION(this << path.lineRate << path.baseRtt << first);
    if (!m_tcb)
    {
        return false;
    }
    const hpcc::ProbedFlowLimits limits{path.lineRate.GetBitRate(),
                                        static_cast<uint64_t>(path.baseRtt.GetNanoSeconds()),
                                        m_tcb->m_segmentSize,
                                        first};
    m_core = FromRust(CallRust([&] { return hpcc::new_probed_flow(GetSettings(), host, limits); }));
    Freeze();
    m_sendProbe = std::move(sendProbe);
    m_tcb->m_pacing = true;
    m_tcb->m_paceInitialWindow = true;
    Apply();
    return true;
}

void
TcpHpccPlus::Apply()
{
    // TCP sends whole segments: with less than one it would never send again.
    m_tcb->m_cWnd = std::max(static_cast<uint32_t>(m_core->window_bytes()), m_tcb->m_segmentSize);
    m_tcb->m_cWndInfl = m_tcb->m_cWnd;
    m_tcb->m_pacingRate = DataRate(m_core->rate_bps());
}

void
TcpHpccPlus::OnSent(uint32_t end)
{
    m_core->on_sent(core_time::Now(), end);
    ScheduleProbe();
}

void
TcpHpccPlus::OnAcked(uint32_t ack)
{
    m_core->on_acked(ack);
}

void
TcpHpccPlus::OnResponse(uint32_t seq, const uint8_t* section, std::size_t size)
{
    NS_LOG_FUNCTION(this << seq << size);
    if (m_core->on_response(core_time::Now(), seq, {section, size}))
    {
        Apply();
    }
}

uint64_t
TcpHpccPlus::GetBaselineResets() const
{
    return m_core->baseline_resets();
}

uint16_t
TcpHpccPlus::PrepareProbe(uint8_t* section, std::size_t room) const
{
    return static_cast<uint16_t>(m_core->prepare_probe(core_time::Now(), {section, room}));
}

void
TcpHpccPlus::ScheduleProbe()
{
    const uint64_t due = m_core->next_probe();
    if (due == core_time::NEVER || !m_probeTimer.IsExpired())
    {
        return;
    }
    m_probeTimer = Simulator::Schedule(core_time::Until(due), &TcpHpccPlus::OnProbeTime, this);
}

void
TcpHpccPlus::OnProbeTime()
{
    // A socket that was closed with data in flight gets no acknowledgement that would end this.
    if (m_tcb->GetReferenceCount() == 1)
    {
        return;
    }
    const hpcc::ProbedProbe probe = m_core->on_probe_time(core_time::Now());
    if (probe.present)
    {
        m_sendProbe(probe.seq);
    }
    ScheduleProbe();
}

std::string
TcpHpccPlus::GetName() const
{
    return "TcpHpccPlus";
}

void
TcpHpccPlus::Init(Ptr<TcpSocketState> tcb)
{
    m_tcb = tcb;
}

uint32_t
TcpHpccPlus::GetSsThresh(Ptr<const TcpSocketState> tcb, uint32_t bytesInFlight)
{
    return IsBound() ? tcb->m_cWnd.Get() : TcpNewReno::GetSsThresh(tcb, bytesInFlight);
}

void
TcpHpccPlus::IncreaseWindow(Ptr<TcpSocketState> tcb, uint32_t segmentsAcked)
{
    if (!IsBound())
    {
        TcpNewReno::IncreaseWindow(tcb, segmentsAcked);
    }
}

bool
TcpHpccPlus::HasCongControl() const
{
    return IsBound();
}

void
TcpHpccPlus::CongControl(Ptr<TcpSocketState>,
                         const TcpRateOps::TcpRateConnection&,
                         const TcpRateOps::TcpRateSample&)
{
    // The next acknowledgement restores the window after a timeout.
    Apply();
}

Ptr<TcpCongestionOps>
TcpHpccPlus::Fork()
{
    return CopyObject<TcpHpccPlus>(this);
}

} // namespace ns3
