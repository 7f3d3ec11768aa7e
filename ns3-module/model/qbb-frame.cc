/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-frame.h"

#include "ns3-bridge/src/frame.rs.h"
#include "qbb-net-device.h"

#include "ns3/abort.h"
#include "ns3/packet.h"

#include <cstring>
#include <new>
#include <utility>

namespace ns3
{

static_assert(sizeof(QbbFrame) == 128, "telemetry begins with the third cache line");

const uint8_t QbbFrame::INITIAL_HOP_LIMIT = hpcc::initial_hop_limit();

namespace
{

/// Bytes of a block, a huge page. It begins at a multiple of them, so that it can be told from the
/// address of a frame in it. Of smaller ones as many bytes would be lost between them.
constexpr std::size_t BLOCK_BYTES = 2 * 1024 * 1024;
/// Bytes of a block before its first frame, which begins with a cache line; they count its frames.
constexpr std::size_t BLOCK_HEAD = alignof(QbbFrame);

/**
 * \brief Tell how many frames of a block there are. It is freed with the last of them.
 * \param place a place in the block
 * \return the number
 */
std::size_t&
FramesAround(void* place)
{
    const auto address = reinterpret_cast<std::uintptr_t>(place);
    return *reinterpret_cast<std::size_t*>(address - address % BLOCK_BYTES);
}

/**
 * \param bytes a number of bytes
 * \param unit a unit
 * \return the least multiple of the unit that is not below the number
 */
constexpr std::size_t
RoundUp(std::size_t bytes, std::size_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

} // namespace

QbbFrame::QbbFrame(QbbFramePool* pool, std::size_t room)
    : m_room(static_cast<uint8_t>(room / ROOM_UNIT)),
      m_pool(pool)
{
}

QbbFrame::~QbbFrame()
{
    if (CarriesPacket())
    {
        DropPacket();
    }
}

void
QbbFrame::operator delete(void* frame)
{
    std::size_t& frames = FramesAround(frame);
    if (--frames == 0)
    {
        ::operator delete (&frames, std::align_val_t{BLOCK_BYTES});
    }
}

void
QbbFrame::Release()
{
    if (CarriesPacket())
    {
        DropPacket();
    }
    next = m_pool->m_free;
    m_pool->m_free = this;
}

void
QbbFrame::SetPacket(Ptr<Packet> contents)
{
    packet = GetPointer(contents);
}

Ptr<Packet>
QbbFrame::TakePacket()
{
    return Ptr<Packet>(std::exchange(packet, nullptr), false);
}

void
QbbFrame::DropPacket()
{
    if (packet)
    {
        TakePacket();
    }
}

void
QbbFrame::Fetch(unsigned step)
{
    receiver->FetchArrival(step, *this);
}

void
QbbFrame::Notify()
{
    receiver->Receive(this);
}

QbbFramePool::QbbFramePool(std::size_t room)
    : m_room(RoundUp(room, QbbFrame::ROOM_UNIT)),
      m_pitch(RoundUp(sizeof(QbbFrame) + m_room, alignof(QbbFrame))),
      m_perBlock((BLOCK_BYTES - BLOCK_HEAD) / m_pitch)
{
    NS_ABORT_MSG_IF(room > QbbFrame::MAX_TELEMETRY,
                    "a frame cannot have so much room for telemetry: " << room << " bytes");
}

QbbFramePool::~QbbFramePool()
{
    std::size_t frames = m_used;
    for (auto block = m_blocks.rbegin(); block != m_blocks.rend(); ++block)
    {
        // The block goes with its last frame.
        for (std::size_t place = 0; place < frames; ++place)
        {
            std::launder(reinterpret_cast<QbbFrame*>(*block + BLOCK_HEAD + place * m_pitch))
                ->Unref();
        }
        frames = m_perBlock;
    }
}

QbbFrame*
QbbFramePool::Acquire()
{
    if (!m_free)
    {
        return Make();
    }
    QbbFrame* frame = m_free;
    m_free = frame->next;
    return frame;
}

QbbFrame*
QbbFramePool::Make()
{
    if (m_blocks.empty() || m_used == m_perBlock)
    {
        void* memory = ::operator new (BLOCK_BYTES, std::align_val_t{BLOCK_BYTES});
        new (memory) std::size_t{0};
        m_blocks.push_back(static_cast<std::byte*>(memory));
        m_used = 0;
    }
    std::byte* const place = m_blocks.back() + BLOCK_HEAD + m_used * m_pitch;
    // The core gets the room as a slice of bytes, which must have values.
    std::memset(place + sizeof(QbbFrame), 0, m_room);
    ++m_used;
    ++FramesAround(place);
    return new (place) QbbFrame(this, m_room);
}

} // namespace ns3
