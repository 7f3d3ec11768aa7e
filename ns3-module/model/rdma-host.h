/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_HOST_H
#define RDMA_HOST_H

#include "qbb-net-device.h"
#include "qbb-node.h"
#include "rdma-congestion-ops.h"

#include "ns3/callback.h"
#include "ns3/data-rate.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace ns3
{

class BottleneckWatch;

/**
 * \ingroup hpcc
 * \brief A flow from one host to another: the request and its outcome.
 */
struct RdmaFlow
{
    /// The size of a flow that sends until it is stopped, or to the end of the simulation.
    static constexpr uint64_t ENDLESS = 1ULL << 53;

    uint32_t src{0};     //!< index of the source in the network
    uint32_t dst{0};     //!< index of the destination in the network
    uint16_t sport{0};   //!< UDP source port, chosen by the source
    uint16_t dport{100}; //!< UDP destination port
    uint8_t priority{3}; //!< priority group
    uint64_t size{0};    //!< payload bytes, or ENDLESS
    uint64_t tag{0};     //!< the caller's own
    /// Sequence number of its first byte: above 0 if earlier flows have used its queue pair.
    uint64_t firstSeq{0};
    /// The link of its host by which it leaves, counted from 0; -1: a hash chooses one of those
    /// that lead to the destination.
    int16_t nic{-1};
    DataRate maxRate; //!< its highest rate; 0: its port's
    /// Its congestion control, as RdmaHost::CongestionControl, perhaps with parameters:
    /// "ns3::MyControl[Target=20000]", "dcqcn[Gain=0.01|AiRate=40Mbps]"; empty: its host's.
    std::string congestionControl;
    Time stop;       //!< when it sends its last packet; 0: when it has sent all
    Time start;      //!< when it began
    Time completion; //!< duration until its last acknowledgement, once it has finished
    /// Whether congestion control ever moved its rate or window, once it has finished; true as well
    /// where the algorithm is "none".
    bool isSteered{true};
};

/**
 * \brief Write a flow's ends, ports and bytes.
 * \param os where to
 * \param flow the flow
 * \return os
 */
std::ostream& operator<<(std::ostream& os, const RdmaFlow& flow);

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
    /// Congestion marks that arrived and that no sender heard of.
    uint64_t marksUntold{0};
    uint64_t trimsHeard{0}; //!< headers that arrived without their payload
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
     * \brief Stop a flow: it sends one packet more, and is complete when that is acknowledged.
     * \param queuePair the flow's queue pair; ends the program if other flows share it
     */
    void StopFlow(uint32_t queuePair);

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
     * \return the object that controls the flow if its congestion control is written in C++ and
     * the flow has not finished; otherwise nullptr
     */
    Ptr<RdmaCongestionOps> GetController(uint32_t queuePair) const;

    /// \return the queue pairs of flows in progress that such objects control, in ascending order
    std::vector<uint32_t> GetControlled() const;

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

    /// Called with a flow in progress and its queue pair.
    using FlowVisitor = std::function<void(const RdmaFlow& flow, uint32_t queuePair)>;

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
    void Send(const QbbFrame& frame);

    /// \return the counters so far
    RdmaCounters GetCounters() const;

    /**
     * \brief Compute how long a flow that has started here would take on an idle network.
     * \param flow the flow, whose ports say which of several paths it takes
     * \return the flow completion time, 0 if there is no way
     */
    Time GetStandaloneFct(const RdmaFlow& flow) const;

    /**
     * \brief A flow from here has begun now.
     * \param id its number in the network
     * \param flow the flow
     * \param queuePair its queue pair
     * \param done is called when it finishes
     */
    void BeginFlow(uint32_t id, RdmaFlow flow, uint32_t queuePair, FlowCallback done = {});

    /**
     * \brief The earliest flow of a queue pair has finished now.
     * \param queuePair the queue pair
     * \param end what has become of it
     */
    void FinishFirst(uint32_t queuePair, const hpcc::FlowEnd& end);

    // Inherited
    uint32_t GetMtu() const override;
    bool IsSwitch() const override;
    void Start(Ptr<EngineNetwork> network) override;
    void OnNotice(const hpcc::Notice& notice, QbbFrame& frame) override;

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
    bool IsLogged() const override;

  private:
    /**
     * \brief Something has happened to a flow from here.
     * \param notice what
     * \param flow the flow
     */
    void TellOfFlow(const hpcc::Notice& notice, const RdmaFlow& flow);

    /// The host is disposed of: its flows end with the packet that they are about to send.
    void EndFlows();

    /// Measure round-trip times from now on, for the trace source.
    void MeasureRtts();

    /// \return the watch of bottlenecks for the trace source; made at the first call
    BottleneckWatch& GetBottleneckWatch();

    /// A flow in progress.
    struct Message
    {
        RdmaFlow flow;     //!< the flow
        FlowCallback done; //!< called when it has finished
    };

    /// The flows of a queue pair, by RdmaFlow::firstSeq.
    using Messages = std::map<uint64_t, Message>;

    /**
     * \brief Make the accessor of a trace source of which the engine tells once it has a sink.
     * \tparam Source type of the trace source
     * \param source its member
     * \return the accessor
     */
    template <class Source>
    static Ptr<const TraceSourceAccessor> MakeWatchedAccessor(Source RdmaHost::*source);

    /**
     * \brief End the program with a message if no flow from here has, or had, a queue pair.
     * \param queuePair the queue pair
     */
    void CheckKnown(uint32_t queuePair) const;

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
     * \brief Find the congestion control that a request for a flow names, which may end the run.
     * \param flow the request
     * \param control [out] its number, if it names one
     * \return whether the flow can begin
     */
    bool FindControl(const RdmaFlow& flow, int32_t& control) const;

    /**
     * \brief Check a request for a flow, which may end the program or the run.
     * \param peer the destination
     * \param flow the request
     * \return whether it can begin
     */
    bool CheckFlow(Ptr<RdmaHost> peer, const RdmaFlow& flow) const;

    mutable bool m_isChecked{false};                  //!< whether CheckControl() was asked before
    bool m_measuresRtts{false};                       //!< whether somebody wants round-trip times
    std::unordered_map<uint32_t, Messages> m_sending; //!< queue pairs that send
    /// Follows bottlenecks, once the trace source has a sink.
    std::unique_ptr<BottleneckWatch> m_bottleneckWatch;
    TracedCallback<const RdmaFlow&, const RdmaControl&> m_controlTrace; //!< trace source
    TracedCallback<const RdmaFlow&, Time> m_rttTrace;                   //!< trace source
    TracedCallback<const RdmaFlow&> m_startTrace;                       //!< trace source
    TracedCallback<const RdmaFlow&> m_finishTrace;                      //!< trace source
    TracedCallback<const RdmaFlow&, uint64_t> m_resendTrace;            //!< trace source
    TracedCallback<const RdmaFlow&> m_timeoutTrace;                     //!< trace source
    TracedCallback<const RdmaFlow&> m_cnpTrace;                         //!< trace source
};

} // namespace ns3

#endif /* RDMA_HOST_H */
