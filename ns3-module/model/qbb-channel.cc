/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-channel.h"

#include "qbb-net-device.h"

#include "ns3/abort.h"
#include "ns3/log.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("QbbChannel");

NS_OBJECT_ENSURE_REGISTERED(QbbChannel);

TypeId
QbbChannel::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::QbbChannel")
            .SetParent<Channel>()
            .SetGroupName("Hpcc")
            .AddConstructor<QbbChannel>()
            .AddAttribute("Delay",
                          "Propagation delay, one way",
                          TimeValue(MicroSeconds(1)),
                          MakeTimeAccessor(&QbbChannel::SetDelay, &QbbChannel::GetDelay),
                          MakeTimeChecker(Time(0)));
    return tid;
}

QbbChannel::QbbChannel()
{
    NS_LOG_FUNCTION(this);
}

QbbChannel::~QbbChannel()
{
    NS_LOG_FUNCTION(this);
}

void
QbbChannel::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_ends.fill(nullptr);
    Channel::DoDispose();
}

void
QbbChannel::Connect(Ptr<QbbNetDevice> a, Ptr<QbbNetDevice> b)
{
    NS_LOG_FUNCTION(this << a << b);
    m_ends = {a, b};
    a->Attach(this, *b);
    b->Attach(this, *a);
}

void
QbbChannel::SetDelay(Time delay)
{
    NS_ABORT_MSG_IF(
        m_ends[0] && delay != m_delay,
        "the delay of a link is that which QbbHelper::Link() is told, and cannot change "
        "from "
            << m_delay.As(Time::NS) << " to " << delay.As(Time::NS));
    m_delay = delay;
}

Time
QbbChannel::GetDelay() const
{
    return m_delay;
}

std::size_t
QbbChannel::GetNDevices() const
{
    return m_ends[0] ? m_ends.size() : 0;
}

Ptr<NetDevice>
QbbChannel::GetDevice(std::size_t i) const
{
    return m_ends.at(i);
}

} // namespace ns3
