/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-scenario-helper.h"

#include "scenario-attack.h"
#include "scenario-capture.h"
#include "scenario-fast-cnp.h"
#include "scenario-hosts.h"
#include "scenario-monitor.h"
#include "scenario-trace.h"
#include "scenario-traffic.h"
#include "rust/cxx.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/data-rate.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/global-value.h"
#include "ns3/object-factory.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <iostream>

namespace ns3
{

namespace
{

/**
 * \brief Say something on standard error.
 * \param message what to say
 */
void
Say(const std::string& message)
{
    std::cerr << "hpcc: " << message << std::endl;
}

/**
 * \brief Find an object that is aggregated to a node.
 * \tparam T its type
 * \param node the node
 * \return the object, or nullptr
 */
template <class T>
SettingsOwner*
FindSettingsOwner(const QbbNode& node)
{
    return PeekPointer(node.GetObject<T>());
}

} // namespace

HpccScenarioHelper::HpccScenarioHelper() = default;

HpccScenarioHelper::~HpccScenarioHelper() = default;

bool
HpccScenarioHelper::Load(const std::string& config, const std::vector<std::string>& overrides)
{
    try
    {
        m_scenario.reset(hpcc::open_scenario(config, overrides).into_raw());
    }
    catch (const rust::Error& error)
    {
        Say(error.what());
        return false;
    }
    for (const auto& note : m_scenario->notes())
    {
        Say("note: " + std::string(note));
    }
    return MakeHosts();
}

bool
HpccScenarioHelper::MakeHosts()
{
    const std::string name(m_scenario->hosts_class());
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(name, &tid))
    {
        Say("this simulator was built without ns-3's internet stack, which TCP hosts need: HPCC_TCP=1 ./hpcc build");
        return false;
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    m_hosts = factory.Create<ScenarioHosts>();
    return true;
}

HpccScenarioHelper::Outcome
HpccScenarioHelper::Run(const std::string& out)
{
    CorePointer<hpcc::Results> results;
    try
    {
        results.reset(hpcc::create_results(out).into_raw());
    }
    catch (const rust::Error& error)
    {
        Say(error.what());
        return BAD_INPUT;
    }
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::WheelSimulatorImpl"));
    BuildNetwork();

    // The order of these three is the reference simulator's, for events of the same nanosecond.
    ScenarioTraffic traffic(*m_scenario, m_network, *m_hosts, *results);
    ScenarioMonitor monitor(*m_scenario, m_network, traffic, *results);
    TraceScenarioPackets(*m_scenario, m_network, *results);
    CaptureScenarioFrames(*m_scenario, m_network, *results);
    traffic.Begin();
    const ScenarioAttacks attacks = MakeScenarioAttacks(*m_scenario, m_network, traffic);
    for (const auto& attack : attacks)
    {
        attack->Begin();
    }
    for (const auto& failure : m_scenario->link_failures())
    {
        const std::vector<uint32_t> links(failure.links.begin(), failure.links.end());
        Simulator::Schedule(NanoSeconds(failure.time_ns), &QbbHelper::SetLinks, &m_network, links, false);
        if (failure.until_ns < m_scenario->stop_ns())
        {
            Simulator::Schedule(NanoSeconds(failure.until_ns), &QbbHelper::SetLinks, &m_network, links, true);
        }
    }
    monitor.Begin();
    Simulator::Stop(NanoSeconds(m_scenario->stop_ns()));

    results->begin_run();
    Simulator::Run();
    monitor.End();
    traffic.RecordUnfinished();
    const std::string broken = traffic.GetError();
    const bool written = broken.empty() && Finish(*results, attacks);
    const bool done = traffic.IsDone();
    const uint32_t unfinished = m_scenario->flow_count() - traffic.GetFinished();
    Simulator::Destroy();
    if (!broken.empty())
    {
        Say(broken);
    }
    if (!written)
    {
        return FAILED;
    }
    if (!done)
    {
        Say(std::to_string(unfinished) + " of " + std::to_string(m_scenario->flow_count()) +
            " flows unfinished, see " + out + "/unfinished.csv");
    }
    return done ? FINISHED : UNFINISHED;
}

void
HpccScenarioHelper::BuildNetwork()
{
    NodeContainer nodes;
    nodes.Create(m_scenario->node_count());
    for (uint32_t index = 0; index < nodes.GetN(); ++index)
    {
        if (m_scenario->is_switch(index))
        {
            m_network.InstallSwitches(NodeContainer(nodes.Get(index)));
        }
        else
        {
            m_hosts->Install(nodes.Get(index), m_network);
        }
    }
    SetSettings();
    std::vector<NetDeviceContainer> links;
    for (const auto& link : m_scenario->links())
    {
        links.push_back(m_network.Link(nodes.Get(link.a),
                                       nodes.Get(link.b),
                                       DataRate(link.rate_bps),
                                       NanoSeconds(link.delay_ns)));
    }
    SetLosses(links);
    // A border is a port, and ports come with links.
    for (const auto& border : m_scenario->fast_cnp_borders())
    {
        m_network.SetFastCnpBorder(border.node, border.outside);
    }
    m_hosts->Prepare(*m_scenario, m_network);
    m_network.SetEcnStream(m_scenario->ecn_stream());
    m_network.SetPintSeed(m_scenario->pint_seed());
    m_network.Start();
}

void
HpccScenarioHelper::SetSettings() const
{
    const rust::Box<hpcc::Settings> settings = m_scenario->settings();
    for (uint32_t index = 0; index < m_network.GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = m_network.GetNode(index);
        node->SetSettings(CorePointer<hpcc::Settings>(settings->duplicate().into_raw()));
        for (SettingsOwner* owner : {FindSettingsOwner<FastCnpHost>(*node), FindSettingsOwner<FastCnpSwitch>(*node)})
        {
            if (owner)
            {
                owner->SetSettings(CorePointer<hpcc::Settings>(settings->duplicate().into_raw()));
            }
        }
    }
    for (const uint32_t index : m_scenario->legacy_nodes())
    {
        m_network.GetNode(index)->SetSettings(
            CorePointer<hpcc::Settings>(m_scenario->legacy_settings(index).into_raw()));
    }
}

void
HpccScenarioHelper::SetLosses(const std::vector<NetDeviceContainer>& links)
{
    const uint64_t stream = m_scenario->loss_stream();
    NetDeviceContainer others;
    double defaultLoss = 0;
    for (uint32_t index = 0; index < links.size(); ++index)
    {
        const double loss = m_scenario->loss(index);
        if (m_scenario->has_own_loss(index))
        {
            m_network.SetLoss(links[index], loss, stream);
            continue;
        }
        others.Add(links[index]);
        defaultLoss = loss;
    }
    if (defaultLoss > 0)
    {
        m_network.SetLoss(others, defaultLoss, stream);
    }
}

bool
HpccScenarioHelper::Finish(hpcc::Results& results,
                           const std::vector<std::unique_ptr<Attacker>>& attacks) const
{
    hpcc::RunTotals totals{};
    totals.ns3_version = HPCC_NS3_VERSION;
    totals.build_profile = HPCC_BUILD_PROFILE;
    totals.base_rtt_ns = m_network.GetMaxRtt().GetNanoSeconds();
    totals.simulated_ns = Simulator::Now().GetNanoSeconds();
    totals.events = Simulator::GetEventCount();
    totals.packet_hops = m_network.GetTxFrames();
    for (uint32_t index = 0; index < m_network.GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = m_network.GetNode(index);
        if (const auto aSwitch = DynamicCast<QbbSwitch>(node))
        {
            totals.drops += aSwitch->GetDrops() + aSwitch->GetUnroutable() + aSwitch->GetExpired();
            for (uint16_t port = 0; port < node->GetNPorts(); ++port)
            {
                results.port_sent(index, port + 1, aSwitch->GetSentBytes(port));
            }
        }
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            totals.losses += node->GetPort(port)->GetLostFrames();
            totals.telemetry_bytes += node->GetPort(port)->GetTxTelemetryBytes();
        }
    }
    m_hosts->Count(totals);
    CountFastCnps(*m_scenario, m_network, totals);
    for (const auto& attack : attacks)
    {
        totals.attacks.push_back({attack->GetSent(), attack->GetAltered()});
    }
    try
    {
        results.finish(*m_scenario, totals);
        return true;
    }
    catch (const rust::Error& error)
    {
        Say(error.what());
        return false;
    }
}

} // namespace ns3
