/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// ns-3's FlowMonitor at hosts with RDMA and a stack.
#include "tcp-test-network.h"

#include "ns3/boolean.h"
#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-flow-classifier.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/packet-sink.h"
#include "ns3/queue-disc.h"
#include "ns3/rdma-client-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/traffic-control-helper.h"
#include "ns3/uinteger.h"

#include <string>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief FlowMonitor counts what TCP does beside RDMA.
 */
class FlowMonitorTest : public HpccTestCase
{
  public:
    FlowMonitorTest()
        : HpccTestCase("FlowMonitor has the bytes that sinks have, and the packets that a queue "
                       "disc drops, of hosts with RDMA besides")
    {
    }

  private:
    void DoRun() override
    {
        // So the headers of IP and TCP have 40 bytes, and 4 more in the first packet, for SACK.
        for (const std::string option : {"Timestamp", "WindowScaling"})
        {
            Config::SetDefault("ns3::TcpSocketBase::" + option, BooleanValue(false));
        }
        Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
        NodeContainer nodes(3);
        NodeContainer center(1);
        QbbHelper network;
        network.SetNetworkAttribute("PfcPriorities", StringValue("3, 4"));
        network.InstallHosts(nodes);
        PacketHostHelper packets;
        packets.SetAttribute("Priority", UintegerValue(4));
        packets.SetAttribute("QueueBytes", UintegerValue(4000));
        packets.Install(nodes, network);
        network.InstallSwitches(center);
        const Ptr<Node> server = nodes.Get(2);
        const NodeContainer clients(nodes.Get(0), nodes.Get(1));
        const NetDeviceContainer devices =
            network.LinkAll(clients, center.Get(0), DataRate("10Gbps"), MicroSeconds(1));
        network.Link(server, center.Get(0), DataRate("100Gbps"), MicroSeconds(1));
        InternetStackHelper().Install(nodes);
        const QueueDiscContainer wide = InstallDisc(devices.Get(2), "1000p");
        const QueueDiscContainer narrow = InstallDisc(devices.Get(0), "10p");
        const Ipv4InterfaceContainer interfaces = packets.AssignAddresses(nodes);
        network.Start();
        FlowMonitorHelper flows;
        const Ptr<FlowMonitor> monitor = flows.Install(nodes);

        ApplicationContainer sinks;
        for (uint32_t host = 0; host < 2; ++host)
        {
            const InetSocketAddress address(interfaces.GetAddress(2),
                                            static_cast<uint16_t>(5000 + host));
            sinks.Add(PacketSinkHelper("ns3::TcpSocketFactory", address).Install(server));
            BulkSendHelper sender("ns3::TcpSocketFactory", address);
            sender.SetAttribute("MaxBytes", UintegerValue(SIZE));
            sender.Install(clients.Get(host));
        }
        RdmaClientHelper client(server);
        client.SetAttribute("Size", UintegerValue(SIZE));
        client.Install(clients);
        Simulator::Stop(Seconds(20));
        Simulator::Run();

        monitor->CheckForLostPackets(Time(0));
        const auto classifier = DynamicCast<Ipv4FlowClassifier>(flows.GetClassifier());
        uint32_t lost = 0;
        uint32_t missing = 0;
        for (const auto& [id, stats] : monitor->GetFlowStats())
        {
            lost += stats.lostPackets;
            missing += stats.txPackets - stats.rxPackets;
            if (classifier->FindFlow(id).destinationPort == 5001)
            {
                NS_TEST_EXPECT_MSG_EQ(stats.rxBytes,
                                      SIZE + 40 * stats.rxPackets + 4,
                                      "bytes of the sink, and a header each");
            }
        }
        const uint32_t dropped = narrow.Get(0)->GetStats().nTotalDroppedPackets;
        NS_TEST_EXPECT_MSG_EQ(monitor->GetFlowStats().size(), 4, "TCP's flows, there and back");
        NS_TEST_EXPECT_MSG_EQ(wide.Get(0)->GetStats().nTotalDroppedPackets, 0, "there is room");
        NS_TEST_EXPECT_MSG_GT(dropped, 0, "there is none");
        NS_TEST_EXPECT_MSG_EQ(lost, dropped, "what was dropped is lost");
        NS_TEST_EXPECT_MSG_EQ(missing, dropped, "and nothing else");
        for (uint32_t sink = 0; sink < 2; ++sink)
        {
            NS_TEST_EXPECT_MSG_EQ(DynamicCast<PacketSink>(sinks.Get(sink))->GetTotalRx(),
                                  SIZE,
                                  "every byte arrives");
        }
    }

    /**
     * \param device a device
     * \param size most packets that wait there
     * \return its queue disc
     */
    static QueueDiscContainer InstallDisc(Ptr<NetDevice> device, const std::string& size)
    {
        TrafficControlHelper traffic;
        traffic.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue(size));
        return traffic.Install(device);
    }

    static constexpr uint32_t SIZE = 1'000'000; //!< bytes of each flow
};

TestCases
MakeFlowMonitorTests()
{
    return {new FlowMonitorTest};
}

} // namespace tests
} // namespace ns3
