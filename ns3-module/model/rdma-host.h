/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_HOST_H
#define RDMA_HOST_H

#include "fast-cnp-host.h"
#include "host-alarms.h"
#include "qbb-net-device.h"
#include "qbb-node.h"
#include "source-ports.h"

#include "ns3/callback.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{

class BottleneckWatch;
class SlowReceiver;

/**
 * \ingroup hpcc
 * \brief A flow from one host to another: the request and its outcome.
 */
struct RdmaFlow
{
    uint32_t src{0};     //!< index of the source in the network
    uint32_t dst{0};     //!< index of the destination in the network
    uint16_t sport{0};   //!< UDP source port, chosen by the source
    uint16_t dport{100}; //!< UDP destination port
    uint8_t priority{3}; //!< priority group
    uint64_t size{0};    //!< payload bytes
    uint64_t tag{0};     //!< the caller's own
    /// Sequence number of its first byte: above 0 if earlier flows have used its queue pair.
    uint64_t firstSeq{0};
    Time start;      //!< when it began
    Time completion; //!< duration until its last acknowledgement, once it has finished
    /// Whether congestion control ever moved its rate or window, once it has finished; true as well
    /// where the algorithm is "none".
    bool isSteered{true};
};

/**
 * \ingroup hpcc
 * \brief The state of a flow's congestion control.
 */
struct RdmaControl
{
    DataRate rate;        //!< sending rate
    uint64_t window{0};   //!< window in bytes, 0 if the flow has none
    uint64_t inFlight{0}; //!< bytes that were sent and not acknowledged
    /// U of the busiest link as the sender computes it; not a number if it computes none.
    double utilisation{NAN};
    /// The link that moved U last: 0 for the first switch's, -1 if not known.
    int16_t bottleneck{-1};
    /// Whether rate or window have ever moved; true as well where the algorithm is "none".
    bool isSteered{true};
};

/**
 * \ingroup hpcc
 * \brief Counters of a host, over all of its flows.
 */
struct RdmaCounters
{
    uint64_t resent{0};          //!< packets that were sent again
    uint64_t timeouts{0};        //!< retransmission timeouts
    uint64_t probes{0};          //!< probes sent
    uint64_t feedback{0};        //!< packets that brought telemetry back
    uint64_t rejectedBySeal{0};  //!< telemetry that came back and was not sealed as it must be
    uint64_t rejectedByGuard{0}; //!< telemetry that came back and that the guard did not believe
    /// Telemetry that could not be compared with the last, and was kept for the next.
    uint64_t baselineResets{0};
    uint64_t cnps{0};        //!< congestion notification packets sent
    uint64_t unsentAcks{0};  //!< ignored answers: of bytes that were never sent
    uint64_t unaskedCnps{0}; //!< ignored: CNPs where CongestionNotification is not "cnp"
    uint64_t marksMerged{0}; //!< congestion marks reported together with others
    uint64_t marksHeard{0};  //!< answers of receivers that told a flow of a congestion mark
    /// answers of receivers that were ignored: not sealed as Seal says
    uint64_t unsealedAnswers{0};
    uint64_t pathMoves{0}; //!< times that a flow moved to another path by telemetry
    /// Frames that the NIC of a slow receiver had no room for.
    uint64_t receiveDropped{0};
    uint64_t receivePauses{0}; //!< pauses that it sent
};

/**
 * \ingroup hpcc
 * \brief An RDMA host: queue pairs with window and pacing, acknowledgements, congestion control.
 *
 * The decisions are the core's (`hpcc_core::transport`, `hpcc_core::cc`); the host moves frames and
 * keeps time. Both ends of a flow are set up out of band, as RDMA connection managers do.
 */
class RdmaHost : public QbbNode
{
  public:
    /// The queue pair of a flow that another process simulates.
    static constexpr uint32_t ELSEWHERE = UINT32_MAX;

    /// Called when a flow has finished.
    using FlowCallback = Callback<void, const RdmaFlow&>;

    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    RdmaHost();

    /**
     * \brief Make a host with the same attributes, and nothing else of the other.
     * \param other whose attributes
     */
    RdmaHost(const RdmaHost& other);

    ~RdmaHost() override;

    /**
     * \brief Ask whether there is a way to another host and back; a failed link may have cut it.
     * \param peer the other host; ends the program if it is not part of this network
     * \return whether there is
     */
    bool CanReach(const RdmaHost& peer) const;

    /**
     * \brief Start a flow now. If failed links have cut the way, it waits, and sends once there is
     * one. Where several processes share a simulation, all of them start all flows, in the same
     * order: the source's process sends, the others take note.
     *
     * With the attribute QueuePairs "per_pair" flows to the same peer, of the same priority and
     * destination port, are messages of one queue pair. Each begins when the one before has been
     * sent, at the rate and window that congestion control has come to by then.
     *
     * \param peer the destination
     * \param flow destination port, priority, size and tag
     * \param done called when the last acknowledgement has arrived
     * \return the flow's queue pair, or ELSEWHERE; ends the program if switches keep no memory for
     * the flow's priority, or links never connect the two
     */
    uint32_t StartFlow(Ptr<RdmaHost> peer, const RdmaFlow& flow, FlowCallback done);

    /**
     * \brief A flow to this host has finished.
     * \param receiver its queue pair here
     */
    void CloseReceiver(uint32_t receiver);

    /**
     * \brief Count the acknowledged bytes of a flow that has not finished.
     * \param queuePair the flow's queue pair
     * \param firstSeq the flow's RdmaFlow::firstSeq
     * \return bytes; of a flow that has finished 0
     */
    uint64_t GetAckedBytes(uint32_t queuePair, uint64_t firstSeq = 0) const;

    /**
     * \param queuePair queue pair of a flow that has not finished
     * \return the flow; of several on a queue pair the one that was started last
     */
    const RdmaFlow& GetFlow(uint32_t queuePair) const;

    /**
     * \param queuePair a flow's queue pair
     * \return the state of its congestion control; of a finished flow all is 0, except what flows
     * share
     */
    RdmaControl GetControl(uint32_t queuePair) const;

    /**
     * \param queuePair a flow's queue pair
     * \return the flow's sending rate, 0 if it has finished
     */
    DataRate GetRate(uint32_t queuePair) const;

    /**
     * \param queuePair a queue pair
     * \return the first sequence number that it has never sent, 0 if it has finished
     */
    uint64_t GetSentEnd(uint32_t queuePair) const;

    /**
     * \param queuePair a flow's queue pair
     * \return the flow's window in bytes, 0 if it has finished or has none
     */
    uint64_t GetWindow(uint32_t queuePair) const;

    /// Called with a flow in progress, its queue pair, and the destination's.
    using FlowVisitor =
        std::function<void(const RdmaFlow& flow, uint32_t queuePair, uint32_t receiver)>;

    /**
     * \brief Visit the flows from here that are in progress, in no particular order.
     * \param visit called with each flow; must start none
     */
    void VisitFlows(const FlowVisitor& visit) const;

    /**
     * \param queuePair a queue pair
     * \return the flow from here that has it, of several the one that finishes first; nullptr if
     * none has
     */
    const RdmaFlow* FindFlow(uint32_t queuePair) const;

    /**
     * \param queuePair a queue pair
     * \param seq a sequence number
     * \return the flow in progress whose byte has this number, or the last that begins before;
     * nullptr if none does
     */
    const RdmaFlow* FindFlow(uint32_t queuePair, uint64_t seq) const;

    /**
     * \brief Send a frame that is no flow's: by the port to its destination, ahead of data, as
     * acknowledgements go. Ends the program if switches keep no memory for its priority.
     * \param frame the frame
     */
    void Send(QbbFrame* frame);

    /// \return the counters so far
    RdmaCounters GetCounters() const;

    /**
     * \brief Compute how long a flow that has started here would take on an idle network.
     * \param flow the flow, whose ports say which of several paths it takes
     * \return the flow completion time, 0 if there is no way
     */
    Time GetStandaloneFct(const RdmaFlow& flow) const;

    // Inherited
    uint32_t GetMtu() const override;
    bool IsSwitch() const override;
    void Start(const std::shared_ptr<hpcc::Network>& network) override;
    void OnLinkDown(QbbNetDevice& port) override;
    void OnNewRoutes() override;
    void Receive(QbbNetDevice& in, QbbFrame* frame) override;
    QbbFrame* NextFrame(QbbNetDevice& out) override;
    bool AwaitsEnd(const QbbNetDevice& out, uint64_t end) override;
    void FetchArrival(unsigned step, const QbbNetDevice& in, const QbbFrame& frame) const override;
    void FetchDeparture(unsigned step, const QbbNetDevice& out) const override;

    /**
     * TracedCallback signature for flows.
     * \param [in] flow the flow
     */
    typedef void (*FlowTracedCallback)(const RdmaFlow& flow);

    /**
     * TracedCallback signature for the state of a flow's congestion control.
     * \param [in] flow the flow
     * \param [in] control the present state
     */
    typedef void (*ControlTracedCallback)(const RdmaFlow& flow, const RdmaControl& control);

    /**
     * TracedCallback signature for packets that are sent again.
     * \param [in] flow the flow
     * \param [in] seq first byte of the packet, counted from the flow's first: RdmaFlow::firstSeq
     * more in the sequence numbers of the queue pair
     */
    typedef void (*ResendTracedCallback)(const RdmaFlow& flow, uint64_t seq);

    /**
     * TracedCallback signature for round-trip times.
     * \param [in] flow the flow
     * \param [in] rtt from the first bit of the newest packet that is acknowledged and was sent
     * once
     */
    typedef void (*RttTracedCallback)(const RdmaFlow& flow, Time rtt);

    /**
     * TracedCallback signature for bottlenecks, which are links of the path: 0 for the first
     * switch's, -1 where it is not known.
     * \param [in] flow the flow
     * \param [in] before its bottleneck until now
     * \param [in] now its bottleneck from now on
     */
    typedef void (*BottleneckTracedCallback)(const RdmaFlow& flow, int16_t before, int16_t now);

  protected:
    void DoDispose() override;

  private:
    /// Measure round-trip times from now on, for the trace source.
    void MeasureRtts();

    /// \return the watch of bottlenecks for the trace source; made at the first call
    BottleneckWatch& GetBottleneckWatch();

    /// Most timers of a queue pair; the core's numbers are below.
    static constexpr std::size_t MAX_TIMERS = 8;

    /// A flow in progress.
    struct Message
    {
        RdmaFlow flow;     //!< the flow
        FlowCallback done; //!< called when it has finished
    };

    /// The host's record of a queue pair on which it sends.
    struct Sending
    {
        std::map<uint64_t, Message> messages;        //!< its flows, by RdmaFlow::firstSeq
        Ptr<RdmaHost> peer;                          //!< its destination
        uint32_t receiver{0};                        //!< the destination's queue pair
        uint16_t dport{0};                           //!< UDP destination port
        uint64_t flowKey{0};                         //!< its key in m_byFlowKey
        std::array<HostAlarm*, MAX_TIMERS> timers{}; //!< the pending alarm of each timer
    };

    /**
     * \brief Open a queue pair and start its first flow.
     * \param peer the destination
     * \param request the request of StartFlow()
     * \param done called when the flow has finished
     * \return the queue pair, or ELSEWHERE
     */
    uint32_t OpenQueuePair(Ptr<RdmaHost> peer, const RdmaFlow& request, FlowCallback done);

    /**
     * \brief Trace that a flow begins, and let it send.
     * \param flow the flow
     * \param nic the port of its queue pair
     */
    void TellStart(const RdmaFlow& flow, uint16_t nic);

    /**
     * \brief End the run: a flow finds no room for a queue pair.
     * \param host index of the host that has none
     * \return ELSEWHERE
     */
    static uint32_t RefuseQueuePair(uint32_t host);

    /**
     * \brief Start a flow on a queue pair that earlier flows have used.
     * \param queuePair the queue pair
     * \param dst index of its destination
     * \param request the request of StartFlow()
     * \param done called when the flow has finished
     * \return whether it has started; if not, the run ends
     */
    bool Post(uint32_t queuePair, uint32_t dst, const RdmaFlow& request, FlowCallback done);

    /**
     * \brief Close both ends of a queue pair that no flow needs any more.
     * \param queuePair the queue pair
     * \param flow its last flow
     */
    void CloseQueuePair(uint32_t queuePair, const RdmaFlow& flow);

    /// End the program if the host has not been started, the simulation is over, or the core is
    /// calling a congestion control.
    void CheckRunning() const;

    /// End the program if a congestion control in C++ calls its own host while the core waits for
    /// its decision.
    void CheckDecided() const;

    /**
     * \brief End the program with a message if no flow from here has, or had, a queue pair.
     * \param queuePair the queue pair
     */
    void CheckKnown(uint32_t queuePair) const;

    /**
     * \brief Call the core where it may call congestion controls in C++.
     * \tparam F type of the call
     * \param call calls the core
     * \return what the call returns
     */
    template <class F>
    auto Decide(F call);

    /// \return the core's host, as it is before its first flow, with the present routes
    CorePointer<hpcc::Host> MakeCore() const;

    /**
     * \brief Prepare for a flow that arrives here.
     * \param source the core's host that sends it
     * \param nic by which of its ports
     * \param sender the flow
     * \return the flow's queue pair here; negative if there is no room for it
     */
    int64_t OpenReceiver(const hpcc::Host& source,
                         uint16_t nic,
                         const hpcc::SenderParameters& sender);

    /**
     * \brief End the program if a host is not part of this one's running network.
     * \param peer the host
     */
    void CheckPeer(const RdmaHost& peer) const;

    /**
     * \brief Ask the core whether anything can control a flow from here; throws the core's error
     * if nothing can.
     * \param peer its destination
     * \param size its bytes
     */
    void CheckControl(const RdmaHost& peer, uint64_t size) const;

    /**
     * \brief End the program if a flow is impossible, or the run if switches keep no memory for it.
     * \param peer its destination
     * \param flow the request
     * \return whether it can start
     */
    bool CheckFlow(Ptr<RdmaHost> peer, const RdmaFlow& flow) const;

    /**
     * \param dst destination of a flow from here
     * \param dport its UDP destination port
     * \param sport its UDP source port
     * \return what switches hash: the addresses and ports of its packets on the wire
     */
    hpcc::FlowKey WireKey(uint32_t dst, uint16_t dport, uint16_t sport) const;

    /**
     * \param flow a flow from here
     * \return the reference simulator's key of its queue pair
     */
    uint64_t FlowKey(const RdmaFlow& flow) const;

    /**
     * \brief Answer a data frame, or stay silent. The frame itself becomes the answer.
     * \param frame the frame
     */
    void ReceiveData(QbbFrame* frame);

    /**
     * \brief Put the answer's telemetry in place of the frame's, or send it back in a packet of its
     * own.
     * \param frame a data frame
     * \param reply how it is answered
     */
    void ReportTelemetry(QbbFrame& frame, const hpcc::Reply& reply);

    /**
     * \brief Send a congestion notification back for a data frame.
     * \param frame the frame
     */
    void SendCnp(const QbbFrame& frame);

    /**
     * \brief Take in a congestion notification by the receiver of a flow.
     * \param frame the frame
     */
    void ReceiveCnp(QbbFrame* frame);

    /**
     * \brief Take in a congestion notification by a switch, or answer that it is not known.
     * \param frame the frame
     */
    void ReceiveFastCnp(QbbFrame* frame);

    /**
     * \brief Answer a notification that the host does not know.
     * \param frame the notification
     */
    void ReportUnknown(const QbbFrame& frame);

    /**
     * \brief Seal an answer, if the host seals.
     * \param answer the answer, with all that it brings
     * \param receiver the queue pair that it comes from
     */
    void Seal(QbbFrame& answer, uint32_t receiver) const;

    /**
     * \brief Make a frame that goes back to the source of another.
     * \param kind its kind
     * \param frame the other frame
     * \param size its bytes on the link
     * \return the frame, without telemetry
     */
    QbbFrame* MakeAnswer(QbbFrame::Kind kind, const QbbFrame& frame, uint32_t size);

    /**
     * \brief Answer a probe, or stay silent. The frame itself becomes the answer.
     * \param frame the frame
     */
    void ReceiveProbe(QbbFrame* frame);

    /**
     * \brief Take in telemetry that came back by itself.
     * \param frame the frame
     */
    void ReceiveFeedback(QbbFrame* frame);

    /**
     * \brief Send a frame that has been turned round back to where it came from.
     * \param frame the frame
     * \param port the port, or -1 if there is no way
     */
    void SendBack(QbbFrame* frame, int32_t port);

    /**
     * \brief The host takes a frame that has come for it.
     * \param frame the frame; the host now owns it
     */
    void Take(QbbFrame* frame);

    /**
     * \brief Ask by which port an answer leaves.
     * \param frame the frame that is answered
     * \return the port, or -1 if there is no way
     */
    int32_t PortBack(const QbbFrame& frame) const;

    /**
     * \brief Make a frame of a flow.
     * \param kind its kind
     * \param segment its payload
     * \param now the present time in ns
     * \return the frame
     */
    QbbFrame* MakeFrame(QbbFrame::Kind kind, const hpcc::Segment& segment, uint64_t now);

    /**
     * \brief Apply what feedback has changed at a flow.
     * \param queuePair its queue pair
     * \param result the changes
     */
    void TakeResult(uint32_t queuePair, const hpcc::AckResult& result);

    /**
     * \brief Trace the round-trip time of an acknowledgement, if it has one.
     * \param queuePair queue pair of its flow
     */
    void TraceRtt(uint32_t queuePair);

    /**
     * \brief Trace a packet that is sent again.
     * \param segment the packet
     */
    void TraceResend(const hpcc::Segment& segment);

    /**
     * \brief Trace the state of a flow.
     * \param queuePair its queue pair
     */
    void TraceControl(uint32_t queuePair);

    /**
     * \brief Take in an acknowledgement.
     * \param frame the frame
     */
    void ReceiveAck(QbbFrame* frame);

    /**
     * \brief Turn a frame round into its answer.
     * \param frame the frame
     * \param size bytes of the answer on the link
     */
    void SwapEndpoints(QbbFrame& frame, uint32_t size) const;

    /**
     * \brief The earliest flow of a queue pair has finished.
     * \param queuePair the queue pair
     */
    void FinishFirst(uint32_t queuePair);

    /**
     * \brief Schedule a port's wake-up when the core has planned one, or has moved it.
     * \param port the port
     */
    void UpdateWakeUp(uint16_t port);

    /**
     * \brief Schedule timers of a flow that the core has armed, each in place of its earlier alarm.
     * \param queuePair the flow's queue pair
     * \param armed bit n: timer n
     */
    void ScheduleTimers(uint32_t queuePair, uint8_t armed);

    /**
     * \brief An alarm fires.
     * \param alarm the alarm
     */
    void OnAlarm(const HostAlarm& alarm);

    /**
     * \brief A port wakes up.
     * \param port the port
     */
    void OnWakeUp(uint16_t port);

    /**
     * \brief The time of a flow's timer has come.
     * \param queuePair the flow's queue pair
     * \param timer the timer
     */
    void OnTimeout(uint32_t queuePair, uint8_t timer);

    // Members that each frame needs stand together.
    alignas(64) CorePointer<hpcc::Host> m_core; //!< the decisions
    Ptr<FastCnpHost> m_fastCnp;                 //!< its part in Fast CNP
    std::vector<HostAlarm*> m_wakeUps;          //!< each port's pending wake-up
    uint32_t m_mtu{0};                          //!< most payload bytes in a packet
    /// UDP destination port of all frames; 0: the flow's.
    uint16_t m_wirePort{0};
    uint8_t m_ackPriority{0};        //!< the priority of acknowledgements
    bool m_sharesQueuePairs{false};  //!< whether flows share queue pairs
    bool m_decides{false};           //!< whether the core may be calling a congestion control
    mutable bool m_isChecked{false}; //!< whether CheckControl() was asked before
    bool m_foresees{false};          //!< whether wake-ups may be planned while a frame leaves
    bool m_receivesSlowly{false};    //!< whether NICs hold what arrives
    /// Whether acknowledgements do no more than echo telemetry.
    bool m_echoesTelemetry{true};
    bool m_sealsAnswers{false}; //!< whether receivers seal what they answer
    // The second line.
    alignas(64)
        TracedCallback<const RdmaFlow&, const RdmaControl&> m_controlTrace; //!< trace source
    TracedCallback<const RdmaFlow&, Time> m_rttTrace;                       //!< trace source
    /// Follows bottlenecks, once the trace source has a sink.
    std::unique_ptr<BottleneckWatch> m_bottleneckWatch;
    HostAlarms m_alarms; //!< wake-ups and timers
    // Members that few frames need.
    std::vector<std::unique_ptr<SlowReceiver>> m_slowReceivers; //!< by port, if NICs hold anything
    /// The receivers of a host that another process simulates.
    CorePointer<hpcc::ReceiverKeys> m_receiverKeys;
    std::shared_ptr<hpcc::Network> m_network;        //!< paths
    std::unordered_map<uint32_t, Sending> m_sending; //!< queue pairs that send
    /// Queue pairs that flows share, by destination, priority and UDP destination port.
    std::map<std::tuple<uint32_t, uint8_t, uint16_t>, uint32_t> m_shareable;
    /// Queue pairs by the reference simulator's key. After a link has failed, flows get their ports
    /// in the order of this map, as in the reference.
    std::unordered_map<uint64_t, uint32_t> m_byFlowKey;
    /// UDP source ports of the flows to here, by their source. The destination keeps them, because
    /// all processes close receivers at the same time.
    std::unordered_map<uint32_t, SourcePorts> m_sourcePorts;
    /// Source and UDP source port of the flows to here, by receiver.
    std::unordered_map<uint32_t, std::pair<uint32_t, uint16_t>> m_arriving;
    TracedCallback<const RdmaFlow&> m_startTrace;            //!< trace source
    TracedCallback<const RdmaFlow&> m_finishTrace;           //!< trace source
    TracedCallback<const RdmaFlow&, uint64_t> m_resendTrace; //!< trace source
    TracedCallback<const RdmaFlow&> m_cnpTrace;              //!< trace source
    bool m_measuresRtts{false}; //!< whether the trace source of round-trip times has a sink
};

template <class F>
auto
RdmaHost::Decide(F call)
{
    CheckDecided();
    m_decides = true;
    const auto result = call();
    m_decides = false;
    return result;
}

} // namespace ns3

#endif /* RDMA_HOST_H */
