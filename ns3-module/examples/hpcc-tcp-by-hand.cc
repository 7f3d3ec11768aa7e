/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// configs/tcp.toml, and each variant of configs/tcp-controllers.toml, as a program of its own, as
// hpcc-by-hand has the scenarios with RDMA. The list of flows is that of the run by the file:
//
//   ./hpcc run configs/tcp.toml --out out
//   cd ~/.cache/hpcc/ns-3
//   ./ns3 run "hpcc-tcp-by-hand --scenario=tcp --flows=OUT --stop=20ms"
//
// As there, "--RngRun=2" is the seed 2 of a file, and "--list" tells all runs.

#include "by-hand/flows.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace ns3;

/// Bytes of a segment, or of a datagram.
static constexpr uint32_t PAYLOAD = 1448;

/// The congestion control of each variant; datagrams have that of DatagramClient.
static const std::map<std::string, std::string> CONTROLS{
    {"hpcc-plus", "ns3::TcpHpccPlus"},
    {"hpcc-plus-datagrams", ""},
    {"dctcp", "ns3::TcpDctcp"},
    {"cubic", "ns3::TcpCubic"},
    {"new-reno", "ns3::TcpNewReno"},
};

/**
 * \brief Find the congestion control of a run. The program ends if there is no such run.
 * \param scenario the scenario, or nothing
 * \param sweep the sweep, or nothing
 * \param variant its variant
 * \return the congestion control; nothing for datagrams
 */
static std::string
FindControl(const std::string& scenario, const std::string& sweep, const std::string& variant)
{
    if (sweep.empty())
    {
        NS_ABORT_MSG_UNLESS(scenario == "tcp", "there is no scenario \"" << scenario << "\" here");
        return "ns3::TcpHpccPlus";
    }
    NS_ABORT_MSG_UNLESS(scenario.empty(), "expected --scenario or --sweep, and one of them");
    NS_ABORT_MSG_UNLESS(sweep == "tcp-controllers", "there is no sweep \"" << sweep << "\" here");
    const auto found = CONTROLS.find(variant);
    NS_ABORT_MSG_IF(found == CONTROLS.end(), "there is no variant \"" << variant << "\" here");
    return found->second;
}

/// Print what the program is told for the scenario, and for each run of the sweep.
static void
List()
{
    std::cout << "--scenario=tcp" << std::endl;
    for (const auto& control : CONTROLS)
    {
        std::cout << "--sweep=tcp-controllers --variant=" << control.first << std::endl;
    }
}

/**
 * \brief Set what ns-3's TCP needs for short round-trip times.
 * \param control its congestion control
 */
static void
SetTcpDefaults(const std::string& control)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(control));
    Config::SetDefault("ns3::TcpHpccPlus::ExpectedFlows", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4'000'000));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
}

/// The nodes of the network, and how flows reach their hosts.
struct Network
{
    QbbHelper helper;                  //!< builds it
    NodeContainer hosts;               //!< its hosts
    Ipv4InterfaceContainer interfaces; //!< their addresses
};

/**
 * \brief Build ten hosts at one switch, with ns-3's own stack.
 * \param network an empty network
 * \param datagrams whether flows are of UDP
 */
static void
Build(Network& network, bool datagrams)
{
    network.hosts.Create(10);
    const NodeContainer center(1);
    PacketHostHelper packetHosts;
    packetHosts.SetAttribute("Datagrams", BooleanValue(datagrams));
    // A full packet is one of the flows.
    network.helper.SetDeviceAttribute("Mtu",
                                      UintegerValue(PAYLOAD + (datagrams ? 20 + 8 : 20 + 32)));
    packetHosts.Install(network.hosts, network.helper);
    network.helper.InstallSwitches(center);
    network.helper.LinkAll(network.hosts, center.Get(0), DataRate("25Gbps"), MicroSeconds(1));
    InternetStackHelper().Install(network.hosts);
    network.interfaces = packetHosts.AssignAddresses(network.hosts);
    network.helper.Start();
}

/**
 * \param network the network
 * \param flow a flow
 * \return address of its receiver
 */
static InetSocketAddress
GetReceiver(const Network& network, const byhand::Flow& flow)
{
    return {network.interfaces.GetAddress(flow.dst), flow.dport};
}

/**
 * \brief Take in what has arrived.
 * \param socket where
 */
static void
Drain(Ptr<Socket> socket)
{
    while (socket->Recv())
    {
    }
}

/**
 * \brief The sender has closed a connection: close it, too.
 * \param socket the receiver's end
 */
static void
Close(Ptr<Socket> socket)
{
    socket->Close();
}

/**
 * \brief A sender has connected.
 * \param socket the receiver's end of the connection
 */
static void
OnConnection(Ptr<Socket> socket, const Address&)
{
    socket->SetRecvCallback(MakeCallback(&Drain));
    socket->SetCloseCallbacks(MakeCallback(&Close), MakeCallback(&Close));
}

/// A TCP connection, whose time runs until its last byte is acknowledged.
class Connection
{
  public:
    /**
     * \param flow what it sends
     * \param socket the sender's end
     * \param receiver address of the other end
     */
    Connection(const byhand::Flow& flow, Ptr<Socket> socket, const Address& receiver)
        : m_flow(flow),
          m_socket(socket)
    {
        m_socket->SetSendCallback(MakeCallback(&Connection::OnRoom, this));
        m_socket->TraceConnectWithoutContext("HighestRxAck",
                                             MakeCallback(&Connection::OnAcked, this));
        m_socket->Bind();
        m_socket->Connect(receiver);
    }

  private:
    /// There is room for more.
    void OnRoom(Ptr<Socket>, uint32_t)
    {
        while (m_written < m_flow.size)
        {
            const auto bytes =
                static_cast<uint32_t>(std::min<uint64_t>(PAYLOAD, m_flow.size - m_written));
            if (m_socket->GetTxAvailable() < bytes ||
                m_socket->Send(Create<Packet>(bytes)) < static_cast<int>(bytes))
            {
                return;
            }
            m_written += bytes;
        }
    }

    /**
     * \brief More was acknowledged.
     * \param before number of the byte that was expected next
     * \param now number of the byte that is expected next
     */
    void OnAcked(SequenceNumber32 before, SequenceNumber32 now)
    {
        // The first byte has the number 1.
        if (before.GetValue() <= m_flow.size && now.GetValue() > m_flow.size)
        {
            byhand::PrintFinished(m_flow.number, Simulator::Now() - m_flow.start);
            // The socket is not done with this acknowledgement.
            Simulator::ScheduleNow(&Close, m_socket);
        }
    }

    byhand::Flow m_flow;   //!< what it sends
    Ptr<Socket> m_socket;  //!< the sender's end
    uint64_t m_written{0}; //!< bytes that the socket has taken
};

/// A host and a port of it.
using Place = std::pair<uint32_t, uint16_t>;

/// Flows over TCP: a connection for each.
class Connections
{
  public:
    /**
     * \param network the network
     */
    explicit Connections(const Network& network)
        : m_network(network)
    {
    }

    /**
     * \brief Add a flow.
     * \param flow the flow
     */
    void Add(const byhand::Flow& flow)
    {
        if (m_listening.insert({flow.dst, flow.dport}).second)
        {
            const Ptr<Socket> socket = MakeSocket(flow.dst);
            socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), flow.dport));
            socket->Listen();
            socket->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                      MakeCallback(&OnConnection));
        }
        Simulator::Schedule(flow.start, &Connections::Connect, this, flow);
    }

  private:
    /**
     * \brief A flow starts.
     * \param flow the flow
     */
    void Connect(const byhand::Flow& flow)
    {
        m_connections.push_back(
            std::make_unique<Connection>(flow, MakeSocket(flow.src), GetReceiver(m_network, flow)));
    }

    /**
     * \param host a host
     * \return a socket there
     */
    Ptr<Socket> MakeSocket(uint32_t host) const
    {
        return Socket::CreateSocket(m_network.hosts.Get(host), TcpSocketFactory::GetTypeId());
    }

    const Network& m_network;                               //!< the network
    std::set<Place> m_listening;                            //!< where flows arrive
    std::vector<std::unique_ptr<Connection>> m_connections; //!< those that have started
};

/// Flows of datagrams, whose time runs until their last byte has arrived.
class Datagrams
{
  public:
    /**
     * \param network the network
     */
    explicit Datagrams(const Network& network)
        : m_network(network)
    {
    }

    /**
     * \brief Add a flow.
     * \param flow the flow
     */
    void Add(const byhand::Flow& flow)
    {
        DatagramClientHelper helper(GetReceiver(m_network, flow));
        helper.SetAttribute("ExpectedFlows", UintegerValue(10));
        helper.SetAttribute("PacketSize", UintegerValue(PAYLOAD));
        helper.SetAttribute("MaxBytes", UintegerValue(flow.size));
        ApplicationContainer source = helper.Install(m_network.hosts.Get(flow.src));
        source.Start(flow.start);
        const auto client = DynamicCast<DatagramClient>(source.Get(0));
        const Ipv4Address sender = m_network.interfaces.GetAddress(flow.src);
        const auto onArrival =
            [flow, client, sender, arrived = uint64_t{0}](Ptr<const Packet> packet,
                                                          const Address& from) mutable {
                const InetSocketAddress address = InetSocketAddress::ConvertFrom(from);
                const bool isOfFlow =
                    address.GetIpv4() == sender && address.GetPort() == client->GetPort();
                arrived += isOfFlow ? packet->GetSize() : 0;
                if (isOfFlow && arrived == flow.size)
                {
                    byhand::PrintFinished(flow.number, Simulator::Now() - flow.start);
                    // Nothing is left to probe for.
                    client->Dispose();
                }
            };
        FindSink(flow)->TraceConnectWithoutContext(
            "Rx",
            Callback<void, Ptr<const Packet>, const Address&>(onArrival));
    }

  private:
    /**
     * \param flow a flow
     * \return where it arrives
     */
    Ptr<Application> FindSink(const byhand::Flow& flow)
    {
        Ptr<Application>& sink = m_sinks[{flow.dst, flow.dport}];
        if (!sink)
        {
            PacketSinkHelper helper("ns3::UdpSocketFactory",
                                    InetSocketAddress(Ipv4Address::GetAny(), flow.dport));
            sink = helper.Install(m_network.hosts.Get(flow.dst)).Get(0);
        }
        return sink;
    }

    const Network& m_network;                  //!< the network
    std::map<Place, Ptr<Application>> m_sinks; //!< where flows arrive
};

int
main(int argc, char* argv[])
{
    std::string scenario;
    std::string sweep;
    std::string variant;
    std::string flows;
    Time stop;
    bool list = false;

    CommandLine cmd(__FILE__);
    cmd.AddValue("scenario", "tcp", scenario);
    cmd.AddValue("sweep", "tcp-controllers, in place of a scenario", sweep);
    cmd.AddValue("variant", "the variant of the sweep", variant);
    cmd.AddValue("flows", "results of the run by its file", flows);
    cmd.AddValue("stop", "end of the simulation", stop);
    cmd.AddValue("list", "list all runs, and do no more", list);
    cmd.Parse(argc, argv);
    if (list)
    {
        List();
        return 0;
    }

    // As files run. Before the first use of the simulator.
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::WheelSimulatorImpl"));
    Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(true));

    const std::string control = FindControl(scenario, sweep, variant);
    if (!control.empty())
    {
        SetTcpDefaults(control);
    }
    Network network;
    Build(network, control.empty());
    byhand::PrintHead();
    Connections connections(network);
    Datagrams datagrams(network);
    for (const byhand::Flow& flow : byhand::ReadFlows(flows, stop))
    {
        control.empty() ? datagrams.Add(flow) : connections.Add(flow);
    }
    Simulator::Stop(stop);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
