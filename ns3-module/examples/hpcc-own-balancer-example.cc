/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// A load balancer of your own: packets take the shorter of two queues that are drawn at random
// (power of two choices), beside the switches' ECMP.
//
//   ./ns3 run "hpcc-own-balancer-example --scheme=ecmp"
//   ./ns3 run "hpcc-own-balancer-example --ns3::TwoChoices::Samples=4"

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <iostream>

namespace ns3
{

/// The shortest of some queues that are drawn.
class TwoChoices : public QbbLoadBalancer
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::TwoChoices")
                                .SetParent<QbbLoadBalancer>()
                                .AddConstructor<TwoChoices>()
                                .AddAttribute("Samples",
                                              "Queues that are drawn for a packet",
                                              UintegerValue(2),
                                              MakeUintegerAccessor(&TwoChoices::m_samples),
                                              MakeUintegerChecker<uint32_t>(1))
                                .AddTraceSource("Choice",
                                                "A packet takes a port",
                                                MakeTraceSourceAccessor(&TwoChoices::m_choice),
                                                "ns3::TracedValueCallback::Uint16");
        return tid;
    }

    uint16_t Choose(const Choice& choice) override
    {
        const auto draw = [&] {
            return choice.hops[m_random->GetInteger(0, choice.hops.size() - 1)];
        };
        Hop best = draw();
        for (uint32_t sample = 1; sample < m_samples; ++sample)
        {
            const Hop other = draw();
            if (other.queuedBytes < best.queuedBytes)
            {
                best = other;
            }
        }
        m_choice(best.port);
        return best.port;
    }

  private:
    uint32_t m_samples{2};             //!< attribute
    TracedCallback<uint16_t> m_choice; //!< trace source
    /// Random numbers of ns-3.
    Ptr<UniformRandomVariable> m_random{CreateObject<UniformRandomVariable>()};
};

NS_OBJECT_ENSURE_REGISTERED(TwoChoices);

} // namespace ns3

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string scheme = "ns3::TwoChoices";
    std::string size = "2MB";

    CommandLine cmd(__FILE__);
    cmd.AddValue("scheme", "how switches balance load", scheme);
    cmd.AddValue("size", "bytes of each flow", size);
    cmd.Parse(argc, argv);

    QbbHelper network;
    network.SetSwitchAttribute("LoadBalancingScheme", StringValue(scheme));
    // Packets of a flow overtake each other.
    network.SetNetworkAttribute("Recovery", StringValue("selective_repeat"));

    QbbFabricHelper shape("leaf_spine");
    shape.Set("leaves", 4);
    shape.Set("spines", 4);
    shape.Set("hosts_per_leaf", 4);
    shape.Set("rate", "100Gbps");
    shape.Set("delay", "1us");
    const QbbFabric fabric = shape.Install(network);
    network.Start();
    RdmaFlowResults results(network);

    RdmaTrafficHelper traffic("permutation");
    traffic.Set("size", size);
    traffic.Install(network);

    // Each switch has a balancer, which paths of Config reach once the network is started.
    uint64_t choices = 0;
    Config::ConnectWithoutContextFailSafe(
        "/NodeList/*/$ns3::QbbSwitch/LoadBalancer/$ns3::TwoChoices/Choice",
        Callback<void, uint16_t>([&](uint16_t) { ++choices; }));
    Simulator::Run();

    Time longest;
    for (const auto& [flow, slowdown] : results.GetFinished())
    {
        longest = std::max(longest, flow.completion);
    }
    std::cout << results.GetFinished().size() << " flows over " << fabric.GetSpines().GetN()
              << " spines, the longest " << longest.As(Time::US) << ", " << choices
              << " choices of the program" << std::endl;
    Simulator::Destroy();
    return 0;
}
