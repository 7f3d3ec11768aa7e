/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "shared-network.h"

#include "qbb-net-device.h"
#include "qbb-node.h"
#include "rdma-host.h"
#include "wheel-simulator-impl.h"

#include "ns3/node.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

namespace ns3
{

SharedNetwork::SharedNetwork(WheelSimulatorImpl& simulator,
                             const std::vector<Ptr<QbbNode>>& nodes,
                             std::shared_ptr<QbbFramePool> pool,
                             std::shared_ptr<RankExchange> exchange,
                             std::vector<uint32_t> ranks)
    : m_simulator(simulator),
      m_nodes(nodes),
      m_pool(std::move(pool)),
      m_exchange(std::move(exchange)),
      m_ranks(std::move(ranks)),
      m_frames(m_exchange ? m_exchange->GetSize() : 0)
{
    for (const auto& node : m_nodes)
    {
        m_hosts.push_back(DynamicCast<RdmaHost>(node));
    }
}

SharedNetwork::~SharedNetwork() = default;

void
SharedNetwork::Send(uint64_t nanos, const QbbNetDevice& receiver, QbbFrame* frame)
{
    const uint32_t node = receiver.GetOwner().GetIndex();
    FrameImage::Write(*frame, {nanos, node, receiver.GetPortNumber()}, m_frames[m_ranks[node]]);
    m_earliestSent = std::min(m_earliestSent, nanos);
    ++m_sentFrames;
    frame->Release();
}

void
SharedNetwork::CloseReceiver(uint32_t host, uint32_t receiver)
{
    m_closings.push_back({host, receiver});
}

void
SharedNetwork::CountFinished(uint64_t bytes)
{
    ++m_news.finished;
    m_news.finishedBytes += bytes;
}

void
SharedNetwork::End()
{
    EndWindow(EventWheel::NEVER);
}

uint64_t
SharedNetwork::EndWindow(uint64_t next)
{
    if (m_exchange)
    {
        next = Exchange(next);
    }
    Close();
    if (m_observer)
    {
        m_observer();
    }
    return m_isStopped ? EventWheel::NEVER : next;
}

uint64_t
SharedNetwork::Exchange(uint64_t next)
{
    // All ranks close all receivers, so that each knows which keys are free at any host.
    m_news.closings = m_closings.size();
    m_news.stops = m_isStopped;
    const auto* news = reinterpret_cast<const uint8_t*>(&m_news);
    const auto* closings = reinterpret_cast<const uint8_t*>(m_closings.data());
    const std::size_t closingBytes = m_closings.size() * sizeof(Closing);
    for (uint32_t rank = 0; rank < m_exchange->GetSize(); ++rank)
    {
        RankExchange::Bytes& frames = m_frames[rank];
        if (rank == m_exchange->GetRank() ||
            (frames.empty() && m_news.closings == 0 && m_news.finished == 0 && !m_isStopped))
        {
            continue;
        }
        RankExchange::Bytes& outbox = m_exchange->GetOutbox(rank);
        outbox.assign(news, news + sizeof(m_news));
        outbox.insert(outbox.end(), closings, closings + closingBytes);
        outbox.insert(outbox.end(), frames.begin(), frames.end());
        frames.clear();
    }
    next = m_exchange->Exchange(std::min(next, std::exchange(m_earliestSent, UINT64_MAX)));
    for (uint32_t rank = 0; rank < m_exchange->GetSize(); ++rank)
    {
        TakeIn(m_exchange->GetInbox(rank));
    }
    return next;
}

void
SharedNetwork::TakeIn(const RankExchange::Bytes& bytes)
{
    if (bytes.empty())
    {
        return;
    }
    Header news;
    std::memcpy(&news, bytes.data(), sizeof(news));
    m_isStopped |= news.stops != 0;
    m_news.finished += news.finished;
    m_news.finishedBytes += news.finishedBytes;
    std::size_t place = sizeof(news);
    for (; news.closings > 0; --news.closings)
    {
        Closing closing{};
        std::memcpy(&closing, bytes.data() + place, sizeof(closing));
        m_closings.push_back(closing);
        place += sizeof(closing);
    }
    while (place < bytes.size())
    {
        FrameImage::Arrival arrival{};
        QbbFrame* frame = FrameImage::Read(bytes, place, *m_pool, arrival);
        const Ptr<QbbNetDevice> receiver = m_nodes[arrival.node]->GetPort(arrival.port);
        frame->receiver = PeekPointer(receiver);
        m_simulator.InsertArrival(arrival.nanos, receiver->GetNode()->GetId(), arrival.port, frame);
    }
}

void
SharedNetwork::Close()
{
    // The key that was freed last is used first: the order must not depend on which rank closes
    // which receiver.
    std::sort(m_closings.begin(), m_closings.end(), [](const Closing& a, const Closing& b) {
        return std::tie(a.host, a.receiver) < std::tie(b.host, b.receiver);
    });
    for (const Closing& closing : m_closings)
    {
        m_hosts[closing.host]->CloseReceiver(closing.receiver);
    }
    m_closings.clear();
    m_finished += m_news.finished;
    m_finishedBytes += m_news.finishedBytes;
    m_news = {};
}

} // namespace ns3
