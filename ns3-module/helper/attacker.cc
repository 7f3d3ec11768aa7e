/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "attacker.h"

#include "../model/call-rust.h"
#include "../model/frame-record.h"
#include "flow-tag.h"
#include "ns3-bridge/src/attack.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-helper.h"

#include "ns3/abort.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ns3
{

namespace
{

/**
 * \param a a flow
 * \param b another
 * \return whether `a` is attacked before it
 */
bool
ComesBefore(const hpcc::KnownFlow& a, const hpcc::KnownFlow& b)
{
    return std::tie(a.src, a.dst, a.sport) < std::tie(b.src, b.dst, b.sport);
}

/**
 * \param kind what a frame is for
 * \return the same, as frames have it
 */
QbbFrame::Kind
KindOf(hpcc::PacketKind kind)
{
    switch (kind)
    {
    case hpcc::PacketKind::Ack:
        return QbbFrame::Kind::ACK;
    case hpcc::PacketKind::Nack:
        return QbbFrame::Kind::NACK;
    case hpcc::PacketKind::Cnp:
        return QbbFrame::Kind::CNP;
    case hpcc::PacketKind::FastCnp:
        return QbbFrame::Kind::FAST_CNP;
    case hpcc::PacketKind::Icmpv6:
        return QbbFrame::Kind::ICMPV6;
    case hpcc::PacketKind::Data:
    case hpcc::PacketKind::Probe:
    case hpcc::PacketKind::Feedback:
    case hpcc::PacketKind::Pfc:
    case hpcc::PacketKind::Trimmed:
        break;
    }
    NS_ABORT_MSG("attackers forge no such frames");
}

} // namespace

Attacker::Attacker(CorePointer<hpcc::Attack> core,
                   const QbbHelper& network,
                   std::function<bool()> isOver)
    : m_core(std::move(core)),
      m_node(network.GetNode(m_core->node())),
      m_isOver(std::move(isOver)),
      m_isHere(std::make_shared<bool>(true))
{
    for (uint32_t node = 0; node < network.GetNNodes(); ++node)
    {
        m_hosts.push_back(DynamicCast<RdmaHost>(network.GetNode(node)));
    }
}

template <class... Args>
std::function<void(Args...)>
Attacker::WhileHere(void (Attacker::*call)(Args...))
{
    return [this, call, here = std::weak_ptr<bool>(m_isHere)](Args... args) {
        if (!here.expired())
        {
            (this->*call)(args...);
        }
    };
}

void
Attacker::Begin()
{
    if (m_core->watches())
    {
        Watch();
    }
    if (m_core->sends())
    {
        const Time wait = NanoSeconds(m_core->start_ns()) - Simulator::Now();
        Simulator::Schedule(std::max(wait, Time(0)), WhileHere(&Attacker::Send));
    }
}

uint64_t
Attacker::GetSent() const
{
    return m_core->counters().sent;
}

uint64_t
Attacker::GetAltered() const
{
    return m_core->counters().altered;
}

void
Attacker::Watch()
{
    for (uint32_t port = 0; port < m_node->GetNPorts(); ++port)
    {
        m_node->GetPort(port)->AddTap(QbbNetDevice::Tap(WhileHere(&Attacker::OnFrame)));
    }
    if (const auto notifier = m_node->GetObject<FastCnpSwitch>())
    {
        notifier->TraceConnectWithoutContext(
            "Sent",
            Callback<void, const QbbFrame&>(WhileHere(&Attacker::OnNotification)));
    }
}

std::vector<hpcc::KnownFlow>
Attacker::ListFlows() const
{
    std::vector<hpcc::KnownFlow> flows;
    for (const Ptr<RdmaHost>& host : m_hosts)
    {
        if (host)
        {
            host->VisitFlows([&](const RdmaFlow& flow, uint32_t queuePair, uint32_t receiver) {
                if (m_core->is_victim(flow.src, FlowTag::From(flow.tag).group))
                {
                    flows.push_back({flow.src,
                                     flow.dst,
                                     flow.sport,
                                     receiver,
                                     queuePair,
                                     flow.firstSeq + flow.size,
                                     host->GetSentEnd(queuePair)});
                }
            });
        }
    }
    std::sort(flows.begin(), flows.end(), ComesBefore);
    return flows;
}

void
Attacker::Send()
{
    if (m_isOver() || Simulator::Now() >= NanoSeconds(m_core->stop_ns()))
    {
        if (const uint8_t priority = m_core->resumes())
        {
            SendPfcs(priority, false);
        }
        return;
    }
    const std::vector<hpcc::KnownFlow> flows =
        m_core->needs_flows() ? ListFlows() : std::vector<hpcc::KnownFlow>();
    QbbFrame* frame = m_node->NewFrame();
    const hpcc::ForgedFrame forged =
        m_core->forge({flows.data(), flows.size()}, {frame->GetTelemetry(), frame->GetRoom()});
    Simulator::Schedule(NanoSeconds(forged.gap_ns), WhileHere(&Attacker::Send));
    if (!forged.present || forged.kind == hpcc::PacketKind::Pfc)
    {
        frame->Release();
        if (forged.present)
        {
            SendPfcs(forged.priority, true);
        }
        return;
    }
    frame->kind = KindOf(forged.kind);
    frame->priority = forged.priority;
    frame->seq = forged.seq;
    frame->congestionEchoed = false;
    frame->selective = QbbFrame::NOTHING_AHEAD;
    frame->src = forged.src;
    frame->dst = forged.dst;
    frame->srcAddress = forged.src_address;
    frame->dstAddress = forged.dst_address;
    frame->sport = forged.sport;
    frame->dport = m_node->GetSettings().wire_port();
    frame->queuePair = forged.queue_pair;
    // A capture numbers packets and messages by these: as if the flow had its queue pair to itself.
    const Ptr<RdmaHost> victim = m_hosts[forged.dst];
    frame->mtu = victim ? victim->GetMtu() : m_node->GetMtu();
    frame->earlierPackets = 0;
    frame->earlierWrites = 0;
    frame->flowBytes = 0;
    frame->telemetryBytes = forged.section;
    frame->size = forged.size;
    Emit(frame);
}

void
Attacker::Emit(QbbFrame* frame)
{
    if (const auto host = DynamicCast<RdmaHost>(m_node))
    {
        host->Send(frame);
    }
    else if (const auto aSwitch = DynamicCast<QbbSwitch>(m_node))
    {
        aSwitch->Send(frame);
    }
}

void
Attacker::SendPfcs(uint8_t priority, bool pause)
{
    for (uint32_t port = 0; port < m_node->GetNPorts(); ++port)
    {
        m_node->SendPfc(*m_node->GetPort(port), priority, pause);
    }
}

const RdmaFlow*
Attacker::FindFlow(const QbbFrame& frame) const
{
    if (!frame.HasTelemetrySection())
    {
        return nullptr;
    }
    // A frame that collects telemetry goes to the receiver and names the queue pair for answers.
    const bool isAnswer = !frame.CollectsTelemetry();
    const Ptr<RdmaHost>& sender = m_hosts.at(isAnswer ? frame.dst : frame.src);
    const uint32_t queuePair = isAnswer ? frame.queuePair : frame.replyQueuePair;
    // The sequence number of an answer is that behind the last byte that it answers.
    const uint64_t seq = isAnswer && frame.seq > 0 ? frame.seq - 1 : frame.seq;
    return sender ? sender->FindFlow(queuePair, seq) : nullptr;
}

void
Attacker::OnFrame(QbbFrame& frame)
{
    const RdmaFlow* flow = FindFlow(frame);
    const hpcc::PassingFrame passing{MakeFrameRecord(frame).kind,
                                     frame.src,
                                     frame.dst,
                                     frame.sport,
                                     frame.queuePair,
                                     flow ? FlowTag::From(flow->tag).group : hpcc::no_group()};
    const uint16_t length = m_core->on_frame(Simulator::Now().GetNanoSeconds(),
                                             passing,
                                             {frame.GetTelemetry(), frame.GetRoom()},
                                             frame.telemetryBytes);
    frame.size -= frame.telemetryBytes - length;
    frame.telemetryBytes = length;
}

void
Attacker::OnNotification(const QbbFrame& frame)
{
    const hpcc::PassingFrame passing{MakeFrameRecord(frame).kind,
                                     frame.src,
                                     frame.dst,
                                     frame.sport,
                                     frame.queuePair,
                                     hpcc::no_group()};
    std::vector<uint8_t> options(frame.GetTelemetry(), frame.GetTelemetry() + frame.telemetryBytes);
    m_core->on_frame(Simulator::Now().GetNanoSeconds(),
                     passing,
                     {options.data(), options.size()},
                     frame.telemetryBytes);
}

std::vector<std::unique_ptr<Attacker>>
MakeAttackers(const hpcc::Scenario& scenario,
              const QbbHelper& network,
              const std::function<bool()>& isOver)
{
    std::vector<std::unique_ptr<Attacker>> attackers;
    for (uint32_t index = 0; index < hpcc::attack_count(scenario); ++index)
    {
        CorePointer<hpcc::Attack> core =
            FromRust(CallRust([&] { return hpcc::new_attack(scenario, index); }));
        attackers.push_back(std::make_unique<Attacker>(std::move(core), network, isOver));
    }
    return attackers;
}

} // namespace ns3
