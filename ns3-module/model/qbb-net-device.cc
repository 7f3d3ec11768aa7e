/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-net-device.h"

#include "engine-network.h"
#include "event-log.h"
#include "late-trace.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/notices.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-channel.h"
#include "qbb-node.h"

#include "ns3/abort.h"
#include "ns3/error-model.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("QbbNetDevice");

NS_OBJECT_ENSURE_REGISTERED(QbbNetDevice);

template <class Source>
Ptr<const TraceSourceAccessor>
QbbNetDevice::MakeWatchedAccessor(Source QbbNetDevice::*source)
{
    return MakeLateTraceAccessor<QbbNetDevice>([source](QbbNetDevice & device) -> auto& {
        device.Watch();
        return device.*source;
    });
}

TypeId
QbbNetDevice::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::QbbNetDevice")
            .SetParent<NetDevice>()
            .SetGroupName("Hpcc")
            .AddConstructor<QbbNetDevice>()
            .AddAttribute(
                "DataRate",
                "Rate at which the device sends",
                DataRateValue(DataRate("100Gbps")),
                MakeDataRateAccessor(&QbbNetDevice::SetDataRate, &QbbNetDevice::GetDataRate),
                MakeDataRateChecker())
            .AddAttribute("Mtu",
                          "Most bytes of a packet of the node's ns-3 stack; RDMA goes by Mtu of "
                          "ns3::RdmaHost",
                          UintegerValue(1500),
                          MakeUintegerAccessor(&QbbNetDevice::SetMtu, &QbbNetDevice::GetMtu),
                          MakeUintegerChecker<uint16_t>())
            .AddAttribute("ReceiveErrorModel",
                          "Decides which frames arrive with errors, and are discarded; PFC frames "
                          "have none. It sees frames of the right size, without content",
                          PointerValue(),
                          MakePointerAccessor(&QbbNetDevice::SetReceiveErrorModel,
                                              &QbbNetDevice::GetReceiveErrorModel),
                          MakePointerChecker<ErrorModel>())
            .AddTraceSource("TxBegin",
                            "A frame begins to leave",
                            MakeWatchedAccessor(&QbbNetDevice::m_txBeginTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource("RxEnd",
                            "A frame has arrived, PFC frames included",
                            MakeWatchedAccessor(&QbbNetDevice::m_rxEndTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource("RxDrop",
                            "A frame was lost on the way here",
                            MakeWatchedAccessor(&QbbNetDevice::m_rxDropTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource("LinkDrop",
                            "A frame that waited here was dropped, because the link failed",
                            MakeWatchedAccessor(&QbbNetDevice::m_linkDropTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource("Enqueue",
                            "A frame was queued; data of a host waits in queue pairs, and is not",
                            MakeWatchedAccessor(&QbbNetDevice::m_enqueueTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource("Dequeue",
                            "A frame left its queue, or, as data of a host, its queue pair",
                            MakeWatchedAccessor(&QbbNetDevice::m_dequeueTrace),
                            "ns3::QbbNetDevice::FrameTracedCallback")
            .AddTraceSource("QueuedBytes",
                            "The length of a queue has changed",
                            MakeWatchedAccessor(&QbbNetDevice::m_queuedTrace),
                            "ns3::QbbNetDevice::QueueTracedCallback")
            .AddTraceSource("PromiscSniffer",
                            "A frame begins to leave or has arrived, with the bytes that it has on "
                            "the wire; needs a "
                            "WireProfile whose frames have some",
                            MakeWatchedAccessor(&QbbNetDevice::m_sniffer),
                            "ns3::Packet::TracedCallback")
            .AddTraceSource("Pause",
                            "The far end paused or resumed a priority, or the link came up, upon "
                            "which none is paused",
                            MakeTraceSourceAccessor(&QbbNetDevice::m_pauseTrace),
                            "ns3::QbbNetDevice::PauseTracedCallback");
    return tid;
}

QbbNetDevice::QbbNetDevice()
    : m_address(Mac48Address::Allocate())
{
    NS_LOG_FUNCTION(this);
}

QbbNetDevice::QbbNetDevice(const QbbNetDevice& other)
    : NetDevice(other),
      m_mtu(other.m_mtu),
      m_dataRate(other.m_dataRate),
      m_address(Mac48Address::Allocate())
{
    NS_LOG_FUNCTION(this << &other);
}

QbbNetDevice::~QbbNetDevice()
{
    NS_LOG_FUNCTION(this);
}

void
QbbNetDevice::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_linkUp = false;
    m_owner = nullptr;
    m_peer = nullptr;
    m_channel = nullptr;
    m_node = nullptr;
    m_errors = nullptr;
    m_receive.Nullify();
    m_receiveAll.Nullify();
    NetDevice::DoDispose();
}

void
QbbNetDevice::SetPort(QbbNode& owner, uint16_t port)
{
    NS_LOG_FUNCTION(this << &owner << port);
    m_owner = &owner;
    m_port = port;
}

uint16_t
QbbNetDevice::GetPortNumber() const
{
    return m_port;
}

void
QbbNetDevice::Attach(Ptr<QbbChannel> channel, QbbNetDevice& peer)
{
    NS_LOG_FUNCTION(this << channel << &peer);
    m_channel = channel;
    m_peer = &peer;
    m_linkUp = true;
    m_linkChanges();
}

void
QbbNetDevice::Start()
{
    if (m_watched || LogsEvents(g_log))
    {
        Watch();
    }
}

std::string
QbbNetDevice::Describe() const
{
    return GetOwner().Describe() + " port " + std::to_string(m_port);
}

void
QbbNetDevice::SetReceiveErrorModel(Ptr<ErrorModel> model)
{
    const bool isRunning = m_owner && m_owner->PeekNetwork();
    NS_ABORT_MSG_IF(isRunning && model && !m_errors,
                    Describe() << " has no ReceiveErrorModel: set it before QbbHelper::Start()");
    m_errors = model;
}

Ptr<ErrorModel>
QbbNetDevice::GetReceiveErrorModel() const
{
    return m_errors;
}

bool
QbbNetDevice::HasErrorModel() const
{
    return m_errors != nullptr;
}

bool
QbbNetDevice::IsCorrupt(uint32_t bytes) const
{
    return m_errors && m_errors->IsCorrupt(Create<Packet>(bytes));
}

void
QbbNetDevice::Watch()
{
    m_watched = true;
    if (m_owner && m_owner->PeekNetwork())
    {
        m_owner->GetNetwork().Look().watch_port(m_owner->GetIndex(), m_port);
        for (uint8_t queue = 0; queue < PRIORITIES; ++queue)
        {
            m_lengths[queue] = GetQueuedBytes(queue);
        }
    }
}

QbbNetDevice&
QbbNetDevice::GetPeer() const
{
    return *m_peer;
}

QbbNode&
QbbNetDevice::GetOwner() const
{
    NS_ABORT_MSG_UNLESS(m_owner, "a device is no port of a host or switch of a running network");
    return *m_owner;
}

hpcc::PortState
QbbNetDevice::GetState() const
{
    if (!m_owner || !m_owner->PeekNetwork())
    {
        return {};
    }
    return m_owner->GetNetwork().Look().port_state(m_owner->GetIndex(), m_port);
}

void
QbbNetDevice::SetDataRate(DataRate rate)
{
    NS_ABORT_MSG_IF(m_channel && !(rate == m_dataRate),
                    "the rate of a link is that which QbbHelper::Link() is told, and cannot change "
                    "from "
                        << m_dataRate << " to " << rate);
    m_dataRate = rate;
}

DataRate
QbbNetDevice::GetDataRate() const
{
    return m_dataRate;
}

uint64_t
QbbNetDevice::GetQueuedBytes() const
{
    return GetState().queued;
}

uint64_t
QbbNetDevice::GetQueuedBytes(uint8_t queue) const
{
    CheckPriority(queue);
    if (!m_owner || !m_owner->PeekNetwork())
    {
        return 0;
    }
    return m_owner->GetNetwork().Look().queued(m_owner->GetIndex(), m_port, queue);
}

uint8_t
QbbNetDevice::GetPaused() const
{
    return GetState().paused;
}

void
QbbNetDevice::OnNotice(const hpcc::Notice& notice, const QbbFrame& frame)
{
    switch (notice.kind)
    {
    case hpcc::NoticeKind::Departure:
        NS_LOG_LOGIC(Describe() << " begins to send " << frame);
        m_txBeginTrace(frame);
        Sniff(frame, *this, *m_peer);
        break;
    case hpcc::NoticeKind::Arrival:
        NS_LOG_LOGIC(Describe() << " has received " << frame);
        m_rxEndTrace(frame);
        Sniff(frame, *m_peer, *this);
        break;
    case hpcc::NoticeKind::Enqueue:
        NS_LOG_LOGIC(Describe() << " queues " << frame << ", " << notice.queued
                                << " bytes in queue " << +notice.queue);
        m_enqueueTrace(frame);
        OnQueue(notice.queue, notice.queued);
        break;
    case hpcc::NoticeKind::Dequeue:
        m_dequeueTrace(frame);
        OnQueue(notice.queue, notice.queued);
        break;
    case hpcc::NoticeKind::LinkDrop:
        NS_LOG_WARN(Describe() << " drops, as its link has failed, " << frame);
        m_linkDropTrace(frame);
        OnQueue(notice.queue, notice.queued);
        break;
    case hpcc::NoticeKind::Lost:
        NS_LOG_WARN("lost on the link to " << Describe() << ": " << frame);
        m_rxDropTrace(frame);
        break;
    case hpcc::NoticeKind::Pause:
        NS_LOG_INFO(Describe() << ": priority " << +notice.queue
                               << (notice.flag ? " is paused" : " resumes"));
        OnPause(notice.queue, notice.flag);
        break;
    case hpcc::NoticeKind::Drop:
    case hpcc::NoticeKind::Control:
    case hpcc::NoticeKind::Rtt:
    case hpcc::NoticeKind::Resend:
    case hpcc::NoticeKind::Timeout:
    case hpcc::NoticeKind::Marked:
    case hpcc::NoticeKind::Cnp:
    case hpcc::NoticeKind::Notified:
    case hpcc::NoticeKind::Withheld:
    case hpcc::NoticeKind::Learnt:
    case hpcc::NoticeKind::Stopped:
    case hpcc::NoticeKind::Accepted:
    case hpcc::NoticeKind::Refused:
    case hpcc::NoticeKind::Migrated:
    case hpcc::NoticeKind::Packet:
        break;
    }
}

void
QbbNetDevice::OnQueue(uint8_t queue, uint64_t bytes)
{
    const uint64_t before = std::exchange(m_lengths[queue], bytes);
    if (before != bytes)
    {
        m_queuedTrace(queue, before, bytes);
    }
}

void
QbbNetDevice::Sniff(const QbbFrame& frame, const QbbNetDevice& sender, const QbbNetDevice& receiver)
{
    if (m_sniffer.IsEmpty())
    {
        return;
    }
    if (frame.CarriesPacket())
    {
        m_sniffer(FrameSerializer::SerializePacket(frame, sender.m_address, receiver.m_address));
        return;
    }
    // Between hosts whose packets have bytes of their own, frames of switches may have none.
    if (!m_owner->GetSettings().has_bytes())
    {
        return;
    }
    if (!m_serializer)
    {
        m_serializer = std::make_unique<FrameSerializer>(m_owner->GetSettings(),
                                                         m_owner->GetNetwork().GetMtu());
    }
    m_sniffer(m_serializer->Serialize(frame, sender.m_address, receiver.m_address));
}

void
QbbNetDevice::TakeDown()
{
    NS_LOG_FUNCTION(this);
    for (uint8_t priority = 0; priority < PRIORITIES; ++priority)
    {
        m_pausedTime[priority] = GetPausedTime(priority).GetNanoSeconds();
    }
    m_paused = 0;
    m_linkUp = false;
    m_downSince = Simulator::Now().GetNanoSeconds();
}

void
QbbNetDevice::BringUp()
{
    NS_LOG_FUNCTION(this);
    constexpr uint32_t LARGEST_FRAME = 10'000;
    const Time down = Simulator::Now() - NanoSeconds(m_downSince);
    // As for files, whatever the gap between frames.
    const Time least = m_channel->GetDelay() +
                       NanoSeconds(hpcc::tx_time(m_dataRate.GetBitRate(), LARGEST_FRAME, false));
    NS_ABORT_MSG_IF(down < least,
                    "a link cannot come up "
                        << down.As(Time::NS) << " after it failed; expected at least "
                        << least.As(Time::NS) << ", when what was on it is gone");
    m_linkUp = true;
}

void
QbbNetDevice::TellLinkChange()
{
    m_linkChanges();
}

void
QbbNetDevice::OnPause(uint8_t priority, bool pause)
{
    const uint8_t bit = 1U << priority;
    const bool wasPaused = m_paused & bit;
    const int64_t now = Simulator::Now().GetNanoSeconds();
    m_pauses += pause;
    m_paused = pause ? m_paused | bit : m_paused & ~bit;
    if (pause && !wasPaused)
    {
        m_pausedSince[priority] = now;
    }
    else if (!pause && wasPaused)
    {
        m_pausedTime[priority] += now - m_pausedSince[priority];
    }
    m_pauseTrace(priority, pause);
}

uint64_t
QbbNetDevice::GetTxFrames() const
{
    return GetState().frames;
}

uint64_t
QbbNetDevice::GetTxTelemetryBytes() const
{
    return GetState().telemetry_bytes;
}

uint64_t
QbbNetDevice::GetLostFrames() const
{
    return GetState().losses;
}

uint64_t
QbbNetDevice::GetPauses() const
{
    return m_pauses;
}

Time
QbbNetDevice::GetPausedTime(uint8_t priority) const
{
    CheckPriority(priority);
    const bool counts = m_linkUp && (m_paused >> priority & 1);
    const Time before = NanoSeconds(m_pausedTime[priority]);
    return counts ? before + Simulator::Now() - NanoSeconds(m_pausedSince[priority]) : before;
}

void
QbbNetDevice::CheckPriority(uint8_t priority)
{
    NS_ABORT_MSG_UNLESS(priority < PRIORITIES,
                        "there is no priority, and no queue, " << +priority << "; expected 0 to "
                                                               << PRIORITIES - 1);
}

} // namespace ns3
