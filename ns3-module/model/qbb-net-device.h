/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_NET_DEVICE_H
#define QBB_NET_DEVICE_H

#include "core-pointer.h"
#include "frame-serializer.h"
#include "qbb-frame.h"
#include "qbb-node.h"
#include "queue-watch.h"
#include "wheel-simulator-impl.h"

#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/simulator.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstdint>
#include <memory>

namespace ns3
{

class QbbChannel;
class SharedNetwork;

/**
 * \ingroup hpcc
 * \brief A port with priority flow control (802.1Qbb): eight queues, each of which the far end can
 * pause.
 *
 * The device times frames and obeys pauses. The QbbNode behind it chooses the frame that leaves and
 * takes the frame that arrives. Transmission takes the frame's bytes at the data rate, to the
 * nearest nanosecond, or, with the `floored_times` fault, rounded as the reference simulator rounds
 * (the core's `units` module says how). A frame arrives when its last bit does.
 *
 * Traffic enters through the node: an RdmaHost sends flows of its own, a PacketHost what the node's
 * ns-3 stack hands to Send(). Where the node takes no packets, Send() refuses.
 */
class QbbNetDevice : public NetDevice
{
  public:
    /// Number of priorities, and of queues.
    static constexpr uint8_t PRIORITIES = 8;

    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    QbbNetDevice();
    /**
     * \brief Make a device without a link.
     * \param other a device with the same attributes
     */
    QbbNetDevice(const QbbNetDevice& other);
    ~QbbNetDevice() override;

    /**
     * \brief Make the device a port of a node.
     * \param owner the node's switch or host
     * \param port its number there, counted from 0
     */
    void SetPort(QbbNode& owner, uint16_t port);

    /// \return the port's number at its node, counted from 0
    uint16_t GetPortNumber() const
    {
        return m_port;
    }

    /**
     * \brief Plug in a cable.
     * \param channel the cable
     * \param peer the device at its other end
     */
    void Attach(Ptr<QbbChannel> channel, QbbNetDevice& peer);

    /// Take over what the owner's settings say of frames.
    void ReadSettings();

    /// \return the device at the other end of the cable
    QbbNetDevice& GetPeer() const;

    /// \return the switch or host that the device is a port of; ends the program if there is none
    QbbNode& GetOwner() const;

    /// \return the data rate
    DataRate GetDataRate() const;

    /**
     * \brief Set the rate at which the device sends; ends the program if it has a link, whose rate
     * is known to all of its network.
     * \param rate the rate
     */
    void SetDataRate(DataRate rate);

    /**
     * \brief Make the device a part of a network that several processes may simulate.
     * \param shared sends frames to other processes; the simulator owns it
     */
    void SetShared(SharedNetwork* shared);

    /**
     * \brief Lose frames that arrive.
     * \param loss decides for each frame; may be shared by several devices
     */
    void SetLoss(std::shared_ptr<hpcc::Loss> loss);

    /**
     * \brief Serve the queues from 1 on by classes.
     * \param scheduler decides which sends next; nothing: all in turn. The device now owns it
     */
    void SetScheduler(hpcc::Scheduler* scheduler);

    /**
     * \brief Queue a frame.
     * \param frame the frame
     * \param queue which queue, 0 to 7
     */
    void Enqueue(QbbFrame* frame, uint8_t queue);

    /**
     * \brief Take the next frame of the queues that are not paused: queue 0 first and regardless of
     * pauses, then the others in turn, or as the scheduler says.
     * \return the frame, or nullptr
     */
    QbbFrame* Dequeue();

    /// \return bytes that wait in all queues
    uint64_t GetQueuedBytes() const
    {
        return m_queuedBytes;
    }

    /**
     * \param queue a queue, 0 to 7
     * \return bytes that wait in it
     */
    uint64_t GetQueuedBytes(uint8_t queue) const
    {
        CheckPriority(queue);
        return m_queues[queue].GetBytes();
    }

    /// \return the paused priorities: bit n stands for priority n
    uint8_t GetPaused() const
    {
        return m_paused;
    }

    /// \return the current time in nanoseconds
    uint64_t GetNow() const
    {
        return m_wheel ? m_wheel->GetNow() : Simulator::Now().GetTimeStep();
    }

    /**
     * \brief Ask whether a frame that has just come may leave at once, without a queue.
     * \param queue the queue that it would wait in
     * \return whether nothing waits, holds it back, or follows the queues, and the device is idle
     */
    bool CanCutThrough(uint8_t queue)
    {
        const bool isHeld =
            m_waiting || m_flags.watched || m_flags.hasClasses || (m_paused >> queue & 1);
        return !isHeld && m_linkUp && !IsBusy();
    }

    /**
     * \brief Begin to send a frame that need not wait: the device is busy, and TransmitStart() must
     * be called with the frame next.
     * \pre CanCutThrough()
     * \param queue the queue that it would have waited in
     */
    void BeginCutThrough(uint8_t queue)
    {
        m_busy = true;
        // Queue 0 is served before all others, and not by turns.
        m_lastServed = queue == 0 ? m_lastServed : queue;
    }

    /**
     * \brief Put a frame on the link.
     * \param frame the frame, which waits in no queue
     */
    void TransmitStart(QbbFrame* frame);

    /// Send a frame if the device is idle and its node has one.
    void TrySend();

    /// The node may wait for something else now: if a frame is being sent, ask whether the node
    /// waits for its end.
    void Reconsider()
    {
        IsBusy();
    }

    /**
     * \brief The cable breaks: nothing is sent or received any more. What waits stays; the node
     * clears it.
     */
    void TakeDown();

    /**
     * \brief The cable is whole again, and no priority is paused. Ends the program if frames that
     * were on it when it broke are not gone yet.
     */
    void BringUp();

    /// Call the callbacks of AddLinkChangeCallback(): the link came up or broke, and routes are
    /// new.
    void TellLinkChange();

    /**
     * \brief Take the next frame of any queue, paused or not.
     * \return the frame, or nullptr
     */
    QbbFrame* DequeueAny();

    /**
     * \brief A frame arrives.
     * \param frame the frame; the device now owns it
     */
    void Receive(QbbFrame* frame);

    /**
     * \brief A frame will arrive soon: fetch what its arrival will touch.
     * \param step as for ForeseenEvent::Fetch()
     * \param frame the frame
     */
    void FetchArrival(unsigned step, const QbbFrame& frame) const;

    /// Fetch what a transmission touches: the lines of this object that are used for each frame.
    void FetchState() const
    {
        FetchLines(&m_txComplete, STATE_LINES);
    }

    /**
     * \brief Look at the frame that leaves next, unless a pause or the scheduler says otherwise.
     * \return the frame, or nullptr
     */
    const QbbFrame* PeekHead() const
    {
        return m_waiting ? m_queues[__builtin_ctz(m_waiting)].GetHead() : nullptr;
    }

    /**
     * \brief Hand a packet to the node's ns-3 stack.
     * \param packet the packet, from the network layer's header on
     * \param protocol the network layer's EtherType
     * \param from the port at the other end
     */
    void Deliver(Ptr<Packet> packet, uint16_t protocol, const QbbNetDevice& from);

    /// \return frames sent so far
    uint64_t GetTxFrames() const;
    /// \return bytes sent so far that only telemetry needs: sections, and all of probes and of
    /// feedback by itself
    uint64_t GetTxTelemetryBytes() const;
    /// \return frames lost on the way here so far, by chance or with the cable
    uint64_t GetLostFrames() const;
    /// \return pause frames received so far
    uint64_t GetPauses() const;

    /**
     * \brief Total time for which a priority has been paused while the link was up.
     * \param priority the priority, 0 to 7
     * \return the time
     */
    Time GetPausedTime(uint8_t priority) const;

    /// Called with every frame that arrives and is no PFC frame, before the node has it.
    using Tap = Callback<void, QbbFrame&>;

    /**
     * \brief Show frames that arrive to an attacker, who may change their telemetry.
     * \param tap called with each frame, behind earlier taps
     */
    void AddTap(Tap tap);

    /**
     * TracedCallback signature for frames.
     * \param [in] frame the frame
     */
    typedef void (*FrameTracedCallback)(const QbbFrame& frame);

    /**
     * TracedCallback signature for pauses and resumes.
     * \param [in] priority the priority
     * \param [in] paused whether it is paused now
     */
    typedef void (*PauseTracedCallback)(uint8_t priority, bool paused);

    /**
     * TracedCallback signature for queue lengths.
     * \param [in] queue the queue: a priority, or 0 for PFC frames and a host's acknowledgements
     * \param [in] before bytes that waited in it before
     * \param [in] now bytes that wait in it
     */
    typedef void (*QueueTracedCallback)(uint8_t queue, uint64_t before, uint64_t now);

    // Inherited
    void SetIfIndex(const uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(const uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address multicastGroup) const override;
    Address GetMulticast(Ipv6Address addr) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocolNumber) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocolNumber) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback cb) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback cb) override;
    bool SupportsSendFrom() const override;

  protected:
    void DoDispose() override;

  private:
    /**
     * \brief The event that ends a transmission; one object serves all transmissions of a device.
     *
     * It is a part of the device, in the same cache lines. The device withdraws it in the end.
     */
    class TxComplete : public ForeseenEvent
    {
      public:
        /**
         * \param device whose transmissions it ends
         */
        explicit TxComplete(QbbNetDevice& device);

        // Inherited
        void Fetch(unsigned step) override;
        void Notify() override;

      private:
        QbbNetDevice& m_device; //!< whose transmissions it ends
    };

    /**
     * \brief Make the accessor of a trace source that costs nothing before the first sink comes: a
     * device has seven.
     * \tparam Source type of the trace source
     * \param source its member
     * \return the accessor
     */
    template <class Source>
    static Ptr<const TraceSourceAccessor> MakeWatchedAccessor(Source QbbNetDevice::*source);

    /// \return the watch of queues for the trace source QueuedBytes; made at the first call
    QueueWatch& GetQueueWatch();

    /// Conditions, in one byte; none holds at first.
    struct Flags
    {
        bool asks : 1;       //!< whether to ask the node if it waits for the end of a transmission
        bool watched : 1;    //!< whether a trace source or a tap was ever connected
        bool hasClasses : 1; //!< whether m_scheduler serves the queues
        bool loses : 1;      //!< whether arriving frames may be lost by chance
        bool leaves : 1;     //!< whether frames leave for another process
        bool keepsRate : 1;  //!< whether the link keeps its rate to the picosecond
    };

    /// A transmission time, remembered for the next frame of this size.
    struct TxTime
    {
        uint32_t size{0}; //!< bytes
        uint32_t time{0}; //!< nanoseconds, or picoseconds if the link keeps its rate exactly
    };

    /**
     * \brief End the program if there is no such priority, and so no such queue.
     * \param priority the priority
     */
    static void CheckPriority(uint8_t priority)
    {
        if (priority >= PRIORITIES)
        {
            RefusePriority(priority);
        }
    }

    /**
     * \brief End the program, for there is no such priority.
     * \param priority the priority
     */
    static void RefusePriority(uint8_t priority);

    /**
     * \brief Choose a queue in turn.
     * \param ready bit n: queue n may send; not 0
     * \return the queue
     */
    uint8_t NextInTurn(uint32_t ready) const;

    /// \return the queue that the scheduler chooses; there must be one that may send
    uint8_t NextByClass();

    /// The present transmission has ended.
    void OnTxComplete();

    /**
     * \brief Make the end of a transmission and the frame's arrival events of a simulator that has
     * no places to reserve.
     * \param txTime nanoseconds that the transmission takes
     * \param frame the frame
     */
    [[gnu::noinline]] void ScheduleBoth(uint64_t txTime, QbbFrame* frame);

    /// Make the end of the present transmission an event, at the place that was reserved for it.
    /// Rare at a switch, and so not inline.
    [[gnu::noinline]] void ScheduleTxComplete();

    /// Take the event back: the device is about to be destroyed.
    void WithdrawTxComplete();

    /**
     * \brief Ask whether a transmission is in progress. If so, its end becomes an event, unless the
     * node does not wait for it.
     * \return whether the device is busy
     */
    bool IsBusy()
    {
        if (m_busy || !m_wheel || m_wheel->HasPassed(m_completeAt, m_completeUid, m_nodeId))
        {
            return m_busy;
        }
        // At time 0 no turn of a node is over yet, but a port that has never sent is idle.
        if (m_completeAt == 0)
        {
            return false;
        }
        AwaitEnd();
        return true;
    }

    /// Make the end of the present transmission an event, unless nothing waits for it.
    void AwaitEnd();

    /**
     * \brief Show an arriving frame to trace sources, sniffers and taps.
     * \param frame the frame
     */
    void ShowArrival(QbbFrame& frame);

    /**
     * \brief Show a frame that begins to leave to trace sources and sniffers.
     * \param frame the frame
     */
    void ShowDeparture(const QbbFrame& frame);

    /**
     * \brief Show a frame to the sniffers, as bytes.
     * \param frame the frame
     * \param sender the end that sends it
     * \param receiver the other end
     */
    void Sniff(const QbbFrame& frame, const QbbNetDevice& sender, const QbbNetDevice& receiver);

    /**
     * \param size bytes
     * \return the time that they, preamble and gap occupy the link, as TxTime::time
     */
    uint64_t GetTxTime(uint32_t size);

    /**
     * \brief Get the transmission time of a frame that begins to leave now, in whole nanoseconds:
     * the excess over the exact time is taken off the next frame, if it follows at once.
     * \param size bytes
     * \return nanoseconds
     */
    uint64_t GetExactTxTime(uint32_t size);

    /**
     * \brief Obey a PFC frame.
     * \param frame the frame
     */
    void HandlePfc(const QbbFrame& frame);

    /// Cache lines from m_txComplete on that are used for each frame, the first queues among them.
    static constexpr std::size_t STATE_LINES = 4;

    // Members that each frame needs stand together, each in a chosen cache line.
    alignas(64) TxComplete m_txComplete;  //!< ends transmissions
    uint64_t m_queuedBytes{0};            //!< bytes in all queues
    QbbNetDevice* m_peer{nullptr};        //!< device at the far end
    WheelSimulatorImpl* m_wheel{nullptr}; //!< the simulator, if places can be reserved there
    uint64_t m_completeAt{0};             //!< when the present transmission ends
    uint32_t m_completeUid{0};            //!< reserved id of that event
    uint32_t m_nodeId{0};                 //!< id of the device's node
    // The second line, the only one that an arriving frame touches.
    QbbNode* m_owner{nullptr};         //!< the node that decides on frames
    uint32_t m_peerNodeId{0};          //!< id of the far end's node
    uint16_t m_port{0};                //!< number at the node
    uint16_t m_peerPort{0};            //!< number of the far end at its node
    bool m_linkUp{false};              //!< whether the cable is plugged in and whole
    bool m_busy{false};                //!< whether an event will end the transmission
    uint8_t m_paused{0};               //!< bit n: priority n is paused
    uint8_t m_waiting{0};              //!< bit n: frames wait in queue n
    uint8_t m_lastServed{0};           //!< queue that was served last
    Flags m_flags{};                   //!< what a device rarely changes
    uint16_t m_late{0};                //!< how many ps m_completeAt comes after the exact time
    uint64_t m_delayNanos{0};          //!< propagation delay
    uint64_t m_txFrames{0};            //!< frames sent
    uint64_t m_txTelemetryBytes{0};    //!< bytes sent that only telemetry needs
    std::array<TxTime, 2> m_txTimes{}; //!< of the latest short frame and of the latest long one
    // The third and more: what frames that wait need.
    std::array<QbbFrameQueue, PRIORITIES> m_queues; //!< the queues
    // Members that few frames need.
    SharedNetwork* m_shared{nullptr}; //!< sends frames to other processes
    uint64_t m_bitRate{0};            //!< data rate in bit/s
    /// Bytes that a frame occupies the link for besides its own.
    uint32_t m_frameGap{0};
    bool m_floorsTimes{false};                //!< whether transmission times are floored
    bool m_losesPfc{false};                   //!< whether PFC frames may be lost
    Ptr<WheelSimulatorImpl> m_wheelOwner;     //!< keeps m_wheel
    CorePointer<hpcc::Scheduler> m_scheduler; //!< serves queues by classes; nothing: in turn
    std::shared_ptr<hpcc::Loss> m_loss;       //!< decides which arriving frames are lost
    /// Frames lost, be it by chance or with the cable.
    uint64_t m_lostFrames{0};
    uint64_t m_pauses{0}; //!< pause frames received
    // Not Time, of which ns-3 keeps a list until the simulation begins.
    std::array<int64_t, PRIORITIES> m_pausedSince{}; //!< when each priority was paused, ns
    /// Time for which each was paused before the present pause, or until the link failed, ns.
    std::array<int64_t, PRIORITIES> m_pausedTime{};
    Ptr<QbbChannel> m_channel;           //!< the cable
    Ptr<Node> m_node;                    //!< the node
    DataRate m_dataRate;                 //!< attribute
    Mac48Address m_address;              //!< MAC address
    uint32_t m_ifIndex{0};               //!< interface index
    uint16_t m_mtu{0};                   //!< most bytes in a frame's payload
    TracedCallback<> m_linkChanges;      //!< called when the link comes up or breaks
    ReceiveCallback m_receive;           //!< takes packets
    PromiscReceiveCallback m_receiveAll; //!< sees packets

    TracedCallback<QbbFrame&> m_taps;                //!< see arriving frames first
    TracedCallback<const QbbFrame&> m_txBeginTrace;  //!< trace source
    TracedCallback<const QbbFrame&> m_rxEndTrace;    //!< trace source
    TracedCallback<Ptr<const Packet>> m_sniffer;     //!< trace source
    std::unique_ptr<FrameSerializer> m_serializer;   //!< made when a sniffer sees the first frame
    TracedCallback<const QbbFrame&> m_rxDropTrace;   //!< trace source
    TracedCallback<const QbbFrame&> m_linkDropTrace; //!< trace source
    TracedCallback<const QbbFrame&> m_enqueueTrace;  //!< trace source
    TracedCallback<const QbbFrame&> m_dequeueTrace;  //!< trace source
    TracedCallback<uint8_t, bool> m_pauseTrace;      //!< trace source
    /// Follows the queues, once the trace source has a sink.
    std::unique_ptr<QueueWatch> m_queueWatch;
    int64_t m_downSince{0}; //!< when the cable broke, ns
};

} // namespace ns3

#endif /* QBB_NET_DEVICE_H */
