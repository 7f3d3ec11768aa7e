/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-frame.h"

#include "qbb-net-device.h"

namespace ns3
{

QbbFrame::QbbFrame(QbbFramePool* pool)
    : m_pool(pool)
{
}

void
QbbFrame::Release()
{
    next = m_pool->m_free;
    m_pool->m_free = this;
}

void
QbbFrame::Notify()
{
    receiver->Receive(this);
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
        m_frames.push_back(new QbbFrame(this));
        return m_frames.back();
    }
    QbbFrame* frame = m_free;
    m_free = frame->next;
    return frame;
}

} // namespace ns3
