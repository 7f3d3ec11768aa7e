/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef PACKET_HOST_H
#define PACKET_HOST_H

#include "packet-headers.h"
#include "probe-client.h"
#include "tcp-hpcc-plus.h"

#include "ns3/inet-socket-address.h"
#include "ns3/ipv4-address.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-node.h"

#include <cstdint>
#include <unordered_map>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A host whose traffic is that of its ns-3 stack: the counterpart of RdmaHost for TCP and UDP over IPv4.
 *
 * A packet travels whole in a QbbFrame. Its destination's address names the node that the frame goes to, so each host
 * has the address of its place in the network (GetAddress()); PacketHostHelper assigns it. Switches forward, buffer,
 * pause and mark such frames like all others; who does not know ECN is not marked.
 *
 * For TCP flows under TcpHpccPlus, and for UDP flows whose clients ask for it (AddDatagrams()), the host sends probes,
 * answers those of others, and keeps both from the stack: it knows them by their DSCP (draft-miao-rtgwg-hpccplus-00, section
 * 7.2). A TCP probe is a header without flags whose sequence number is that of the next new byte; its answer acknowledges
 * that number. A UDP probe has eight bytes behind its header that say the same. Telemetry follows.
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

    /**
     * \param index a node's index in its network
     * \return the address that stands for it
     */
    static Ipv4Address AddressOf(uint32_t index);

    /**
     * \param peer a host's address
     * \return the path from here; ends the program if nobody has that address
     */
    ProbedPath GetPath(Ipv4Address peer) const;

    /**
     * \brief Send probes for a flow of UDP datagrams when its client asks for them, and hand it the answers.
     * \param peer the other end
     * \param port this end's port
     * \param client whose flow it is; outlives the flow
     * \return sends a probe
     */
    ProbeSender AddDatagrams(const InetSocketAddress& peer, uint16_t port, ProbeClient& client);

    /**
     * \brief A flow of UDP datagrams has ended.
     * \param peer the other end
     * \param port this end's port
     */
    void RemoveDatagrams(const InetSocketAddress& peer, uint16_t port);

    /// \return packets dropped because too many waited, or nobody has their destination's address
    uint64_t GetDrops() const;

    /// \return probes sent
    uint64_t GetProbes() const;

    // Inherited
    bool IsSwitch() const override;
    uint32_t GetMtu() const override;
    void Start(const std::shared_ptr<hpcc::Network>& network) override;
    void OnLinkDown(QbbNetDevice& port) override;
    void OnNewRoutes() override;
    bool SendPacket(QbbNetDevice& out, Ptr<Packet> packet, uint16_t protocol) override;
    void Receive(QbbNetDevice& in, QbbFrame* frame) override;
    QbbFrame* NextFrame(QbbNetDevice& out) override;

  protected:
    void DoDispose() override;

  private:
    /**
     * \brief Identify a flow of this host, among those of its protocol.
     * \param peer the other end's address
     * \param own this end's port
     * \param other the other end's port
     * \return a key
     */
    static uint64_t KeyOf(Ipv4Address peer, uint16_t own, uint16_t other);

    /**
     * \brief Make a frame of a packet.
     * \param kind which
     * \param headers the packet's headers
     * \param packet the packet
     * \param telemetry bytes of telemetry
     * \return the frame, or nullptr if nobody has the destination's address
     */
    QbbFrame* MakeFrame(QbbFrame::Kind kind, const PacketHeaders& headers, Ptr<Packet> packet);

    /**
     * \brief Add telemetry to a frame's size.
     * \param frame the frame
     * \param bytes bytes of telemetry
     */
    static void SetTelemetry(QbbFrame& frame, uint16_t bytes);

    /**
     * \brief Queue a frame, or drop it.
     * \param out the port
     * \param frame the frame
     * \return whether it was queued
     */
    bool Enqueue(QbbNetDevice& out, QbbFrame* frame);

    /**
     * \brief Make the packet of a probe, or of an answer.
     * \param headers its addresses and ports; the rest is set here
     * \param number what it says
     * \return the packet
     */
    Ptr<Packet> MakeProbePacket(PacketHeaders& headers, ProbeNumber number) const;

    /**
     * \param headers the headers of a packet of a flow from here
     * \return whose flow it is; nullptr if nobody's
     */
    ProbeClient* FindClient(const PacketHeaders& headers) const;

    /**
     * \brief A segment was queued: tell its flow, if that is HPCC++'s.
     * \param out the port
     * \param headers the segment's headers
     */
    void OnSegment(QbbNetDevice& out, const PacketHeaders& headers);

    /**
     * \brief A flow's first segment was queued: take it on, if it is HPCC++'s.
     * \param out the port
     * \param headers the segment's headers
     * \return its congestion control, which is bound, or nullptr
     */
    Ptr<TcpHpccPlus> TakeOn(QbbNetDevice& out, const PacketHeaders& headers);

    /// Forget flows whose sockets are gone, once there may be as many of them as of others.
    void ForgetEnded();

    /**
     * \brief Send a probe of a flow.
     * \param port the port
     * \param headers the headers of a packet of the flow
     * \param seq the probe's sequence number
     */
    void SendProbe(uint16_t port, const PacketHeaders& headers, uint32_t seq);

    /**
     * \brief Send a probe's telemetry back; the frame itself becomes the answer.
     * \param in port by which it came
     * \param headers the probe's headers
     * \param seq the probe's sequence number
     * \param frame the frame
     */
    void Answer(QbbNetDevice& in, const PacketHeaders& headers, uint32_t seq, QbbFrame* frame);

    /**
     * \brief Take in the answer to a probe.
     * \param headers its headers
     * \param seq the probe's sequence number
     * \param frame the frame
     */
    void ReceiveAnswer(const PacketHeaders& headers, uint32_t seq, QbbFrame* frame);

    /**
     * \brief Hand a packet to the stack.
     * \param in port by which it came
     * \param headers the packet's headers
     * \param frame the frame
     */
    void Deliver(QbbNetDevice& in, PacketHeaders& headers, QbbFrame* frame);

    std::shared_ptr<hpcc::Network> m_network; //!< paths
    /// TCP flows from here by KeyOf(); nullptr for those that HPCC++ does not control
    std::unordered_map<uint64_t, Ptr<TcpHpccPlus>> m_flows;
    std::unordered_map<uint64_t, ProbeClient*> m_datagrams; //!< flows of UDP datagrams from here by KeyOf()
    std::size_t m_mostFlows{64}; //!< flows at which those are forgotten that have ended
    uint64_t m_drops{0};       //!< packets dropped
    uint64_t m_probes{0};      //!< probes sent
    uint8_t m_priority{0};     //!< attribute
    uint8_t m_probeDscp{0};    //!< attribute
    uint32_t m_queueBytes{0};  //!< attribute
    bool m_globalRtt{true};    //!< attribute
    TracedCallback<Ptr<const Packet>> m_dropTrace; //!< trace source
};

} // namespace ns3

#endif /* PACKET_HOST_H */
