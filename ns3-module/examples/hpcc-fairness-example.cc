/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Flows join and leave a bottleneck one after the other: their goodput over time, and how fair it
// is (Jain's index), as CSV. A flow may have a congestion control of its own.
//
//   ./ns3 run "hpcc-fairness-example --control=dcqcn"
//   ./ns3 run "hpcc-fairness-example --first=hpcc_plus[Eta=0.8]"

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <iostream>
#include <vector>

using namespace ns3;

/// Prints what flows have received since the last time.
class GoodputPrinter
{
  public:
    /**
     * \param flows the flows
     * \param interval from line to line
     */
    GoodputPrinter(const ApplicationContainer& flows, Time interval)
        : m_flows(flows),
          m_interval(interval),
          m_before(flows.GetN())
    {
        std::cout << "time (us)";
        for (uint32_t flow = 0; flow < flows.GetN(); ++flow)
        {
            std::cout << ",flow " << flow << " (Gb/s)";
        }
        std::cout << ",Jain's index\n";
        Simulator::Schedule(m_interval, &GoodputPrinter::Print, this);
    }

  private:
    /// Print a line, and the next one later.
    void Print()
    {
        double sum = 0;
        double squares = 0;
        uint32_t active = 0;
        std::cout << Simulator::Now().GetMicroSeconds();
        for (uint32_t place = 0; place < m_flows.GetN(); ++place)
        {
            const auto client = DynamicCast<RdmaClient>(m_flows.Get(place));
            uint64_t acked = m_before[place];
            if (client->GetFlow().size > 0 && !client->IsFinished())
            {
                acked =
                    client->GetNode()->GetObject<RdmaHost>()->GetAckedBytes(client->GetQueuePair());
            }
            const double goodput = (acked - m_before[place]) * 8 / m_interval.GetDouble();
            m_before[place] = acked;
            active += goodput > 0;
            sum += goodput;
            squares += goodput * goodput;
            std::cout << ',' << goodput;
        }
        std::cout << ',' << (active > 0 ? sum * sum / (active * squares) : 1) << '\n';
        Simulator::Schedule(m_interval, &GoodputPrinter::Print, this);
    }

    ApplicationContainer m_flows;   //!< the flows
    Time m_interval;                //!< from line to line
    std::vector<uint64_t> m_before; //!< bytes of each until the last line
};

int
main(int argc, char* argv[])
{
    std::string control = "hpcc_plus";
    std::string first;
    uint32_t count = 4;
    Time step = MilliSeconds(1);

    CommandLine cmd(__FILE__);
    cmd.AddValue("control", "congestion control of hosts", control);
    cmd.AddValue("first", "that of the first flow, if it is another one", first);
    cmd.AddValue("flows", "number of flows", count);
    cmd.AddValue("step", "from one flow to the next", step);
    cmd.Parse(argc, argv);

    QbbHelper network;
    network.SetHostAttribute("CongestionControl", StringValue(control));
    QbbFabricHelper shape("star");
    shape.Set("hosts", count + 1);
    shape.Set("rate", "100Gbps");
    shape.Set("delay", "1us");
    const NodeContainer hosts = shape.Install(network).hosts;
    network.Start();

    RdmaClientHelper client(hosts.Get(count));
    client.SetAttribute("Size", UintegerValue(0)); // until it is stopped
    ApplicationContainer flows;
    for (uint32_t flow = 0; flow < count; ++flow)
    {
        client.SetAttribute("CongestionControl", StringValue(flow == 0 ? first : ""));
        ApplicationContainer added = client.Install(hosts.Get(flow));
        added.Start(step * flow);
        added.Stop(step * (count + flow));
        flows.Add(added);
    }
    const GoodputPrinter printer(flows, step / 10);
    Simulator::Stop(step * (2 * count));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
