/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-client.h"

#include "ns3/abort.h"
#include "ns3/integer.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("RdmaClient");

NS_OBJECT_ENSURE_REGISTERED(RdmaClient);

TypeId
RdmaClient::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RdmaClient")
            .SetParent<Application>()
            .SetGroupName("Hpcc")
            .AddConstructor<RdmaClient>()
            .AddAttribute("Peer",
                          "Node of the destination host",
                          PointerValue(),
                          MakePointerAccessor(&RdmaClient::Change<&RdmaClient::m_peer>,
                                              &RdmaClient::Get<&RdmaClient::m_peer>),
                          MakePointerChecker<Node>())
            .AddAttribute("Size",
                          "Bytes to send; 0: until the application stops",
                          UintegerValue(1'000'000),
                          MakeUintegerAccessor(&RdmaClient::Change<&RdmaClient::m_size>,
                                               &RdmaClient::Get<&RdmaClient::m_size>),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Priority",
                          "Priority group, 1 to 7: 0 is never paused",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaClient::Change<&RdmaClient::m_priority>,
                                               &RdmaClient::Get<&RdmaClient::m_priority>),
                          MakeUintegerChecker<uint8_t>(1, QbbNetDevice::PRIORITIES - 1))
            .AddAttribute("DestinationPort",
                          "UDP destination port",
                          UintegerValue(100),
                          MakeUintegerAccessor(&RdmaClient::Change<&RdmaClient::m_dport>,
                                               &RdmaClient::Get<&RdmaClient::m_dport>),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("MaxRate",
                          "Highest rate of the flow; 0: that of its port",
                          DataRateValue(DataRate(0)),
                          MakeDataRateAccessor(&RdmaClient::Change<&RdmaClient::m_maxRate>,
                                               &RdmaClient::Get<&RdmaClient::m_maxRate>),
                          MakeDataRateChecker())
            .AddAttribute("Nic",
                          "The link of its host by which the flow leaves, counted from 0; -1: a "
                          "hash chooses one of those that lead to the destination",
                          IntegerValue(-1),
                          MakeIntegerAccessor(&RdmaClient::Change<&RdmaClient::m_nic>,
                                              &RdmaClient::Get<&RdmaClient::m_nic>),
                          MakeIntegerChecker<int16_t>(-1, 255))
            .AddAttribute("CongestionControl",
                          "Congestion control of the flow, as RdmaHost::CongestionControl, perhaps "
                          "with parameters: ns3::MyControl[Target=20000] or "
                          "hpcc_plus[Eta=0.9|MaxStage=3]; empty: that of its host",
                          StringValue(""),
                          MakeStringAccessor(&RdmaClient::Change<&RdmaClient::m_control>,
                                             &RdmaClient::Get<&RdmaClient::m_control>),
                          MakeStringChecker())
            .AddTraceSource("Finish",
                            "The flow's last acknowledgement has arrived",
                            MakeTraceSourceAccessor(&RdmaClient::m_finishTrace),
                            "ns3::RdmaHost::FlowTracedCallback");
    return tid;
}

RdmaClient::RdmaClient()
{
    NS_LOG_FUNCTION(this);
}

RdmaClient::~RdmaClient()
{
    NS_LOG_FUNCTION(this);
}

void
RdmaClient::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_peer = nullptr;
    Application::DoDispose();
}

void
RdmaClient::CheckNotStarted() const
{
    NS_ABORT_MSG_IF(m_isStarted,
                    "the flow of the RdmaClient of node "
                        << GetNode()->GetId()
                        << " has begun, and its attributes cannot change: stop it, and install "
                           "another one");
}

void
RdmaClient::SetPeer(Ptr<Node> peer)
{
    Change<&RdmaClient::m_peer>(peer);
}

bool
RdmaClient::IsFinished() const
{
    return m_finished;
}

bool
RdmaClient::IsCutOff() const
{
    return m_isStarted && !m_finished &&
           !GetNode()->GetObject<RdmaHost>()->CanReach(*m_peer->GetObject<RdmaHost>());
}

uint32_t
RdmaClient::GetQueuePair() const
{
    return m_queuePair;
}

const RdmaFlow&
RdmaClient::GetFlow() const
{
    return m_flow;
}

void
RdmaClient::StartApplication()
{
    NS_LOG_FUNCTION(this);
    Ptr<RdmaHost> host = GetNode()->GetObject<RdmaHost>();
    Ptr<RdmaHost> peer = m_peer ? m_peer->GetObject<RdmaHost>() : nullptr;
    NS_ABORT_MSG_UNLESS(m_peer,
                        "the RdmaClient of node " << GetNode()->GetId()
                                                  << " has no peer: call SetPeer()");
    NS_ABORT_MSG_UNLESS(host && peer,
                        "an RdmaClient sends from one RdmaHost to another, and of the nodes "
                            << GetNode()->GetId() << " and " << m_peer->GetId()
                            << " not both are one");
    if (m_isStopped)
    {
        NS_LOG_WARN("the RdmaClient of node " << GetNode()->GetId()
                                              << " stopped before its start: it sends nothing");
        return;
    }
    m_isStarted = true;
    m_flow.size = m_size > 0 ? m_size : RdmaFlow::ENDLESS;
    m_flow.maxRate = m_maxRate;
    m_flow.nic = m_nic;
    m_flow.congestionControl = m_control;
    if (!m_stopEvent.IsExpired())
    {
        m_flow.stop = TimeStep(m_stopEvent.GetTs());
    }
    m_flow.priority = m_priority;
    m_flow.dport = m_dport;
    m_flow.src = host->GetIndex();
    m_flow.dst = peer->GetIndex();
    m_flow.start = Simulator::Now();
    m_queuePair = host->StartFlow(peer, m_flow, MakeCallback(&RdmaClient::OnFinish, this));
    if (m_queuePair != RdmaHost::ELSEWHERE)
    {
        m_flow = host->GetFlow(m_queuePair);
    }
}

void
RdmaClient::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_isStopped = true;
}

void
RdmaClient::OnFinish(const RdmaFlow& flow)
{
    NS_LOG_FUNCTION(this << flow.size);
    m_finished = true;
    m_flow = flow;
    m_finishTrace(flow);
}

} // namespace ns3
