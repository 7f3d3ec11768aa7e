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

void*
QbbFrame::operator new(std::size_t size, std::size_t room)
{
    void* memory = ::operator new (size + room, std::align_val_t{alignof(QbbFrame)});
    // The core gets the room as a slice of bytes, which must have values.
    std::memset(static_cast<std::byte*>(memory) + size, 0, room);
    return memory;
}

void
QbbFrame::operator delete(void* frame)
{
    ::operator delete (frame, std::align_val_t{alignof(QbbFrame)});
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
    : m_room((room + QbbFrame::ROOM_UNIT - 1) / QbbFrame::ROOM_UNIT * QbbFrame::ROOM_UNIT)
{
    NS_ABORT_MSG_IF(room > QbbFrame::MAX_TELEMETRY,
                    "a frame cannot have so much room for telemetry: " << room << " bytes");
}

QbbFramePool::~QbbFramePool()
{
    for (QbbFrame* frame : m_frames)
    {
        frame->Unref();
    }
}

QbbFrame*
QbbFramePool::Acquire()
{
    if (!m_free)
    {
        m_frames.push_back(new (m_room) QbbFrame(this, m_room));
        return m_frames.back();
    }
    QbbFrame* frame = m_free;
    m_free = frame->next;
    return frame;
}

} // namespace ns3
