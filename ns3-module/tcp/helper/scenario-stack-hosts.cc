/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-stack-hosts.h"

#include "../../helper/hpcc-scenario-helper.h"
#include "../../helper/qbb-helper.h"
#include "../../model/call-rust.h"
#include "../../model/stop-run.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/engine-network.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/node.h"
#include "ns3/packet-host.h"
#include "ns3/qbb-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/turn-scheduler.h"

#include <iostream>
#include <utility>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ScenarioStackHosts);

namespace
{

/// Most bytes of a packet's headers: IPv6, and TCP with options.
constexpr uint32_t MOST_HEADERS = 40 + 60;

/**
 * \brief Tell the user something.
 * \param message the message
 */
void
Say(const std::string& message)
{
    std::cerr << "hpcc: " << message << std::endl;
}

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
ScenarioStackHosts::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::ScenarioStackHosts").SetParent<ScenarioHosts>().SetGroupName("Hpcc");
    return tid;
}

ScenarioStackHosts::ScenarioStackHosts() = default;

ScenarioStackHosts::~ScenarioStackHosts() = default;

uint8_t
ScenarioStackHosts::Run(const hpcc::Scenario& scenario, const std::string& out, bool isQuiet)
{
    const KeptRun kept;
    m_scenario = &scenario;
    Build();
    EngineNetwork& engine = m_network->GetNode(0)->GetNetwork();
    const std::string wrong = TryRust(
        [&] { m_run = FromRust(hpcc::begin_stack_run(scenario, out, isQuiet, engine.Look())); });
    uint8_t outcome = HpccScenarioHelper::BAD_INPUT;
    if (m_run)
    {
        Capture();
        engine.Follow([this](bool isSample) { OnPause(isSample); });
        Simulator::Stop(NanoSeconds(scenario.stop_ns()));
        if (RunKeeper::GetFault().empty())
        {
            Simulator::Run();
        }
        engine.Follow(nullptr);
        TellAcked();
        hpcc::StackCounters counters{};
        Count(counters);
        counters.events = Simulator::GetEventCount() - TurnScheduler::Get().GetTurns();
        outcome = hpcc::finish_stack_run(*m_run,
                                         RunKeeper::GetFault(),
                                         counters,
                                         HPCC_NS3_VERSION,
                                         HPCC_BUILD_PROFILE);
    }
    else if (!wrong.empty())
    {
        Say(wrong);
    }
    m_active.clear();
    m_network.reset();
    Simulator::Destroy();
    return outcome;
}

void
ScenarioStackHosts::OnPause(bool isSample)
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
ScenarioStackHosts::TellAcked()
{
    for (const auto& [id, flow] : m_active)
    {
        m_run->set_acked(id, flow->GetAckedBytes());
    }
}

void
ScenarioStackHosts::Build()
{
    m_network = std::make_unique<QbbHelper>();
    m_network->UseStreamsAlone();
    m_network->SetNetworkAttribute("CanonicalOrder", BooleanValue(m_scenario->is_canonical()));
    NodeContainer nodes;
    nodes.Create(m_scenario->node_count());
    for (uint32_t index = 0; index < nodes.GetN(); ++index)
    {
        const NodeContainer node(nodes.Get(index));
        if (m_scenario->is_switch(index))
        {
            m_network->InstallSwitches(node);
        }
        else if (m_scenario->is_stack(index))
        {
            m_helper.Install(node, *m_network);
        }
        else
        {
            m_network->InstallHosts(node);
        }
    }
    SetSettings();
    std::vector<NetDeviceContainer> links;
    for (const auto& link : m_scenario->links())
    {
        links.push_back(m_network->Link(nodes.Get(link.a),
                                        nodes.Get(link.b),
                                        DataRate(link.rate_bps),
                                        NanoSeconds(link.delay_ns)));
    }
    SetLosses(links);
    for (const auto& border : m_scenario->fast_cnp_borders())
    {
        m_network->SetFastCnpBorder(border.node, border.outside);
    }
    PrepareHosts();
    const hpcc::StreamParameters streams = m_scenario->streams();
    m_network->SetEcnStream(streams.ecn);
    m_network->SetPintSeed(streams.pint_seed);
    m_network->Start();
}

void
ScenarioStackHosts::SetSettings() const
{
    const rust::Box<hpcc::Settings> settings = m_scenario->settings();
    for (uint32_t index = 0; index < m_network->GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = m_network->GetNode(index);
        node->SetSettings(FromRust(settings->duplicate()));
        if (const auto agent = node->GetObject<FastCnpHost>())
        {
            agent->SetSettings(FromRust(settings->duplicate()));
        }
        if (const auto agent = node->GetObject<FastCnpSwitch>())
        {
            agent->SetSettings(FromRust(settings->duplicate()));
        }
    }
    for (const uint32_t index : m_scenario->legacy_nodes())
    {
        m_network->GetNode(index)->SetSettings(FromRust(m_scenario->legacy_settings(index)));
    }
}

void
ScenarioStackHosts::SetLosses(const std::vector<NetDeviceContainer>& links)
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
ScenarioStackHosts::PrepareHosts()
{
    RngSeedManager::SetRun(m_scenario->seed());
    const hpcc::StackParameters parameters = m_scenario->stack();
    m_stack.SetIpv4StackInstall(!parameters.ipv6);
    m_stack.SetIpv6StackInstall(parameters.ipv6);
    for (uint32_t index = 0; index < m_network->GetNNodes(); ++index)
    {
        const Ptr<PacketHost> host = GetHost(index);
        if (!host || host->GetNPorts() == 0)
        {
            continue;
        }
        const Ptr<Node> node = GetNodeOf(index);
        m_stack.Install(node);
        host->SetAttribute("GlobalRtt", BooleanValue(parameters.global_rtt));
        host->GetPort(0)->SetMtu(static_cast<uint16_t>(parameters.payload + MOST_HEADERS));
        if (parameters.ipv6)
        {
            m_helper.AssignIpv6Addresses(NodeContainer(node));
        }
        else
        {
            m_helper.AssignAddresses(NodeContainer(node));
        }
    }
}

void
ScenarioStackHosts::Capture()
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

void
ScenarioStackHosts::Count(hpcc::StackCounters& counters) const
{
    for (uint32_t index = 0; index < m_network->GetNNodes(); ++index)
    {
        if (const Ptr<PacketHost> host = GetHost(index))
        {
            counters.probes += host->GetProbes();
            counters.feedback += host->GetFeedback();
            counters.baseline_resets += host->GetBaselineResets();
            counters.drops += host->GetDrops();
        }
    }
}

Ptr<PacketHost>
ScenarioStackHosts::GetHost(uint32_t index) const
{
    return DynamicCast<PacketHost>(m_network->GetNode(index));
}

Ptr<Node>
ScenarioStackHosts::GetNodeOf(uint32_t host) const
{
    return GetHost(host)->GetObject<Node>();
}

Address
ScenarioStackHosts::GetAddress(uint32_t host, uint16_t port) const
{
    return m_scenario->stack().ipv6
               ? Address(Inet6SocketAddress(GetHost(host)->GetIpv6Address(), port))
               : Address(InetSocketAddress(GetHost(host)->GetAddress(), port));
}

Address
ScenarioStackHosts::GetAnyAddress(uint16_t port) const
{
    return m_scenario->stack().ipv6 ? Address(Inet6SocketAddress(Ipv6Address::GetAny(), port))
                                    : Address(InetSocketAddress(Ipv4Address::GetAny(), port));
}

} // namespace ns3
