/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-scenario-helper.h"

#include "../model/call-rust.h"
#include "../model/stop-run.h"
#include "attacker.h"
#include "ns3-bridge/src/progress.rs.h"
#include "ns3-bridge/src/ranks.rs.h"
#include "ns3-bridge/src/results.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "scenario-hosts.h"
#include "scenario-monitor.h"
#include "scenario-totals.h"
#include "scenario-trace.h"
#include "scenario-traffic.h"
#include "scoped-defaults.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/global-value.h"
#include "ns3/node-list.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/wheel-simulator-impl.h"

#include <array>
#include <cstring>
#include <iostream>
#include <tuple>
#include <type_traits>
#include <utility>

namespace ns3
{

namespace
{

/// Windows from one gathering of rows to the next.
constexpr uint32_t GATHER_INTERVAL = 32;

/**
 * \brief Look at counters as the numbers that they consist of.
 * \tparam T their type
 * \param counters the counters
 * \param exchange adds up the numbers of all processes
 */
template <class T>
void
SumUp(T& counters, const RankExchange& exchange)
{
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(uint64_t) == 0,
                  "64-bit numbers only");
    std::array<uint64_t, sizeof(T) / sizeof(uint64_t)> numbers;
    std::memcpy(numbers.data(), &counters, sizeof(T));
    exchange.Sum(numbers.data(), numbers.size());
    std::memcpy(static_cast<void*>(&counters), numbers.data(), sizeof(T));
}

/**
 * \brief Bring a record of each process to the first one.
 * \tparam T its type
 * \param mine the record of this process
 * \param exchange connects the processes
 * \return at the first process the records of all
 */
template <class T>
std::vector<T>
Collect(const T& mine, RankExchange& exchange)
{
    static_assert(std::is_trivially_copyable_v<T>, "sent as bytes");
    const auto* begin = reinterpret_cast<const uint8_t*>(&mine);
    std::vector<T> all;
    for (const auto& bytes : exchange.Gather({begin, begin + sizeof(T)}))
    {
        all.emplace_back();
        std::memcpy(&all.back(), bytes.data(), sizeof(T));
    }
    return all;
}

/**
 * \brief Find an attribute of nodes, or of their agents, whose default was changed.
 * \return its full name; empty if there is none
 */
std::string
FindChangedDefault()
{
    for (uint16_t type = 0; type < TypeId::GetRegisteredN(); ++type)
    {
        const TypeId tid = TypeId::GetRegistered(type);
        const bool isNode = tid == QbbNode::GetTypeId() || tid.IsChildOf(QbbNode::GetTypeId());
        const bool isAgent = tid == FastCnpHost::GetTypeId() || tid == FastCnpSwitch::GetTypeId();
        for (std::size_t index = 0; (isNode || isAgent) && index < tid.GetAttributeN(); ++index)
        {
            const TypeId::AttributeInformation info = tid.GetAttribute(index);
            const auto text = [&info](const Ptr<const AttributeValue>& value) {
                return value->SerializeToString(info.checker);
            };
            if (text(info.initialValue) != text(info.originalInitialValue))
            {
                return tid.GetAttributeFullName(index);
            }
        }
    }
    return {};
}

/**
 * \brief Let links fail, and come back, when the scenario says so.
 * \param scenario the scenario
 * \param network its network, which must outlive the run
 */
void
ScheduleLinkFailures(const hpcc::Scenario& scenario, const QbbHelper& network)
{
    for (const auto& failure : scenario.link_failures())
    {
        const std::vector<uint32_t> links(failure.links.begin(), failure.links.end());
        const auto schedule = [&](uint64_t at, bool up) {
            Simulator::Schedule(NanoSeconds(at), &QbbHelper::SetLinks, &network, links, up);
        };
        schedule(failure.time_ns, false);
        if (failure.until_ns < scenario.stop_ns())
        {
            schedule(failure.until_ns, true);
        }
    }
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
    m_scenario.reset();
    const std::string changed = FindChangedDefault();
    if (!changed.empty())
    {
        Say("the default of the attribute " + changed +
            " was changed, which a scenario does not look at: the file decides; expected "
            "--set=SECTION.KEY=VALUE");
        return false;
    }
    if (!Try([&] { m_scenario = FromRust(hpcc::open_scenario(config, overrides)); }))
    {
        return false;
    }
    for (const auto& note : m_scenario->notes())
    {
        if (!m_isQuiet)
        {
            Say("note: " + std::string(note));
        }
    }
    if (!MakeHosts() || !Divide())
    {
        m_scenario.reset();
    }
    return m_scenario != nullptr;
}

void
HpccScenarioHelper::BeQuiet()
{
    m_isQuiet = true;
}

bool
HpccScenarioHelper::Divide()
{
    return !m_exchange || Try([this] {
        const auto ranks = hpcc::divide_scenario(*m_scenario, m_exchange->GetSize());
        m_ranks.assign(ranks.begin(), ranks.end());
    });
}

bool
HpccScenarioHelper::MakeHosts()
{
    const std::string name(m_scenario->hosts_class());
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(name, &tid))
    {
        Say("this simulator was built without ns-3's internet stack, which TCP hosts need: "
            "its modules internet and applications");
        return false;
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    m_hosts = factory.Create<ScenarioHosts>();
    return true;
}

void
HpccScenarioHelper::ShareAmong(std::shared_ptr<RankExchange> exchange)
{
    m_exchange = std::move(exchange);
}

bool
HpccScenarioHelper::IsFirst() const
{
    return !m_exchange || m_exchange->GetRank() == 0;
}

void
HpccScenarioHelper::Say(const std::string& message) const
{
    if (IsFirst())
    {
        std::cerr << "hpcc: " << message << std::endl;
    }
}

bool
HpccScenarioHelper::Try(const std::function<void()>& call) const
{
    const std::string wrong = TryRust(call);
    if (!wrong.empty())
    {
        Say(wrong);
    }
    return wrong.empty();
}

bool
HpccScenarioHelper::CanRun() const
{
    if (!m_scenario)
    {
        Say("there is no experiment to run: HpccScenarioHelper::Load() has not been called, or "
            "has refused it");
        return false;
    }
    if (m_network.GetNNodes() > 0)
    {
        Say("an HpccScenarioHelper runs one experiment, once; make another one for the next");
        return false;
    }
    return true;
}

bool
HpccScenarioHelper::ChooseSimulator() const
{
    const bool isCanonical = hpcc::is_canonical(*m_scenario);
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::WheelSimulatorImpl"));
    Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(isCanonical));
    // Times of a scenario count from 0, and its end would end the program's own nodes.
    if (NodeList::GetNNodes() > 0 || Simulator::Now().IsStrictlyPositive())
    {
        Say("a simulation of this program is under way, which the end of a scenario would end, "
            "too; run the scenario first, or call Simulator::Destroy() before");
        return false;
    }
    const WheelSimulatorImpl* simulator = WheelSimulatorImpl::Find();
    if (!simulator || simulator->IsCanonical() != isCanonical)
    {
        Say("a scenario comes too late: this program has used another simulator already, or the "
            "same with another order of events; run the scenario first");
        return false;
    }
    return true;
}

CorePointer<hpcc::Results>
HpccScenarioHelper::OpenResults(const std::string& out) const
{
    CorePointer<hpcc::Results> results;
    if (IsFirst())
    {
        Try([&] { results = FromRust(hpcc::create_results(out)); });
    }
    if (m_exchange && !m_exchange->Share(results ? 1 : 0))
    {
        return {};
    }
    if (!results && m_exchange)
    {
        results = FromRust(hpcc::results_without_folder());
    }
    if (results && hpcc::is_canonical(*m_scenario))
    {
        // Rows of the same nanosecond are written in order of nodes, by one process as by several.
        results->share();
    }
    return results;
}

HpccScenarioHelper::Outcome
HpccScenarioHelper::Run(const std::string& out)
{
    const ScopedDefaults kept;
    if (!CanRun() || !ChooseSimulator())
    {
        return BAD_INPUT;
    }
    const CorePointer<hpcc::Results> results = OpenResults(out);
    if (!results)
    {
        return BAD_INPUT;
    }
    BuildNetwork();

    std::string fault;
    const RunKeeper keeper([this, &fault](const std::string& reason) {
        if (fault.empty())
        {
            fault = reason;
            StopSimulation();
        }
    });
    ScenarioTraffic traffic(*m_scenario, m_network, *m_hosts, *results);
    ScenarioMonitor monitor(*m_scenario, m_network, traffic, *results, m_isQuiet);
    TraceScenarioPackets(*m_scenario, m_network, *results);
    CaptureScenarioFrames(*m_scenario, m_network, *results);
    // Flows, link failures, samples: of the same nanosecond the reference simulator has them in
    // this order.
    traffic.Begin();
    const std::vector<std::unique_ptr<Attacker>> attacks =
        MakeAttackers(*m_scenario, m_network, [&traffic]() { return traffic.IsDone(); });
    for (const auto& attack : attacks)
    {
        attack->Begin();
    }
    ScheduleLinkFailures(*m_scenario, m_network);
    monitor.Begin();
    Simulator::Stop(NanoSeconds(m_scenario->stop_ns()));

    results->begin_run();
    // The first flow may have had one already.
    const ProcessTime busy = fault.empty() ? Simulate(traffic, monitor, *results) : ProcessTime();
    monitor.End();
    traffic.RecordUnfinished();
    fault = ShareFault(fault);
    hpcc::RunTotals totals{};
    totals.stopped = fault;
    totals.uncontrolled = traffic.GetUncontrolled();
    const bool written = Finish(*results, attacks, totals, busy);
    const bool done = traffic.IsDone();
    const uint32_t unfinished = m_scenario->flow_count() - traffic.GetFinished();
    Simulator::Destroy();
    if (!written)
    {
        return FAILED;
    }
    if (!fault.empty())
    {
        return STOPPED;
    }
    if (!done)
    {
        Say(std::to_string(unfinished) + " of " + std::to_string(m_scenario->flow_count()) +
            " flows unfinished, see " + out + "/unfinished.csv");
    }
    return done ? FINISHED : UNFINISHED;
}

ProcessTime
HpccScenarioHelper::Simulate(ScenarioTraffic& traffic,
                             ScenarioMonitor& monitor,
                             hpcc::Results& results) const
{
    const ProcessTime begin = ProcessTime::Now();
    const ProcessTime waited = m_exchange ? m_exchange->GetWaited() : ProcessTime();
    SharedNetwork* shared = m_network.GetShared();
    if (shared)
    {
        shared->SetObserver([this, &traffic, &monitor, &results, windows = uint32_t{0}]() mutable {
            traffic.OnWindow();
            if (++windows % GATHER_INTERVAL == 0)
            {
                GatherRows(results);
                if (m_exchange)
                {
                    monitor.ShowProgress(Collect(monitor.GetProgress(), *m_exchange));
                }
            }
        });
    }
    Simulator::Run();
    if (shared)
    {
        shared->End();
    }
    const ProcessTime elapsed = ProcessTime::Now() - begin;
    return m_exchange ? elapsed - (m_exchange->GetWaited() - waited) : elapsed;
}

void
HpccScenarioHelper::StopSimulation() const
{
    if (m_exchange)
    {
        // All processes end with the same window.
        m_network.GetShared()->Stop();
    }
    else
    {
        Simulator::Stop();
    }
}

std::string
HpccScenarioHelper::ShareFault(const std::string& fault) const
{
    if (!m_exchange)
    {
        return fault;
    }
    std::string first;
    for (const auto& bytes : m_exchange->Gather({fault.begin(), fault.end()}))
    {
        first = first.empty() ? std::string(bytes.begin(), bytes.end()) : first;
    }
    // The others need only know that there is one.
    const bool isAny = m_exchange->Share(first.empty() ? 0 : 1) != 0;
    return isAny && first.empty() ? "another process has a fault" : first;
}

void
HpccScenarioHelper::GatherRows(hpcc::Results& results) const
{
    if (m_exchange)
    {
        const rust::Vec<uint8_t> rows = results.take_rows();
        for (const auto& bytes : m_exchange->Gather({rows.begin(), rows.end()}))
        {
            results.add_rows({bytes.data(), bytes.size()});
        }
    }
    results.write_rows();
}

void
HpccScenarioHelper::GatherTotals(const ProcessTime& busy, hpcc::RunTotals& totals) const
{
    uint64_t nodes = 0;
    uint64_t devices = 0;
    for (uint32_t index = 0; index < m_network.GetNNodes(); ++index)
    {
        const Ptr<QbbNode> node = m_network.GetNode(index);
        nodes += node->IsLocal() ? 1 : 0;
        devices += node->GetObject<Node>()->GetNDevices();
    }
    const hpcc::RankFigures mine{nodes,
                                 devices,
                                 totals.events,
                                 totals.packet_hops,
                                 m_network.GetShared()->GetSentFrames(),
                                 m_exchange->GetSentBytes(),
                                 m_exchange->GetWindows(),
                                 busy.cpu,
                                 busy.wall,
                                 m_exchange->GetWaited().wall,
                                 hpcc::peak_memory()};
    for (const hpcc::RankFigures& figures : Collect(mine, *m_exchange))
    {
        totals.ranks.push_back(figures);
    }
    // The port with the longest queue; the first of them if several are as long.
    for (const hpcc::QueueFigures& queue : Collect(totals.queue, *m_exchange))
    {
        const bool isFirst =
            std::tie(queue.node, queue.port) < std::tie(totals.queue.node, totals.queue.port);
        const bool isLonger = queue.max_bytes > totals.queue.max_bytes;
        if (isLonger || (queue.max_bytes == totals.queue.max_bytes && isFirst))
        {
            totals.queue = queue;
        }
    }
    for (uint64_t* count : {&totals.events,
                            &totals.packet_hops,
                            &totals.drops,
                            &totals.losses,
                            &totals.marks,
                            &totals.telemetry_bytes})
    {
        m_exchange->Sum(count, 1);
    }
    hpcc::UncontrolledFlows all{};
    for (const hpcc::UncontrolledFlows& flows : Collect(totals.uncontrolled, *m_exchange))
    {
        const bool isFirst = flows.count > 0 && (all.count == 0 || flows.first < all.first);
        all = {all.count + flows.count, isFirst ? flows.first : all.first};
    }
    totals.uncontrolled = all;
    SumUp(totals.hosts, *m_exchange);
    SumUp(totals.fast_cnp, *m_exchange);
}

void
HpccScenarioHelper::BuildNetwork()
{
    m_network.UseStreamsAlone();
    NodeContainer nodes;
    nodes.Create(m_scenario->node_count());
    for (uint32_t index = 0; index < nodes.GetN();)
    {
        // Nodes are numbered as they are installed, and those that are installed together cost
        // less.
        const bool areSwitches = m_scenario->is_switch(index);
        NodeContainer alike;
        for (; index < nodes.GetN() && m_scenario->is_switch(index) == areSwitches; ++index)
        {
            alike.Add(nodes.Get(index));
        }
        if (areSwitches)
        {
            m_network.InstallSwitches(alike);
        }
        else
        {
            m_hosts->Install(alike, m_network);
        }
    }
    SetSettings();
    if (m_exchange)
    {
        m_network.ShareAmong(m_exchange, m_ranks);
    }
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
        node->SetSettings(FromRust(settings->duplicate()));
        for (SettingsOwner* owner :
             {FindSettingsOwner<FastCnpHost>(*node), FindSettingsOwner<FastCnpSwitch>(*node)})
        {
            if (owner)
            {
                owner->SetSettings(FromRust(settings->duplicate()));
            }
        }
    }
    for (const uint32_t index : m_scenario->legacy_nodes())
    {
        m_network.GetNode(index)->SetSettings(FromRust(m_scenario->legacy_settings(index)));
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
                           const std::vector<std::unique_ptr<Attacker>>& attacks,
                           hpcc::RunTotals& totals,
                           const ProcessTime& busy) const
{
    totals.ns3_version = HPCC_NS3_VERSION;
    totals.build_profile = HPCC_BUILD_PROFILE;
    totals.bdp_bytes = m_network.GetCore().max_bdp_bytes();
    totals.base_rtt_ns = m_network.GetMaxRtt().GetNanoSeconds();
    totals.simulated_ns = Simulator::Now().GetNanoSeconds();
    const WheelSimulatorImpl* simulator = WheelSimulatorImpl::Find();
    // In canonical order events of no node are not counted: how many there are depends on what else
    // this process simulates.
    totals.events =
        simulator->IsCanonical() ? simulator->GetNodeEventCount() : Simulator::GetEventCount();
    totals.queue = results.queue_figures();
    totals.packet_hops = m_network.GetTxFrames();
    CountNodes(m_network, results, totals);
    m_hosts->Count(totals);
    CountFastCnps(*m_scenario, m_network, totals);
    for (const auto& attack : attacks)
    {
        totals.attacks.push_back({attack->GetSent(), attack->GetAltered()});
    }
    if (m_exchange)
    {
        GatherRows(results);
        GatherTotals(busy, totals);
    }
    for (const auto& note : hpcc::notes_of_run(totals))
    {
        if (!m_isQuiet || !totals.stopped.empty())
        {
            Say("note: " + std::string(note));
        }
    }
    const bool isWritten = Try([&] { results.finish(*m_scenario, totals); });
    return m_exchange ? m_exchange->Share(isWritten) != 0 : isWritten;
}

} // namespace ns3
