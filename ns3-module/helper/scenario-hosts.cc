/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-hosts.h"

#include "../model/call-rust.h"
#include "../model/stop-run.h"
#include "hpcc-scenario-helper.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/engine-network.h"
#include "ns3/node.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-node.h"
#include "ns3/rdma-host.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/turn-scheduler.h"

#include <iostream>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ScenarioHosts);

namespace
{

/// Restores in the end ns-3's run number, which a scenario changes for the whole process.
class KeptRun
{
  public:
    ~KeptRun()
    {
        RngSeedManager::SetRun(m_run);
    }

  private:
    uint64_t m_run{RngSeedManager::GetRun()}; //!< the run number
};

} // namespace

TypeId
ScenarioHosts::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ScenarioHosts")
                            .SetParent<Object>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<ScenarioHosts>();
    return tid;
}

ScenarioHosts::ScenarioHosts() = default;

ScenarioHosts::~ScenarioHosts() = default;

QbbHelper&
ScenarioHosts::Build(const hpcc::Scenario& scenario)
{
    m_scenario = &scenario;
    m_network = std::make_unique<QbbHelper>();
    m_network->UseStreamsAlone();
    m_network->SetNetworkAttribute("CanonicalOrder", BooleanValue(scenario.is_canonical()));
    m_network->UseSettings(FromRust(scenario.settings()));
    NodeContainer nodes;
    nodes.Create(scenario.node_count());
    for (uint32_t index = 0; index < nodes.GetN(); ++index)
    {
        const NodeContainer node(nodes.Get(index));
        if (scenario.is_switch(index))
        {
            m_network->InstallSwitches(node);
        }
        else
        {
            InstallHost(node, index);
        }
    }
    for (const uint32_t index : scenario.legacy_nodes())
    {
        m_network->GetNode(index)->SetSettings(FromRust(scenario.legacy_settings(index)));
    }
    std::vector<NetDeviceContainer> links;
    for (const auto& link : scenario.links())
    {
        links.push_back(m_network->Link(nodes.Get(link.a),
                                        nodes.Get(link.b),
                                        DataRate(link.rate_bps),
                                        NanoSeconds(link.delay_ns)));
    }
    SetLosses(links);
    for (const auto& border : scenario.fast_cnp_borders())
    {
        m_network->SetFastCnpBorder(border.node, border.outside);
    }
    const hpcc::StreamParameters streams = scenario.streams();
    m_network->SetEcnStream(streams.ecn);
    m_network->SetPintSeed(streams.pint_seed);
    return *m_network;
}

uint8_t
ScenarioHosts::Run(const std::string& out, bool isQuiet, bool isOpen)
{
    const KeptRun kept;
    RngSeedManager::SetRun(m_scenario->seed());
    PrepareHosts();
    m_isOpen = isOpen;
    m_network->Start();
    EngineNetwork& engine = m_network->GetNode(0)->GetNetwork();
    if (m_isOpen)
    {
        engine.SetFirstFlow(hpcc::first_flow_of_program());
    }
    const std::string wrong = TryRust([&] {
        m_run = FromRust(hpcc::begin_stack_run(*m_scenario, out, isQuiet, engine.Look(), m_isOpen));
    });
    if (!m_run)
    {
        if (!wrong.empty())
        {
            std::cerr << "hpcc: " << wrong << std::endl;
        }
        return HpccScenarioHelper::BAD_INPUT;
    }
    Capture();
    engine.Follow([this](bool isSample) { OnPause(isSample); });
    const Time stop = NanoSeconds(m_scenario->stop_ns());
    Simulator::Stop(stop);
    if (RunKeeper::GetFault().empty())
    {
        Simulator::Run();
    }
    std::string stopped = RunKeeper::GetFault();
    if (stopped.empty() && Simulator::Now() < stop)
    {
        stopped = "the program called Simulator::Stop()";
    }
    engine.Follow(nullptr);
    TellAcked();
    m_active.clear();
    hpcc::StackCounters counters{};
    Count(counters);
    counters.events = Simulator::GetEventCount() - TurnScheduler::Get().GetTurns();
    return hpcc::finish_stack_run(*m_run,
                                  stopped,
                                  Simulator::Now().GetNanoSeconds(),
                                  counters,
                                  HPCC_NS3_VERSION,
                                  HPCC_BUILD_PROFILE);
}

void
ScenarioHosts::OnPause(bool isSample)
{
    for (const hpcc::StackFlow& flow : m_run->take_started())
    {
        const auto done = [this](uint32_t id) {
            m_run->end_flow(id);
            m_active.erase(id);
        };
        auto& active = m_active[flow.id];
        active = StartFlow(flow, done);
        m_run->set_port(flow.id, active->GetSourcePort());
    }
    if (m_isOpen)
    {
        ShowFlows();
    }
    if (isSample)
    {
        if (m_run->asks_flows())
        {
            TellAcked();
        }
        m_run->sample();
    }
    if (!RunKeeper::GetFault().empty())
    {
        Simulator::Stop();
    }
}

void
ScenarioHosts::ShowFlows()
{
    const hpcc::SeenFlows seen = m_run->take_seen();
    for (const hpcc::BegunFlow& begun : seen.begun)
    {
        // The program knows those that it has started.
        if (begun.flow.id < hpcc::first_flow_of_program())
        {
            RdmaFlow flow;
            flow.src = begun.flow.src;
            flow.dst = begun.flow.dst;
            flow.sport = begun.sport;
            flow.dport = begun.flow.dport;
            flow.priority = begun.flow.priority;
            flow.size = begun.flow.size_bytes;
            flow.firstSeq = begun.first_seq;
            flow.nic = begun.nic;
            flow.maxRate = DataRate(begun.most_bps);
            m_network->GetHost(flow.src)->BeginFlow(begun.flow.id, flow, begun.queue_pair);
        }
    }
    for (const hpcc::FlowEnd& end : seen.ended)
    {
        m_network->GetNode(0)->GetNetwork().EndFlow(end);
    }
}

void
ScenarioHosts::TellAcked()
{
    for (const auto& [id, flow] : m_active)
    {
        m_run->set_acked(id, flow->GetAckedBytes());
    }
}

void
ScenarioHosts::InstallHost(const NodeContainer& node, uint32_t)
{
    m_network->InstallHosts(node);
}

void
ScenarioHosts::PrepareHosts()
{
}

std::unique_ptr<ScenarioStackFlow>
ScenarioHosts::StartFlow(const hpcc::StackFlow& flow, ScenarioStackFlow::FinishCallback)
{
    NS_ABORT_MSG("flow " << flow.id << " is for a stack that its host does not have");
}

void
ScenarioHosts::Count(hpcc::StackCounters&) const
{
}

void
ScenarioHosts::SetLosses(const std::vector<NetDeviceContainer>& links)
{
    const uint64_t stream = m_scenario->streams().loss;
    NetDeviceContainer others;
    double defaultLoss = 0;
    for (uint32_t index = 0; index < links.size(); ++index)
    {
        const double loss = m_scenario->loss(index);
        if (m_scenario->has_own_loss(index))
        {
            m_network->SetLoss(links[index], loss, stream);
            continue;
        }
        others.Add(links[index]);
        defaultLoss = loss;
    }
    if (defaultLoss > 0)
    {
        m_network->SetLoss(others, defaultLoss, stream);
    }
}

void
ScenarioHosts::Capture()
{
    for (const uint32_t index : m_scenario->capture_nodes())
    {
        const Ptr<QbbNode> node = m_network->GetNode(index);
        const Callback<void, Ptr<const Packet>> sink([this, index](Ptr<const Packet> packet) {
            std::vector<uint8_t> bytes(packet->GetSize());
            packet->CopyData(bytes.data(), packet->GetSize());
            m_run->capture(index, {bytes.data(), bytes.size()});
        });
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            node->GetPort(port)->TraceConnectWithoutContext("PromiscSniffer", sink);
        }
    }
}

} // namespace ns3
