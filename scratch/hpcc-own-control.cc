/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// A congestion control of your own in C++: a class, and its name. Four hosts send to one; is the
// queue where the class wants it?
//
//   ./ns3 run "hpcc-own-control --ns3::QueueTarget::Target=20000"
//   ./ns3 run "hpcc-own-control --control=hpcc"
//
// A scenario file chooses it as algorithm = "ns3::QueueTarget" in [congestion_control], with Target
// and Step as keys:
//
//   ./ns3 run "hpcc-own-control --config=my.toml"

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

namespace ns3
{

/**
 * \brief Once in a round trip, a step up while the longest queue of the path is shorter than a
 * target; otherwise down by a share that is the larger the longer the queue is.
 */
class QueueTarget : public RdmaCongestionOps
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::QueueTarget")
                                .SetParent<RdmaCongestionOps>()
                                .AddConstructor<QueueTarget>()
                                .AddAttribute("Target",
                                              "Bytes of queue that are welcome at the busiest hop",
                                              UintegerValue(10'000),
                                              MakeUintegerAccessor(&QueueTarget::m_target),
                                              MakeUintegerChecker<uint64_t>(1))
                                .AddAttribute("Step",
                                              "Rate to add in a round trip with a shorter queue",
                                              DataRateValue(DataRate("500Mbps")),
                                              MakeDataRateAccessor(&QueueTarget::m_step),
                                              MakeDataRateChecker());
        return tid;
    }

    void Start(const Limits& limits) override
    {
        m_limits = limits;
        m_rate = limits.lineRate.GetBitRate();
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        for (const Hop& hop : feedback.hops)
        {
            m_queue = std::max(m_queue, hop.qlen);
        }
        if (feedback.ackSeq <= m_roundEnd)
        {
            return {};
        }
        m_roundEnd = feedback.sndNxt;
        if (m_queue <= m_target)
        {
            m_rate += m_step.GetBitRate();
        }
        else
        {
            const double excess = 1.0 - static_cast<double>(m_target) / m_queue;
            m_rate *= 1.0 - excess / 2;
        }
        m_queue = 0;
        m_rate = std::clamp(m_rate, 1e8, static_cast<double>(m_limits.lineRate.GetBitRate()));
        return {false, DataRate(static_cast<uint64_t>(m_rate)), 0};
    }

    Reads GetReads() const override
    {
        return Reads::RECORDS;
    }

  private:
    Limits m_limits{};      //!< what is known of the flow
    uint64_t m_target{0};   //!< welcome queue in bytes
    DataRate m_step;        //!< what to add in a round trip
    double m_rate{0};       //!< the pace in bit/s
    uint64_t m_queue{0};    //!< longest queue of this round trip, in bytes
    uint64_t m_roundEnd{0}; //!< the round trip ends when this byte is acknowledged
};

NS_OBJECT_ENSURE_REGISTERED(QueueTarget);

} // namespace ns3

using namespace ns3;

/// Add up the queue, and once more later.
static void
SampleQueue(Ptr<QbbNetDevice> port, uint64_t* sum, uint64_t* samples)
{
    *sum += port->GetQueuedBytes();
    ++*samples;
    // All flows last longer.
    if (Simulator::Now() < MilliSeconds(2))
    {
        Simulator::Schedule(MicroSeconds(1), &SampleQueue, port, sum, samples);
    }
}

int
main(int argc, char* argv[])
{
    std::string control = "ns3::QueueTarget";
    std::string config;
    std::string out = "hpcc-out";
    const uint64_t size = 10'000'000;

    CommandLine cmd(__FILE__);
    cmd.AddValue("control", "congestion control of the hosts", control);
    cmd.AddValue("config", "a scenario file to run instead", config);
    cmd.AddValue("out", "folder for the results of a scenario file", out);
    cmd.Parse(argc, argv);

    if (!config.empty())
    {
        HpccScenarioHelper scenario;
        return scenario.Load(config, {}) ? scenario.Run(out) : HpccScenarioHelper::BAD_INPUT;
    }

    // Hosts 0 to 3 send to host 4 through one switch.
    NodeContainer hosts(5);
    NodeContainer center(1);
    QbbHelper network;
    network.SetHostAttribute("CongestionControl", StringValue(control));
    network.InstallHosts(hosts);
    network.InstallSwitches(center);
    NetDeviceContainer last;
    for (uint32_t host = 0; host < hosts.GetN(); ++host)
    {
        last = network.Link(center.Get(0), hosts.Get(host), DataRate("100Gbps"), MicroSeconds(1));
    }
    network.Start();
    std::vector<Ptr<RdmaClient>> flows;
    for (uint32_t host = 0; host < 4; ++host)
    {
        auto flow = CreateObject<RdmaClient>();
        flow->SetPeer(hosts.Get(4));
        flow->SetAttribute("Size", UintegerValue(size));
        hosts.Get(host)->AddApplication(flow);
        flows.push_back(flow);
    }

    uint64_t sum = 0;
    uint64_t samples = 0;
    // The first bursts are over by then.
    Simulator::Schedule(MicroSeconds(500),
                        &SampleQueue,
                        DynamicCast<QbbNetDevice>(last.Get(0)),
                        &sum,
                        &samples);
    Simulator::Stop(MilliSeconds(10));
    Simulator::Run();

    std::cout << std::fixed << std::setprecision(1) << "mean queue " << sum / 1e3 / samples
              << " kB\n";
    for (const auto& flow : flows)
    {
        const RdmaFlow& done = flow->GetFlow();
        const double micros = done.completion.GetNanoSeconds() / 1e3;
        std::cout << "flow from host " << done.src << ": ";
        if (done.completion.IsZero())
        {
            std::cout << "not finished\n";
            continue;
        }
        std::cout << micros << " us, " << size * 8 / micros / 1e3 << " Gb/s\n";
    }
    Simulator::Destroy();
    return 0;
}
