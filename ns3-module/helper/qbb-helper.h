/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_HELPER_H
#define QBB_HELPER_H

#include "node-reference.h"

#include "ns3/core-pointer.h"
#include "ns3/engine-network.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/object-factory.h"
#include "ns3/qbb-channel.h"
#include "ns3/trace-helper.h"

#include <cstdint>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

/**
 * \defgroup hpcc RDMA congestion control and lossless Ethernet
 */

namespace ns3
{

class DataRate;
class QbbNode;
class RdmaHost;
struct RdmaFlow;

/**
 * \ingroup hpcc
 * \brief Builds a lossless Ethernet network of RDMA hosts and switches.
 *
 * Install hosts and switches, link them, then call Start(), which computes the routes. The order of
 * installation numbers the nodes, and the order of links numbers each node's ports.
 *
 * EnablePcap() and EnablePcapAll() write what devices send and receive, to the nanosecond; they
 * need a wire profile with real bytes (SetWireProfile()). EnableAscii() and EnableAsciiAll() write
 * a line for each frame that is queued, sent, received or lost.
 *
 * A helper is one network, and cannot be copied. The network stays until Simulator::Destroy(), the
 * helper need not: a function may build a network with a helper of its own.
 */
class QbbHelper : public PcapHelperForDevice, public AsciiTraceHelperForDevice
{
  public:
    QbbHelper();
    QbbHelper(const QbbHelper&) = delete;
    QbbHelper& operator=(const QbbHelper&) = delete;

    /**
     * \brief Set an attribute of the network, which all its nodes share. Before Start().
     * \param name the attribute of EngineNetwork
     * \param value its value
     */
    void SetNetworkAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Set an attribute of the hosts to be installed.
     * \param name the attribute
     * \param value its value
     */
    void SetHostAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Set an attribute of the switches to be installed.
     * \param name the attribute
     * \param value its value
     */
    void SetSwitchAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Set an attribute of what hosts to be installed do about Fast CNP.
     * \param name the attribute of FastCnpHost
     * \param value its value
     */
    void SetFastCnpHostAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Set an attribute of what switches to be installed do about Fast CNP.
     * \param name the attribute of FastCnpSwitch
     * \param value its value
     */
    void SetFastCnpSwitchAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Make a switch's links to another node the edge of the domain, which no Fast CNP
     * crosses. Before Start().
     * \param node the switch
     * \param outside the other node
     */
    void SetFastCnpBorder(const NodeReference& node, const NodeReference& outside);

    /**
     * \brief Set an attribute of the devices to be created by links.
     * \param name the attribute
     * \param value its value
     */
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value);

    /**
     * \brief Set the headers of every frame.
     * \param profile reference, rocev2_ipv4 or rocev2_ipv6
     */
    void SetWireProfile(const std::string& profile);

    /**
     * \brief Set the telemetry layout; without it, what the algorithm of hosts reads.
     * \param layout a value of the attribute TelemetryLayout
     */
    void SetTelemetry(const std::string& layout);

    /**
     * \brief Repeat faults of the 2019 simulator; none by default.
     * \param names "all", "none", or names with commas between them (doc/reference-faults.md)
     */
    void SetReferenceFaults(const std::string& names);

    /**
     * \brief Make nodes RDMA hosts.
     * \param nodes the nodes
     */
    void InstallHosts(const NodeContainer& nodes);

    /**
     * \brief Make a node an RDMA host.
     * \param name the node's name; ends the program if no node has it
     */
    void InstallHosts(const std::string& name);

    /**
     * \brief Make nodes switches.
     * \param nodes the nodes
     */
    void InstallSwitches(const NodeContainer& nodes);

    /**
     * \brief Make a node a switch.
     * \param name the node's name; ends the program if no node has it
     */
    void InstallSwitches(const std::string& name);

    /**
     * \brief Make nodes hosts or switches of another kind.
     * \param nodes the nodes
     * \param factory makes a QbbNode for each
     */
    void Install(const NodeContainer& nodes, const ObjectFactory& factory);

    /**
     * \brief Link two nodes.
     * \param a one node
     * \param b the other node
     * \param rate data rate of each direction
     * \param delay propagation delay, one way
     * \return the devices at both ends
     */
    NetDeviceContainer Link(const NodeReference& a,
                            const NodeReference& b,
                            DataRate rate,
                            Time delay);

    /**
     * \brief Link each of several nodes to another one.
     * \param nodes the nodes
     * \param center the other one
     * \param rate data rate of each direction
     * \param delay propagation delay, one way
     * \return the devices: for each node its own, and then the other one's
     */
    NetDeviceContainer LinkAll(const NodeContainer& nodes,
                               const NodeReference& center,
                               DataRate rate,
                               Time delay);

    /**
     * \brief Lose frames at random where they arrive.
     *
     * All given devices draw from one generator, as ns-3's seed and run are when this is called.
     *
     * \param devices where frames are lost
     * \param probability of a frame to be lost
     * \param stream the generator's stream
     */
    void SetLoss(const NetDeviceContainer& devices, double probability, uint64_t stream);

    /**
     * \brief Draw what streams and seeds given here say, whatever ns-3's seed and run are: a
     * scenario file decides that by itself.
     */
    void UseStreamsAlone();

    /**
     * \brief Let all nodes that are installed from now on run by the settings of a scenario:
     * attributes are refused. \param settings the settings
     */
    void UseSettings(CorePointer<hpcc::Settings> settings);

    /**
     * \brief Choose the random streams of ECN marking, as helpers of ns-3 do; before Start().
     * \param stream the first stream, 0 or above
     * \return how many are used
     */
    int64_t AssignStreams(int64_t stream);

    /**
     * \brief Set the first random stream of ECN marking; each switch counts from a place of its own
     * behind it. By default 0, the first stream; with the 2019 simulator's shared generator the one
     * behind those that the 2019 simulator gives to nodes.
     * \param stream the stream
     */
    void SetEcnStream(uint64_t stream);

    /**
     * \brief Set the seed of PINT's draws; each node makes its own of it. By default the 2019
     * simulator's, 1.
     * \param seed the seed
     */
    void SetPintSeed(uint32_t seed);

    /**
     * \brief Set when ports of one rate mark frames, in place of the switches' attributes.
     * \param rate the ports' rate
     * \param kmin queue length in bytes up to which nothing is marked
     * \param kmax queue length in bytes above which everything is marked
     * \param pmax probability at kmax
     */
    void SetEcnThreshold(DataRate rate, uint64_t kmin, uint64_t kmax, double pmax) const;

    /// Compute the routes and get all nodes ready. Call once, when everything is linked.
    void Start();

    /**
     * \brief Take all links between two nodes down, now. Flows go on over what is left of the
     * network.
     *
     * What waits for a link and what is on it is lost. Round-trip times and windows of flows in
     * progress stay as they were computed at their start. A link that is down already stays as it
     * is.
     *
     * \param a one node
     * \param b the other node
     */
    void TakeLinkDown(const NodeReference& a, const NodeReference& b) const;

    /**
     * \brief Take links down, such as one of several between two nodes.
     * \param devices one end of each link, or both, as Link() returned them
     */
    void TakeLinkDown(const NetDeviceContainer& devices) const;

    /**
     * \brief Bring all links between two nodes up again, now: routes lead over them as before, and
     * no priority is paused.
     *
     * What was on a link when it failed must be gone: it ends the program to bring a link up sooner
     * than its delay and the time of a frame of 10,000 bytes after it failed. A link that is up
     * already stays as it is: nothing on it is lost, paused or routed otherwise.
     *
     * \param a one node
     * \param b the other node
     */
    void SetLinkUp(const NodeReference& a, const NodeReference& b) const;

    /**
     * \brief Bring links up again, such as one of several between two nodes.
     * \param devices one end of each link, or both, as Link() returned them
     */
    void SetLinkUp(const NetDeviceContainer& devices) const;

    /**
     * \brief Links become worse now, as with lost lanes or a bad cable, or are as they were before.
     * Round-trip times and windows stay as they were computed; switches tell the new rate in
     * telemetry.
     * \param devices one end of each link, or both
     * \param rate the rate of each direction; 0: their own
     * \param bitErrors probability that a bit is wrong, 0 to 1; frames with wrong bits are
     * discarded where they arrive
     */
    void DegradeLink(const NetDeviceContainer& devices, DataRate rate, double bitErrors = 0) const;

    /**
     * \brief Take links down or bring them up, as TakeLinkDown() and SetLinkUp() do.
     * \param links their places in the order in which they were made
     * \param up whether they come up
     */
    void SetLinks(const std::vector<uint32_t>& links, bool up) const;

    /**
     * \param node a host
     * \return the host; ends the program if the node is none
     */
    Ptr<RdmaHost> GetHost(const NodeReference& node) const;

    /**
     * \param node a node
     * \return the node's switch or host; ends the program if it is not of this network
     */
    Ptr<QbbNode> GetNode(const NodeReference& node) const;

    /**
     * \brief Say which flows are in progress, and which flows of RdmaClients never started because
     * their destination could not be reached: a line for each. Call it at the end of a simulation,
     * before Simulator::Destroy().
     * \param os where to
     * \return how many there are
     */
    uint64_t PrintUnfinished(std::ostream& os) const;

    /// \return the network as the core has it
    const hpcc::Network& GetCore() const;

    /// \return whether Start() was called
    bool IsStarted() const;

    /// \return the number of nodes installed
    uint32_t GetNNodes() const;

    /**
     * \brief Compute how long a flow would take on an idle network, at line rate.
     *
     * Of several paths it takes the first. If they differ, or not all of their switches add
     * telemetry, the time of a flow may differ from this.
     *
     * \param src the source
     * \param dst the destination
     * \param size payload bytes
     * \return the flow completion time, 0 if the hosts are not connected
     */
    Time GetStandaloneFct(const NodeReference& src, const NodeReference& dst, uint64_t size) const;

    /**
     * \brief Compute how long a flow that has started would take on an idle network, at line rate.
     * \param flow the flow, whose ports say which of several paths it takes
     * \return the flow completion time, 0 if the hosts are not connected
     */
    Time GetStandaloneFct(const RdmaFlow& flow) const;

    /// \return the longest base round-trip time T of two hosts, once the routes are computed
    Time GetMaxRtt() const;

    /// \return the largest bandwidth-delay product of two hosts in bytes, once the routes are
    /// computed
    uint64_t GetMaxBdp() const;

    /// \return frames that all devices have put on their links; ends the program before Start()
    uint64_t GetTxFrames() const;

  private:
    /// Whether objects of one kind are made after their factory's attributes are set: those that
    /// are set apply to later objects only.
    class FactoryUsage
    {
      public:
        /**
         * \brief An attribute is set for what is made from now on; ends the program if nothing
         * will be.
         * \param attribute the attribute
         * \param isStarted whether the network has been started
         */
        void Note(const std::string& attribute, bool isStarted);

        /// An object is made.
        void NoteUse();

        /**
         * \brief End the program if an attribute was set after the last object was made.
         * \param what names the objects, and says what to do
         */
        void CheckUsed(const std::string& what) const;

      private:
        bool m_any{false};    //!< whether one was made
        std::string m_unused; //!< the attribute that none has, if there is one
    };

    /**
     * \brief Make a link with its devices.
     * \param a one node
     * \param b the other node
     * \param rate data rate of each direction
     * \param delay propagation delay, one way
     * \return the devices, a's first
     */
    NetDeviceContainer Connect(QbbNode& a, QbbNode& b, DataRate rate, Time delay);

    /**
     * \brief Find the links between two nodes; ends the program if there are none.
     * \param a one node
     * \param b the other node
     * \return their places in the order in which they were made
     */
    std::vector<uint32_t> FindLinks(const NodeReference& a, const NodeReference& b) const;

    /**
     * \brief Find links by their devices; ends the program if one is not of this network.
     * \param devices one end of each link, or both
     * \return their places in the order in which they were made
     */
    std::vector<uint32_t> FindLinks(const NetDeviceContainer& devices) const;

    /**
     * \brief End the program if nodes run by the settings of a scenario.
     * \param attribute what is to be set
     */
    void CheckOwnSettings(const std::string& attribute) const;

    /**
     * \brief Give a node the settings of the scenario.
     * \param node the node
     */
    void GiveSettings(QbbNode& node) const;

    /// End the program if the network has been started, and draws at random.
    void CheckNotRandomYet() const;

    /// End the program if the network has not been started.
    void CheckRunning() const;

    /// Tell the core which ports have error models.
    void FindErrorModels() const;

    /// Have the core settle the settings of the network and its nodes, and give them back.
    void Settle() const;

    /// End the program if the network is started, and frames to be captured have no bytes.
    void CheckCapture() const;

    // Inherited: captures a device's frames.
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;

    // Inherited: writes a device's frames as text.
    void EnableAsciiInternal(Ptr<OutputStreamWrapper> stream,
                             std::string prefix,
                             Ptr<NetDevice> device,
                             bool explicitFilename) override;

    FactoryUsage m_hosts;                 //!< hosts, with what they do about Fast CNP
    FactoryUsage m_switches;              //!< makes switches
    FactoryUsage m_devices;               //!< devices
    ObjectFactory m_hostFactory;          //!< makes hosts
    ObjectFactory m_switchFactory;        //!< makes switches
    ObjectFactory m_fastCnpHostFactory;   //!< makes the hosts' part of Fast CNP
    ObjectFactory m_fastCnpSwitchFactory; //!< makes the switches' part of Fast CNP
    ObjectFactory m_deviceFactory;        //!< makes devices

    /// Frames that come to ports and are lost at random.
    struct Losses
    {
        std::vector<uint32_t> ports; //!< node and port by turns
        uint32_t seed;               //!< seed of the stream
        uint64_t stream;             //!< the stream
        double probability;          //!< of each
    };

    Ptr<EngineNetwork> m_network;         //!< the network, and the engine that runs it
    std::vector<Ptr<QbbNode>> m_nodes;    //!< nodes by index
    std::vector<Ptr<QbbChannel>> m_links; //!< links in the order in which they were made
    std::vector<Losses> m_losses;         //!< losses until the start
    /// Borders of the domain of Fast CNP, and what is outside of them.
    std::vector<std::pair<uint32_t, uint32_t>> m_borders;
    bool m_isStarted{false}; //!< whether Start() was called
    bool m_captures{false};  //!< whether EnablePcap() was called

    /// Where ns-3's seed and run place random draws.
    struct RngStreams
    {
        uint32_t seed{1};     //!< seed of all streams
        uint64_t offset{0};   //!< by which a stream is moved
        uint32_t pintSeed{0}; //!< by which the seed of PINT's draws is moved
    };

    /// \return how to follow ns-3's seed and run
    RngStreams GetRngStreams() const;

    CorePointer<hpcc::Settings> m_settings; //!< of a scenario, if nodes run by one
    bool m_usesStreamsAlone{false};         //!< whether ns-3's seed and run count for nothing
    uint32_t m_pintSeed{1};                 //!< seed of PINT's draws
    uint64_t m_ecnStream{0};                //!< first random stream of ECN marking, 0: by default
};

} // namespace ns3

#endif /* QBB_HELPER_H */
