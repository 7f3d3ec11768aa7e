/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef PACKET_HOST_H
#define PACKET_HOST_H

#include "packet-headers.h"
#include "probe-client.h"
#include "tcp-hpcc-plus.h"

#include "ns3/address.h"
#include "ns3/ipv4-address.h"
#include "ns3/ipv6-address.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-node.h"

#include <cstdint>
#include <unordered_map>

namespace ns3
{

class NetDeviceQueue;

/**
 * \ingroup hpcc
 * \brief A host that carries the traffic of its ns-3 stack: the counterpart of RdmaHost for TCP and
 * UDP.
 *
 * A packet travels whole in a QbbFrame. Its destination's address names the node that the frame
 * goes to, so each host has the address of its place in the network (GetAddress());
 * PacketHostHelper assigns it. Switches forward, buffer, pause and mark such frames like all
 * others; who does not know ECN is not marked.
 *
 * Beside an RdmaHost of the same node it has the ports of that one in common, and sends no probes:
 * while both have something to send, packets have the part Share of the link, and RDMA's
 * acknowledgements go ahead of both. Priorities say what a pause holds back.
 *
 * A host has one address, whatever its ports: its stack knows the first one alone. A flow leaves by
 * the port that its addresses and ports select among those of the shortest ways (ECMP, as RdmaHost
 * does), and so do its probes.
 *
 * For TCP flows under TcpHpccPlus, and for UDP flows whose clients ask for it (AddDatagrams()), the
 * host sends probes, answers those of others, and keeps both from the stack: it knows them by their
 * DSCP (draft-miao-rtgwg-hpccplus-00, section 7.2). A TCP probe is a header without flags whose
 * sequence number is that of the next new byte; its answer acknowledges that number. A UDP probe
 * has eight bytes behind its header that say the same. Telemetry follows.
 */
class PacketHost : public QbbNode
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    PacketHost();
    ~PacketHost() override;

    /// \return the address that stands for this host
    Ipv4Address GetAddress() const;

    /// \return the same in IPv6
    Ipv6Address GetIpv6Address() const;

    /**
     * \param index a node's index in its network
     * \return the address that stands for it
     */
    static Ipv4Address AddressOf(uint32_t index);

    /**
     * \param index a node's index in its network
     * \return the IPv6 address that stands for it
     */
    static Ipv6Address Ipv6AddressOf(uint32_t index);

    /**
     * \param peer the other end of a flow: an InetSocketAddress or Inet6SocketAddress
     * \param port this end's port
     * \return its path; ends the program if no host has that address
     */
    ProbedPath GetPath(const Address& peer, uint16_t port) const;

    /**
     * \brief Send probes for a flow of UDP datagrams when its client asks for them, and hand it the
     * answers.
     * \param peer the other end: an InetSocketAddress or Inet6SocketAddress
     * \param port this end's port
     * \param client whose flow it is; outlives the flow
     * \return sends a probe
     */
    ProbeSender AddDatagrams(const Address& peer, uint16_t port, ProbeClient& client);

    /**
     * \brief A flow of UDP datagrams has ended.
     * \param peer the other end
     * \param port this end's port
     */
    void RemoveDatagrams(const Address& peer, uint16_t port);

    /**
     * \brief Become a part of a node that is an RDMA host, before the network starts.
     * \param host the other part
     */
    void ShareWith(QbbNode& host);

    /// \return packets dropped because too many waited, or no way leads to their destination
    uint64_t GetDrops() const;

    /// \return probes sent
    uint64_t GetProbes() const;

    /// \return answers to probes that brought telemetry back to a flow
    uint64_t GetFeedback() const;

    /// \return answers that could not be compared with the last ones of their flow
    uint64_t GetBaselineResets() const;

    // Inherited
    bool IsSwitch() const override;
    uint32_t GetMtu() const override;
    void PrepareSettings() override;
    void Start(Ptr<EngineNetwork> network) override;
    void AddPort(Ptr<QbbNetDevice> device) override;
    bool SendPacket(QbbNetDevice& out, Ptr<Packet> packet, uint16_t protocol) override;
    void OnNotice(const hpcc::Notice& notice, QbbFrame& frame) override;

  protected:
    void DoDispose() override;

  private:
    /// End the program if the stack has an address other than the host's, to which no way leads, or
    /// packets that IP cannot go by.
    void CheckStack() const;

    /**
     * \brief Identify a flow of this host, among those of its protocol.
     * \param headers headers of a packet from here
     * \return a key
     */
    static uint64_t KeyOf(const PacketHeaders& headers);

    /**
     * \brief Identify a flow of this host, among flows of its protocol, by a packet that came back.
     * \param headers headers of the packet
     * \return the flow's key
     */
    static uint64_t KeyOfReverse(const PacketHeaders& headers);

    /**
     * \brief Headers of datagrams from here.
     * \param peer where they go
     * \param port the port that they come from
     * \return their headers
     */
    PacketHeaders DatagramHeaders(const Address& peer, uint16_t port) const;

    /**
     * \brief Find the host that a packet goes to: its destination, or the next hop that ns-3's
     * routing has for an IPv4 address behind another host.
     * \param headers headers of the packet
     * \return index of the host; below 0 if there is none
     */
    int64_t FindHost(const PacketHeaders& headers) const;

    /**
     * \param headers headers of a packet from here
     * \return the port by which it leaves; nullptr if there is no way
     */
    QbbNetDevice* FindPort(const PacketHeaders& headers) const;

    /**
     * \param headers headers of a packet from here; some node has its destination's address
     * \return its flow's path
     */
    ProbedPath PathOf(const PacketHeaders& headers) const;

    /**
     * \brief Drop a packet of the stack.
     * \param packet the packet
     */
    void Drop(Ptr<const Packet> packet);

    /**
     * \brief Make a frame of a packet.
     * \param kind which
     * \param headers the packet's headers
     * \param packet the packet
     * \return the frame, without telemetry
     */
    QbbFrame MakeFrame(QbbFrame::Kind kind, const PacketHeaders& headers, Ptr<Packet> packet) const;

    /**
     * \brief Give a frame its telemetry and its size.
     * \param frame the frame
     * \param section the telemetry
     */
    static void SetTelemetry(QbbFrame& frame, std::vector<uint8_t> section);

    /// Find the queue disc of the device that the stack knows, if there is one, and look at what
    /// waits.
    void FindQueueDisc();

    /// End the program if this is no host by itself: probes tell of its links.
    void CheckProbes() const;

    /**
     * \param port a port
     * \return bytes of packets that wait there
     */
    uint64_t GetQueued(const QbbNetDevice& port) const;

    /**
     * \param port a port
     * \return whether one more packet fits into its queue
     */
    bool HasRoom(const QbbNetDevice& port) const;

    /// Packets have left a port: let a queue disc go on that has waited for that.
    void WakeQueueDisc();

    /**
     * \brief Queue a frame, or drop it.
     * \param out the port
     * \param frame the frame
     * \return whether it was queued
     */
    bool Enqueue(const QbbNetDevice& out, const QbbFrame& frame);

    /**
     * \param headers the headers of a packet of a flow from here
     * \return the client of the flow; nullptr if it has none
     */
    ProbeClient* FindClient(const PacketHeaders& headers) const;

    /**
     * \brief A segment was queued: tell its flow, if that is HPCC++'s.
     * \param headers the segment's headers
     */
    void OnSegment(const PacketHeaders& headers);

    /**
     * \brief A flow's first segment was queued: take it on, if it is HPCC++'s.
     * \param headers the segment's headers
     * \return its congestion control, which is bound, or nullptr
     */
    Ptr<TcpHpccPlus> TakeOn(const PacketHeaders& headers);

    /// Forget flows whose sockets are gone, once there may be as many of them as of others.
    void ForgetEnded();

    /**
     * \brief Send a probe of a flow.
     * \param headers the headers of a packet of the flow
     * \param seq the probe's sequence number
     */
    void SendProbe(const PacketHeaders& headers, uint32_t seq);

    /**
     * \brief Send a probe's telemetry back.
     * \param in port by which it came
     * \param headers the probe's headers
     * \param seq the probe's sequence number
     * \param frame the frame
     */
    void Answer(const QbbNetDevice& in,
                const PacketHeaders& headers,
                uint32_t seq,
                const QbbFrame& frame);

    /**
     * \brief Take in the answer to a probe.
     * \param headers its headers
     * \param seq the probe's sequence number
     * \param frame the frame
     */
    void ReceiveAnswer(const PacketHeaders& headers, uint32_t seq, const QbbFrame& frame);

    /**
     * \brief Hand a packet to the stack, which finds that it came by the first port.
     * \param in port by which it came
     * \param headers the packet's headers
     * \param frame the frame
     */
    void Deliver(const QbbNetDevice& in, PacketHeaders& headers, const QbbFrame& frame);

    /// TCP flows from here by KeyOf(); nullptr for those that HPCC++ does not control
    std::unordered_map<uint64_t, Ptr<TcpHpccPlus>> m_flows;
    /// Flows of UDP datagrams from here by KeyOf().
    std::unordered_map<uint64_t, ProbeClient*> m_datagrams;
    Ptr<NetDeviceQueue> m_flowControl; //!< what a queue disc looks at, if there is one
    std::size_t m_mostFlows{64};       //!< flows at which those are forgotten that have ended
    uint64_t m_drops{0};               //!< packets dropped
    uint64_t m_probes{0};              //!< probes sent
    uint64_t m_feedback{0};            //!< answers that brought telemetry back to a flow
    uint64_t m_baselineResets{0};      //!< of these, those that could not be compared
    uint8_t m_priority{0};             //!< attribute
    uint8_t m_share{0};                //!< attribute
    bool m_isShared{false};            //!< whether the node is an RDMA host besides
    uint8_t m_probeDscp{0};            //!< attribute
    uint32_t m_queueBytes{0};          //!< attribute
    bool m_globalRtt{true};            //!< attribute
    bool m_sendsDatagrams{false};      //!< attribute
    TracedCallback<Ptr<const Packet>> m_dropTrace; //!< trace source
};

} // namespace ns3

#endif /* PACKET_HOST_H */
