/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-net-device.h"

#include "frame-serializer.h"
#include "late-trace.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/random.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "ns3-bridge/src/switch.rs.h"
#include "qbb-channel.h"
#include "shared-network.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/trace-source-accessor.h"
#include "ns3/uinteger.h"

#include <limits>
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
        device.m_flags.watched = true;
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
                            MakeLateTraceAccessor<QbbNetDevice>([](QbbNetDevice & device) -> auto& {
                                return device.GetQueueWatch().GetSource();
                            }),
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

QbbNetDevice::TxComplete::TxComplete(QbbNetDevice& device)
    : m_device(device)
{
}

void
QbbNetDevice::TxComplete::Fetch(unsigned step)
{
    switch (step)
    {
    case 1:
        m_device.FetchState();
        break;
    case 2:
        if (const QbbFrame* head = m_device.PeekHead())
        {
            head->FetchState();
        }
        FetchLines(m_device.m_owner, QbbNode::STATE_LINES);
        break;
    default:
        m_device.m_owner->FetchDeparture(step, m_device);
    }
}

void
QbbNetDevice::TxComplete::Notify()
{
    m_device.OnTxComplete();
}

void
QbbNetDevice::FetchArrival(unsigned step, const QbbFrame& frame) const
{
    switch (step)
    {
    case 1:
        FetchLines(&m_txComplete, 2);
        break;
    case 2:
        FetchLines(m_owner, QbbNode::STATE_LINES);
        break;
    default:
        // A node that was disposed of has frames on their way to it.
        if (m_owner)
        {
            m_owner->FetchArrival(step, *this, frame);
        }
    }
}

void
QbbNetDevice::OnTxComplete()
{
    m_busy = false;
    TrySend();
}

QbbNetDevice::QbbNetDevice()
    : m_txComplete(*this),
      m_address(Mac48Address::Allocate())
{
    NS_LOG_FUNCTION(this);
}

QbbNetDevice::QbbNetDevice(const QbbNetDevice& other)
    : NetDevice(other),
      m_txComplete(*this),
      m_dataRate(other.m_dataRate),
      m_address(Mac48Address::Allocate()),
      m_mtu(other.m_mtu)
{
    NS_LOG_FUNCTION(this << &other);
}

QbbNetDevice::~QbbNetDevice()
{
    NS_LOG_FUNCTION(this);
    WithdrawTxComplete();
}

void
QbbNetDevice::DoDispose()
{
    NS_LOG_FUNCTION(this);
    WithdrawTxComplete();
    m_linkUp = false;
    m_shared = nullptr;
    m_owner = nullptr;
    m_peer = nullptr;
    m_channel = nullptr;
    m_node = nullptr;
    m_loss.reset();
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
    m_flags.asks = !owner.IsSwitch();
}

void
QbbNetDevice::Attach(Ptr<QbbChannel> channel, QbbNetDevice& peer)
{
    NS_LOG_FUNCTION(this << channel << &peer);
    m_channel = channel;
    m_peer = &peer;
    m_delayNanos = channel->GetDelay().GetNanoSeconds();
    m_bitRate = m_dataRate.GetBitRate();
    m_wheel = WheelSimulatorImpl::Find();
    m_wheelOwner = m_wheel;
    m_peerNodeId = peer.m_nodeId;
    m_peerPort = peer.m_port;
    ReadSettings();
    m_linkUp = true;
    m_linkChanges();
}

void
QbbNetDevice::ReadSettings()
{
    NS_LOG_FUNCTION(this);
    const hpcc::Settings& settings = m_owner->GetSettings();
    m_floorsTimes = settings.floors_times();
    m_flags.keepsRate = settings.keeps_rates_exactly();
    m_losesPfc = settings.loses_pfc();
    m_frameGap = settings.frame_gap();
    m_txTimes = {};
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

void
QbbNetDevice::SetShared(SharedNetwork* shared)
{
    NS_LOG_FUNCTION(this);
    m_shared = shared;
    m_flags.leaves =
        shared->IsLocal(m_owner->GetIndex()) && !shared->IsLocal(m_peer->GetOwner().GetIndex());
}

void
QbbNetDevice::SetLoss(std::shared_ptr<hpcc::Loss> loss)
{
    NS_LOG_FUNCTION(this);
    m_loss = std::move(loss);
    m_flags.loses = m_loss != nullptr;
}

void
QbbNetDevice::Enqueue(QbbFrame* frame, uint8_t queue)
{
    CheckPriority(queue);
    m_queues[queue].Push(frame);
    m_queuedBytes += frame->size;
    m_waiting |= 1U << queue;
    if (m_flags.watched)
    {
        m_enqueueTrace(*frame);
    }
}

uint8_t
QbbNetDevice::NextInTurn(uint32_t ready) const
{
    // The first ready queue behind the one that was served last, round to itself.
    const uint32_t turn = m_lastServed + 1;
    const uint32_t twice = (ready | ready << PRIORITIES) >> turn;
    return (turn + __builtin_ctz(twice)) % PRIORITIES;
}

uint8_t
QbbNetDevice::NextByClass()
{
    std::array<uint32_t, PRIORITIES> heads{};
    for (std::size_t queue = 1; queue < PRIORITIES; ++queue)
    {
        heads[queue] = m_queues[queue].GetHeadBytes();
    }
    return static_cast<uint8_t>(m_scheduler->next(heads, m_paused));
}

void
QbbNetDevice::SetScheduler(hpcc::Scheduler* scheduler)
{
    NS_LOG_FUNCTION(this);
    m_scheduler.reset(scheduler);
    m_flags.hasClasses = scheduler != nullptr;
}

QbbFrame*
QbbNetDevice::Dequeue()
{
    uint8_t queue = 0;
    if (!(m_waiting & 1))
    {
        const uint32_t ready = m_waiting & ~m_paused;
        if (!ready)
        {
            return nullptr;
        }
        queue = m_flags.hasClasses ? NextByClass() : NextInTurn(ready);
        m_lastServed = queue;
    }
    QbbFrame* frame = m_queues[queue].Pop();
    if (m_queues[queue].IsEmpty())
    {
        m_waiting &= ~(1U << queue);
    }
    m_queuedBytes -= frame->size;
    return frame;
}

void
QbbNetDevice::ScheduleBoth(uint64_t txTime, QbbFrame* frame)
{
    m_completeAt = GetNow() + txTime;
    // Such a simulator drops a reference after each event.
    frame->Ref();
    Simulator::ScheduleWithContext(m_nodeId,
                                   TimeStep(txTime),
                                   &QbbNetDevice::OnTxComplete,
                                   Ptr<QbbNetDevice>(this));
    Simulator::ScheduleWithContext(m_peerNodeId, TimeStep(txTime + m_delayNanos), frame);
}

void
QbbNetDevice::ScheduleTxComplete()
{
    m_busy = true;
    m_wheel->InsertReserved(m_completeAt, m_completeUid, m_nodeId, &m_txComplete);
}

void
QbbNetDevice::AwaitEnd()
{
    if (m_waiting || !m_flags.asks || m_owner->AwaitsEnd(*this, m_completeAt))
    {
        ScheduleTxComplete();
    }
}

void
QbbNetDevice::WithdrawTxComplete()
{
    if (m_busy && m_wheel)
    {
        m_wheel->Withdraw(m_completeAt, m_completeUid);
        m_busy = false;
    }
}

void
QbbNetDevice::TrySend()
{
    if (!m_linkUp || IsBusy())
    {
        return;
    }
    // Busy already while the node decides: it may send a PFC frame, which must not overtake on this
    // port.
    m_busy = true;
    QbbFrame* frame = m_owner->NextFrame(*this);
    if (!frame)
    {
        m_busy = false;
        return;
    }
    if (m_flags.watched)
    {
        m_dequeueTrace(*frame);
    }
    TransmitStart(frame);
}

uint64_t
QbbNetDevice::GetTxTime(uint32_t size)
{
    // Most frames are full packets or acknowledgements.
    constexpr uint32_t LONG = 256;
    TxTime& known = m_txTimes[size < LONG ? 0 : 1];
    if (known.size != size)
    {
        const uint64_t time = m_flags.keepsRate
                                  ? hpcc::tx_picos(m_bitRate, size + m_frameGap)
                                  : hpcc::tx_time(m_bitRate, size + m_frameGap, m_floorsTimes);
        if (time > std::numeric_limits<uint32_t>::max())
        {
            return time;
        }
        known = {size, static_cast<uint32_t>(time)};
    }
    return known.time;
}

uint64_t
QbbNetDevice::GetExactTxTime(uint32_t size)
{
    constexpr uint64_t PICOS = 1000;
    // A frame that follows at once has begun when the last one ended exactly.
    const uint64_t late = GetNow() == m_completeAt ? m_late : 0;
    const uint64_t picos = GetTxTime(size);
    const uint64_t rest = picos > late ? picos - late : 0;
    const uint64_t nanos = (rest + PICOS - 1) / PICOS;
    m_late = static_cast<uint16_t>(nanos * PICOS + late - picos);
    return nanos;
}

void
QbbNetDevice::TransmitStart(QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    if (m_flags.watched)
    {
        ShowDeparture(*frame);
    }
    ++m_txFrames;
    m_txTelemetryBytes += frame->GetTelemetryCost();
    const uint64_t txTime =
        m_flags.keepsRate ? GetExactTxTime(frame->size) : GetTxTime(frame->size);
    frame->receiver = m_peer;
    if (!m_wheel)
    {
        ScheduleBoth(txTime, frame);
        return;
    }
    // The end of the transmission comes before the arrival, as in the reference simulator.
    m_completeAt = m_wheel->GetNow() + txTime;
    m_completeUid = m_wheel->Reserve();
    m_busy = false;
    if (m_waiting || m_flags.asks)
    {
        AwaitEnd();
    }
    if (m_flags.leaves)
    {
        m_shared->Send(m_completeAt + m_delayNanos, *m_peer, frame);
        return;
    }
    m_wheel->InsertArrival(m_completeAt + m_delayNanos, m_peerNodeId, m_peerPort, frame);
}

void
QbbNetDevice::ShowDeparture(const QbbFrame& frame)
{
    m_txBeginTrace(frame);
    if (!m_sniffer.IsEmpty())
    {
        Sniff(frame, *this, *m_peer);
    }
}

void
QbbNetDevice::ShowArrival(QbbFrame& frame)
{
    m_rxEndTrace(frame);
    if (!m_sniffer.IsEmpty())
    {
        Sniff(frame, *m_peer, *this);
    }
    if (frame.kind != QbbFrame::Kind::PFC)
    {
        m_taps(frame);
    }
}

void
QbbNetDevice::Sniff(const QbbFrame& frame, const QbbNetDevice& sender, const QbbNetDevice& receiver)
{
    if (frame.CarriesPacket())
    {
        m_sniffer(FrameSerializer::SerializePacket(frame, sender.m_address, receiver.m_address));
        return;
    }
    // Between hosts whose packets have bytes of their own, pauses may have none.
    if (frame.kind == QbbFrame::Kind::PFC && !m_owner->GetSettings().has_bytes())
    {
        return;
    }
    if (!m_serializer)
    {
        m_serializer = std::make_unique<FrameSerializer>(m_owner->GetSettings());
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
    const Time least = NanoSeconds(m_delayNanos + hpcc::tx_time(m_bitRate, LARGEST_FRAME, false));
    NS_ABORT_MSG_IF(down < least,
                    "a link cannot come up "
                        << down.As(Time::NS) << " after it failed; expected at least "
                        << least.As(Time::NS) << ", when what was on it is gone");
    const uint8_t wasPaused = std::exchange(m_paused, 0);
    m_linkUp = true;
    for (uint8_t priority = 0; priority < PRIORITIES; ++priority)
    {
        if (wasPaused >> priority & 1)
        {
            m_pauseTrace(priority, false);
        }
    }
}

void
QbbNetDevice::TellLinkChange()
{
    m_linkChanges();
}

QueueWatch&
QbbNetDevice::GetQueueWatch()
{
    if (!m_queueWatch)
    {
        m_queueWatch = std::make_unique<QueueWatch>(*this);
    }
    return *m_queueWatch;
}

QbbFrame*
QbbNetDevice::DequeueAny()
{
    const uint8_t paused = std::exchange(m_paused, 0);
    QbbFrame* frame = Dequeue();
    m_paused = paused;
    if (frame)
    {
        m_linkDropTrace(*frame);
    }
    return frame;
}

void
QbbNetDevice::Receive(QbbFrame* frame)
{
    NS_LOG_FUNCTION(this << frame->size);
    // A lost resume would pause the port for good; see ReferenceFaults.
    const bool mayBeLost = m_flags.loses && (m_losesPfc || frame->kind != QbbFrame::Kind::PFC);
    if (!m_linkUp || (mayBeLost && m_loss->is_lost()))
    {
        ++m_lostFrames;
        m_rxDropTrace(*frame);
        frame->Release();
        return;
    }
    if (m_flags.watched)
    {
        ShowArrival(*frame);
    }
    if (frame->kind == QbbFrame::Kind::PFC)
    {
        HandlePfc(*frame);
        frame->Release();
        return;
    }
    m_owner->Receive(*this, frame);
}

void
QbbNetDevice::AddTap(Tap tap)
{
    m_flags.watched = true;
    m_taps.ConnectWithoutContext(tap);
}

void
QbbNetDevice::HandlePfc(const QbbFrame& frame)
{
    const uint8_t bit = 1U << frame.priority;
    const bool wasPaused = m_paused & bit;
    const int64_t now = Simulator::Now().GetNanoSeconds();
    m_pauseTrace(frame.priority, frame.pause);
    if (frame.pause)
    {
        ++m_pauses;
        m_paused |= bit;
        if (!wasPaused)
        {
            m_pausedSince[frame.priority] = now;
        }
        m_owner->OnPause(*this);
        return;
    }
    m_paused &= ~bit;
    m_owner->OnPause(*this);
    if (wasPaused)
    {
        m_pausedTime[frame.priority] += now - m_pausedSince[frame.priority];
    }
    TrySend();
}

uint64_t
QbbNetDevice::GetTxFrames() const
{
    return m_txFrames;
}

uint64_t
QbbNetDevice::GetTxTelemetryBytes() const
{
    return m_txTelemetryBytes;
}

uint64_t
QbbNetDevice::GetLostFrames() const
{
    return m_lostFrames;
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
QbbNetDevice::RefusePriority(uint8_t priority)
{
    NS_ABORT_MSG("there is no priority, and no queue, " << +priority << "; expected 0 to "
                                                        << PRIORITIES - 1);
}

} // namespace ns3
