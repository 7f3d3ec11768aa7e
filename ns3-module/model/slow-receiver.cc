/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "slow-receiver.h"

#include "ns3-bridge/src/host.rs.h"
#include "qbb-net-device.h"
#include "qbb-node.h"

#include "ns3/fatal-error.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <utility>

namespace ns3
{

namespace
{

/**
 * \brief Release all frames of a queue.
 * \param queue the queue
 */
void
Clear(QbbFrameQueue& queue)
{
    while (!queue.IsEmpty())
    {
        queue.Pop()->Release();
    }
}

} // namespace

SlowReceiver::SlowReceiver(hpcc::Host& core, QbbNode& node, QbbNetDevice& port, Deliver deliver)
    : m_core(core),
      m_node(node),
      m_port(port),
      m_deliver(std::move(deliver))
{
}

void
SlowReceiver::Stop()
{
    m_end.Cancel();
    Clear(m_held);
    Clear(m_pfcs);
}

void
SlowReceiver::RxEnqueue(QbbFrame* frame)
{
    switch (m_core.rx_enqueue(m_port.GetPortNumber(), frame->priority, frame->size))
    {
    case hpcc::Arrival::Dropped:
        frame->Release();
        return;
    case hpcc::Arrival::HeldAndPauses:
        SendPfc(frame->priority, true);
        break;
    case hpcc::Arrival::Held:
        break;
    default:
        NS_FATAL_ERROR("no such fate of a frame that arrives");
    }
    const bool isFirst = m_held.IsEmpty();
    m_held.Push(frame);
    if (isFirst)
    {
        RxStart();
    }
}

void
SlowReceiver::RxStart()
{
    const uint64_t now = Simulator::Now().GetNanoSeconds();
    const uint64_t time = m_core.rx_start(now, m_port.GetPortNumber(), m_held.GetHeadBytes());
    m_end = Simulator::Schedule(NanoSeconds(time), &SlowReceiver::RxDone, this);
}

void
SlowReceiver::RxDone()
{
    QbbFrame* const frame = m_held.Pop();
    const uint8_t resumed = m_core.rx_done(m_port.GetPortNumber(), frame->size);
    for (uint8_t priority = 0; priority < QbbNetDevice::PRIORITIES; ++priority)
    {
        if (resumed >> priority & 1)
        {
            SendPfc(priority, false);
        }
    }
    if (!m_held.IsEmpty())
    {
        RxStart();
    }
    m_deliver(frame);
}

void
SlowReceiver::SendPfc(uint8_t priority, bool pause)
{
    m_pfcs.Push(m_node.MakePfc(m_port, priority, pause));
    m_port.TrySend();
}

QbbFrame*
SlowReceiver::NextPfc()
{
    return m_pfcs.IsEmpty() ? nullptr : m_pfcs.Pop();
}

void
SlowReceiver::OnLinkDown()
{
    Clear(m_pfcs);
    m_core.forget_pauses(m_port.GetPortNumber());
}

} // namespace ns3
