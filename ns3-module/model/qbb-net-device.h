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

#include "ns3/data-rate.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/nstime.h"
#include "ns3/traced-callback.h"

#include <array>
#include <cstdint>
#include <memory>
#include <string>

namespace hpcc
{
struct Notice;
struct PortState;
} // namespace hpcc

namespace ns3
{

class ErrorModel;
class QbbChannel;
class QbbNode;

/**
 * \ingroup hpcc
 * \brief A port with priority flow control (802.1Qbb): eight queues, each of which the far end can
 * pause.
 *
 * The engine times frames and obeys pauses; the device is what ns-3 sees of a port. Transmission
 * takes the frame's bytes at the data rate, to the nearest nanosecond, or, with the `floored_times`
 * fault, rounded as the 2019 simulator rounds (the core's `units` module says how). A frame
 * arrives when its last bit does.
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
    uint16_t GetPortNumber() const;

    /**
     * \brief Plug in a cable.
     * \param channel the cable
     * \param peer the device at its other end
     */
    void Attach(Ptr<QbbChannel> channel, QbbNetDevice& peer);

    /// The network starts.
    void Start();

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

    /// \return whether an error model judges what arrives here
    bool HasErrorModel() const;

    /**
     * \brief Ask the error model; one call for each frame that arrives.
     * \param bytes the size of the frame
     * \return whether it has errors
     */
    bool IsCorrupt(uint32_t bytes) const;

    /// \return bytes that wait here
    uint64_t GetQueuedBytes() const;

    /**
     * \param queue a queue: a priority, or 0 for PFC frames and a host's acknowledgements
     * \return bytes that wait in it
     */
    uint64_t GetQueuedBytes(uint8_t queue) const;

    /// \return bit n: priority n is paused
    uint8_t GetPaused() const;

    /// The cable breaks: the engine has cleared what waits here.
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
     * \brief Something has happened here.
     * \param notice what
     * \param frame the frame that it has happened to
     */
    void OnNotice(const hpcc::Notice& notice, const QbbFrame& frame);

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
     * \brief Set the attribute: at the start of the network it is decided whether there is a model.
     * \param model the model; nullptr: none
     */
    void SetReceiveErrorModel(Ptr<ErrorModel> model);

    /// \return the model; nullptr if there is none
    Ptr<ErrorModel> GetReceiveErrorModel() const;

    /// \return what messages call it: its node, and its number there
    std::string Describe() const;

    /**
     * \brief Make the accessor of a trace source of which the engine tells once it has a sink.
     * \tparam Source type of the trace source
     * \param source its member
     * \return the accessor
     */
    template <class Source>
    static Ptr<const TraceSourceAccessor> MakeWatchedAccessor(Source QbbNetDevice::*source);

    /// Be told from now on what happens to frames here.
    void Watch();

    /// \return the port as the engine has it
    hpcc::PortState GetState() const;

    /**
     * \brief End the program if there is no such priority, and so no such queue.
     * \param priority the priority
     */
    static void CheckPriority(uint8_t priority);

    /**
     * \brief Show a frame to the sniffers, as bytes.
     * \param frame the frame
     * \param sender the end that sends it
     * \param receiver the other end
     */
    void Sniff(const QbbFrame& frame, const QbbNetDevice& sender, const QbbNetDevice& receiver);

    /**
     * \brief The far end has paused a priority, or resumed it.
     * \param priority the priority
     * \param pause whether to pause
     */
    void OnPause(uint8_t priority, bool pause);

    /**
     * \brief A queue has changed.
     * \param queue the queue
     * \param bytes its length now
     */
    void OnQueue(uint8_t queue, uint64_t bytes);

    QbbNode* m_owner{nullptr};     //!< switch or host of the port
    QbbNetDevice* m_peer{nullptr}; //!< device at the far end
    uint16_t m_port{0};            //!< number at the node
    uint16_t m_mtu{0};             //!< most bytes in a frame's payload
    uint32_t m_ifIndex{0};         //!< interface index
    bool m_linkUp{false};          //!< whether the cable is plugged in and whole
    bool m_watched{false};         //!< whether a trace source was ever connected
    uint8_t m_paused{0};           //!< bit n: priority n is paused, and the time counts
    uint64_t m_pauses{0};          //!< pause frames received
    int64_t m_downSince{0};        //!< when the cable broke, ns
    // Not Time, of which ns-3 keeps a list until the simulation begins.
    std::array<int64_t, PRIORITIES> m_pausedSince{}; //!< when each priority was paused, ns
    /// Time for which each was paused before the present pause, or until the link failed, ns.
    std::array<int64_t, PRIORITIES> m_pausedTime{};
    std::array<uint64_t, PRIORITIES> m_lengths{}; //!< of queues, as they were told
    Ptr<ErrorModel> m_errors;                     //!< attribute
    Ptr<QbbChannel> m_channel;                    //!< the cable
    Ptr<Node> m_node;                             //!< the node
    DataRate m_dataRate;                          //!< attribute
    Mac48Address m_address;                       //!< MAC address
    TracedCallback<> m_linkChanges;               //!< called when the link comes up or breaks
    ReceiveCallback m_receive;                    //!< takes packets
    PromiscReceiveCallback m_receiveAll;          //!< sees packets

    TracedCallback<const QbbFrame&> m_txBeginTrace;            //!< trace source
    TracedCallback<const QbbFrame&> m_rxEndTrace;              //!< trace source
    TracedCallback<Ptr<const Packet>> m_sniffer;               //!< trace source
    std::unique_ptr<FrameSerializer> m_serializer;             //!< makes bytes for the sniffer
    TracedCallback<const QbbFrame&> m_rxDropTrace;             //!< trace source
    TracedCallback<const QbbFrame&> m_linkDropTrace;           //!< trace source
    TracedCallback<const QbbFrame&> m_enqueueTrace;            //!< trace source
    TracedCallback<const QbbFrame&> m_dequeueTrace;            //!< trace source
    TracedCallback<uint8_t, uint64_t, uint64_t> m_queuedTrace; //!< trace source
    TracedCallback<uint8_t, bool> m_pauseTrace;                //!< trace source
};

} // namespace ns3

#endif /* QBB_NET_DEVICE_H */
