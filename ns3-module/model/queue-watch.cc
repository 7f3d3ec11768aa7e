/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "queue-watch.h"

#include "qbb-net-device.h"

#include <utility>

namespace ns3
{

QueueWatch::QueueWatch(QbbNetDevice& device)
    : m_device(device)
{
    static_assert(std::tuple_size_v<decltype(m_bytes)> == QbbNetDevice::PRIORITIES);
    for (uint8_t queue = 0; queue < m_bytes.size(); ++queue)
    {
        m_bytes[queue] = m_device.GetQueuedBytes(queue);
    }
    for (const char* event : {"Enqueue", "Dequeue", "LinkDrop"})
    {
        m_device.TraceConnectWithoutContext(event, MakeCallback(&QueueWatch::OnFrame, this));
    }
}

QueueWatch::Source&
QueueWatch::GetSource()
{
    return m_source;
}

void
QueueWatch::OnFrame(const QbbFrame&)
{
    // The frame does not say which queue it was in: a host's acknowledgements and PFC frames wait
    // in queue 0.
    for (uint8_t queue = 0; queue < m_bytes.size(); ++queue)
    {
        const uint64_t bytes = m_device.GetQueuedBytes(queue);
        const uint64_t before = std::exchange(m_bytes[queue], bytes);
        if (before != bytes)
        {
            m_source(queue, before, bytes);
        }
    }
}

} // namespace ns3
