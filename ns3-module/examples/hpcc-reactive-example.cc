/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// An application that reacts: a client asks all servers at once, each answers when the question has
// arrived, and the next round begins when all answers are there, after a time to think that ns-3
// draws.
//
//   ./ns3 run "hpcc-reactive-example --servers=16 --RngRun=2"

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <functional>
#include <iostream>

using namespace ns3;

/// Asks servers in rounds.
class PartitionAggregate : public Application
{
  public:
    /**
     * \param servers their nodes
     * \param rounds how often it asks
     * \param answer bytes of an answer
     */
    PartitionAggregate(const NodeContainer& servers, uint32_t rounds, uint64_t answer)
        : m_servers(servers),
          m_rounds(rounds),
          m_answer(answer)
    {
        m_think->SetAttribute("Mean", DoubleValue(20e-6));
    }

  private:
    void StartApplication() override
    {
        m_begin = Simulator::Now();
        m_missing = m_servers.GetN();
        for (uint32_t server = 0; server < m_servers.GetN(); ++server)
        {
            // What a callback starts begins now.
            Send(GetNode(), m_servers.Get(server), 1000, [this, server](const RdmaFlow&) {
                Send(m_servers.Get(server), GetNode(), m_answer, [this](const RdmaFlow&) {
                    OnAnswer();
                });
            });
        }
    }

    void StopApplication() override
    {
        m_rounds = 0;
    }

    /**
     * \brief Start a flow.
     * \param from its source
     * \param to its destination
     * \param size its bytes
     * \param done called when it is over
     */
    static void Send(Ptr<Node> from,
                     Ptr<Node> to,
                     uint64_t size,
                     std::function<void(const RdmaFlow&)> done)
    {
        RdmaFlow flow;
        flow.size = size;
        from->GetObject<RdmaHost>()->StartFlow(to->GetObject<RdmaHost>(),
                                               flow,
                                               RdmaHost::FlowCallback(done));
    }

    /// An answer is there.
    void OnAnswer()
    {
        if (--m_missing > 0)
        {
            return;
        }
        std::cout << "round of " << (Simulator::Now() - m_begin).As(Time::US) << '\n';
        if (m_rounds > 0 && --m_rounds > 0)
        {
            Simulator::Schedule(Seconds(m_think->GetValue()),
                                &PartitionAggregate::StartApplication,
                                this);
        }
    }

    NodeContainer m_servers; //!< who is asked
    uint32_t m_rounds;       //!< rounds that are left
    uint64_t m_answer;       //!< bytes of an answer
    uint32_t m_missing{0};   //!< answers that are not there
    Time m_begin;            //!< when the round began
    /// Times between rounds.
    Ptr<ExponentialRandomVariable> m_think{CreateObject<ExponentialRandomVariable>()};
};

int
main(int argc, char* argv[])
{
    uint32_t servers = 8;
    uint32_t rounds = 5;
    uint64_t answer = 100'000;

    CommandLine cmd(__FILE__);
    cmd.AddValue("servers", "how many are asked", servers);
    cmd.AddValue("rounds", "how often", rounds);
    cmd.AddValue("answer", "bytes of an answer", answer);
    cmd.Parse(argc, argv);

    QbbHelper network;
    QbbFabricHelper shape("star");
    shape.Set("hosts", servers + 1);
    shape.Set("rate", "100Gbps");
    shape.Set("delay", "1us");
    const NodeContainer hosts = shape.Install(network).hosts;
    network.Start();

    NodeContainer others;
    for (uint32_t host = 1; host < hosts.GetN(); ++host)
    {
        others.Add(hosts.Get(host));
    }
    hosts.Get(0)->AddApplication(CreateObject<PartitionAggregate>(others, rounds, answer));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
