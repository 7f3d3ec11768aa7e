/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "rdma-client.h"

#include "setting-attributes.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <string>

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
                          MakePointerAccessor(&RdmaClient::SetPeer, &RdmaClient::GetPeer),
                          MakePointerChecker<Node>())
            .AddAttribute("Size",
                          "Bytes to send",
                          UintegerValue(1'000'000),
                          MakeUintegerAccessor(&RdmaClient::SetSize, &RdmaClient::GetSize),
                          MakeTellingChecker<uint64_t>("Size", 1))
            .AddAttribute("Priority",
                          "Priority group",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RdmaClient::SetPriority, &RdmaClient::GetPriority),
                          MakeTellingChecker<uint8_t>("Priority", LEAST_PRIORITY, MOST_PRIORITY))
            .AddAttribute("DestinationPort",
                          "UDP destination port",
                          UintegerValue(100),
                          MakeUintegerAccessor(&RdmaClient::SetDestinationPort,
                                               &RdmaClient::GetDestinationPort),
                          MakeTellingChecker<uint16_t>("DestinationPort", 0))
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
RdmaClient::CheckNotStarted(const char* attribute) const
{
    const Ptr<Node> node = GetNode();
    const std::string whose =
        node ? "the RdmaClient of node " + std::to_string(node->GetId()) : "a disposed RdmaClient";
    NS_ABORT_MSG_IF(m_isStarted,
                    "the flow of " << whose << " has started: its " << attribute
                                   << " cannot change any more; make another RdmaClient");
}

void
RdmaClient::SetPeer(Ptr<Node> peer)
{
    CheckNotStarted("Peer");
    m_peer = peer;
}

Ptr<Node>
RdmaClient::GetPeer() const
{
    return m_peer;
}

void
RdmaClient::SetSize(uint64_t bytes)
{
    CheckNotStarted("Size");
    m_size = bytes;
}

uint64_t
RdmaClient::GetSize() const
{
    return m_size;
}

void
RdmaClient::SetPriority(uint8_t priority)
{
    CheckNotStarted("Priority");
    NS_ABORT_MSG_UNLESS(priority >= LEAST_PRIORITY && priority <= MOST_PRIORITY,
                        "an RdmaClient cannot have the priority "
                            << +priority << "; expected " << +LEAST_PRIORITY << " to "
                            << +MOST_PRIORITY << ", for the flow would not be paused; see "
                            << "RdmaHost::StartFlow()");
    m_priority = priority;
}

uint8_t
RdmaClient::GetPriority() const
{
    return m_priority;
}

void
RdmaClient::SetDestinationPort(uint16_t port)
{
    CheckNotStarted("DestinationPort");
    m_dport = port;
}

uint16_t
RdmaClient::GetDestinationPort() const
{
    return m_dport;
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
    NS_ABORT_MSG_UNLESS(host,
                        "node " << GetNode()->GetId() << " has an RdmaClient and is no RdmaHost");
    NS_ABORT_MSG_UNLESS(peer,
                        "node " << m_peer->GetId()
                                << " is the peer of an RdmaClient and is no RdmaHost");
    if (m_isStopped)
    {
        NS_LOG_WARN("the RdmaClient of node " << GetNode()->GetId()
                                              << " stopped before its start: it sends nothing");
        return;
    }
    m_isStarted = true;
    m_flow.size = m_size;
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
