/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "flow-watch.h"

#include "rdma-host.h"

#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

FlowWatch::FlowWatch(RdmaHost& host)
    : m_host(host)
{
    host.TraceConnectWithoutContext("FlowFinish", MakeCallback(&FlowWatch::OnFinish, this));
}

void
FlowWatch::FollowPorts()
{
    for (uint32_t port = 0; port < m_host.GetNPorts(); ++port)
    {
        if (const Ptr<QbbNetDevice> device = m_host.GetPort(port))
        {
            device->TraceConnectWithoutContext("TxBegin", MakeCallback(&FlowWatch::OnSent, this));
            device->TraceConnectWithoutContext("RxEnd", MakeCallback(&FlowWatch::OnArrived, this));
        }
    }
}

void
FlowWatch::Begin(uint32_t queuePair, uint64_t end)
{
    m_sent[queuePair].end = end;
}

void
FlowWatch::OnSent(const QbbFrame& frame)
{
    if (frame.kind != QbbFrame::Kind::DATA)
    {
        return;
    }
    const uint32_t queuePair = frame.replyQueuePair;
    Sent& sent = m_sent[queuePair];
    if (frame.seq < sent.end)
    {
        // An acknowledgement does not say which of the two transmissions it answers.
        sent.times.erase(frame.seq + frame.payload);
        if (const RdmaFlow* flow = m_host.FindFlow(queuePair, frame.seq))
        {
            resend(*flow, frame.seq - flow->firstSeq);
        }
        return;
    }
    sent.end = frame.seq + frame.payload;
    sent.times[sent.end] = Simulator::Now();
}

void
FlowWatch::OnArrived(const QbbFrame& frame)
{
    const bool isCnp = frame.kind == QbbFrame::Kind::CNP;
    const RdmaFlow* flow =
        frame.IsAcknowledgement() || isCnp ? m_host.FindFlow(frame.queuePair) : nullptr;
    if (!flow)
    {
        return;
    }
    if (isCnp)
    {
        cnp(*flow);
        return;
    }
    OnAck(frame);
}

void
FlowWatch::OnAck(const QbbFrame& frame)
{
    auto& times = m_sent[frame.queuePair].times;
    // The flow that the last acknowledged byte belongs to.
    const RdmaFlow* flow =
        frame.seq > 0 ? m_host.FindFlow(frame.queuePair, frame.seq - 1) : nullptr;
    const auto last =
        flow ? times.find(std::min(frame.seq, flow->firstSeq + flow->size)) : times.end();
    if (last != times.end())
    {
        rtt(*flow, Simulator::Now() - last->second);
    }
    times.erase(times.begin(), times.upper_bound(frame.seq));
}

void
FlowWatch::OnFinish(const RdmaFlow&)
{
    for (auto sent = m_sent.begin(); sent != m_sent.end();)
    {
        sent = m_host.FindFlow(sent->first) ? std::next(sent) : m_sent.erase(sent);
    }
}

} // namespace ns3
