/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "tcp-test-network.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace tests
{

namespace
{

/// The first flow's port at the last host; the next one has the next.
constexpr uint16_t FIRST_PORT = 5000;

} // namespace

TcpTestNetwork::TcpTestNetwork(uint32_t count, const std::string& congestionControl)
    : m_congestionControl(congestionControl)
{
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(4 << 20));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(m_congestionControl));
    network.SetTelemetry("draft");
    nodes.Create(count);
}

void
TcpTestNetwork::MakeStar()
{
    switches.Create(1);
    Install();
    for (uint32_t host = 0; host < nodes.GetN(); ++host)
    {
        const DataRate rate(host + 1 < nodes.GetN() ? "100Gbps" : "25Gbps");
        network.Link(nodes.Get(host), switches.Get(0), rate, MicroSeconds(1));
    }
    for (uint32_t host = 0; host < rdma.GetN(); ++host)
    {
        network.Link(rdma.Get(host), switches.Get(0), DataRate("25Gbps"), MicroSeconds(1));
    }
    Start();
}

void
TcpTestNetwork::MakeSpines()
{
    switches.Create(4);
    Install();
    const uint32_t last = nodes.GetN() - 1;
    for (uint32_t host = 0; host < last; ++host)
    {
        network.Link(nodes.Get(host), switches.Get(0), DataRate("100Gbps"), MicroSeconds(1));
    }
    for (const uint32_t spine : {1, 2})
    {
        network.Link(switches.Get(0), switches.Get(spine), DataRate("25Gbps"), MicroSeconds(1));
        network.Link(switches.Get(spine), switches.Get(3), DataRate("25Gbps"), MicroSeconds(1));
    }
    network.Link(nodes.Get(last), switches.Get(3), DataRate("25Gbps"), MicroSeconds(1));
    Start();
}

void
TcpTestNetwork::Install()
{
    hosts.Install(nodes, network);
    network.InstallSwitches(switches);
    network.InstallHosts(rdma);
}

void
TcpTestNetwork::Start()
{
    InternetStackHelper().Install(nodes);
    hosts.AssignAddresses(nodes);
    network.Start();
}

void
TcpTestNetwork::AddFlow(uint32_t src, uint64_t bytes, Time start)
{
    const uint32_t last = nodes.GetN() - 1;
    const auto port = static_cast<uint16_t>(FIRST_PORT + m_sinks.GetN());
    const InetSocketAddress address(GetHost(last)->GetAddress(), port);
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
    m_sinks.Add(sink.Install(nodes.Get(last)));
    BulkSendHelper source("ns3::TcpSocketFactory", address);
    source.SetAttribute("MaxBytes", UintegerValue(bytes));
    source.SetAttribute("SendSize", UintegerValue(1448));
    source.Install(nodes.Get(src)).Start(start);
}

uint64_t
TcpTestNetwork::GetReceived(uint32_t flow) const
{
    return DynamicCast<PacketSink>(m_sinks.Get(flow))->GetTotalRx();
}

Ptr<PacketHost>
TcpTestNetwork::GetHost(uint32_t host) const
{
    return nodes.Get(host)->GetObject<PacketHost>();
}

Ptr<QbbSwitch>
TcpTestNetwork::GetLastSwitch() const
{
    return switches.Get(switches.GetN() - 1)->GetObject<QbbSwitch>();
}

uint16_t
TcpTestNetwork::GetBottleneck() const
{
    return static_cast<uint16_t>(GetLastSwitch()->GetNPorts() - 1 - rdma.GetN());
}

/**
 * \ingroup hpcc
 * \brief Tests of what connects ns-3's internet stack to the module.
 */
class HpccTcpTestSuite : public TestSuite
{
  public:
    HpccTcpTestSuite()
        : TestSuite("hpcc-tcp", Type::UNIT)
    {
        for (const auto make : {MakeDatagramClientTests,
#ifdef HPCC_HAS_FLOW_MONITOR
                                MakeFlowMonitorTests,
#endif
                                MakePacketHostTests,
                                MakeSharedHostTests,
                                MakeStackProgramTests,
                                MakeTcpHpccPlusTests})
        {
            for (TestCase* test : make())
            {
                AddTestCase(test);
            }
        }
    }
};

static HpccTcpTestSuite g_hpccTcpTestSuite; //!< registers the suite

} // namespace tests
} // namespace ns3
