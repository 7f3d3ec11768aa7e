/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-scenario-helper.h"

#include "../model/call-rust.h"
#include "../model/stop-run.h"
#include "ns3-bridge/src/ranks.rs.h"
#include "ns3-bridge/src/scenario.rs.h"
#include "scenario-hosts.h"

#include "ns3/engine-network.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/node-list.h"
#include "ns3/object-factory.h"
#include "ns3/qbb-node.h"
#include "ns3/simulator.h"
#include "ns3/turn-scheduler.h"

#include <iostream>
#include <utility>

namespace ns3
{

namespace
{

/**
 * \brief Find an attribute of a network, its nodes or their agents, whose default was changed.
 * \return its full name; empty if there is none
 */
std::string
FindChangedDefault()
{
    for (uint16_t type = 0; type < TypeId::GetRegisteredN(); ++type)
    {
        const TypeId tid = TypeId::GetRegistered(type);
        const bool isNode = tid == QbbNode::GetTypeId() || tid.IsChildOf(QbbNode::GetTypeId());
        const bool isOther = tid == EngineNetwork::GetTypeId() || tid == FastCnpHost::GetTypeId() ||
                             tid == FastCnpSwitch::GetTypeId();
        for (std::size_t index = 0; (isNode || isOther) && index < tid.GetAttributeN(); ++index)
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

} // namespace

HpccScenarioHelper::HpccScenarioHelper() = default;

HpccScenarioHelper::~HpccScenarioHelper() = default;

bool
HpccScenarioHelper::Load(const std::string& config, const std::vector<std::string>& overrides)
{
    m_scenario.reset();
    std::string wrong;
    if (const std::string changed = FindChangedDefault(); !changed.empty())
    {
        wrong = "the default of the attribute " + changed +
                " was changed, which a scenario does not look at: the file decides; expected "
                "--set=SECTION.KEY=VALUE";
    }
    else
    {
        wrong = TryRust([&] { m_scenario = FromRust(hpcc::open_scenario(config, overrides)); });
    }
    if (!m_exchange)
    {
        if (!wrong.empty())
        {
            Say(wrong);
        }
        return wrong.empty();
    }
    // A file may be there for some processes alone. The first that cannot read it says why.
    const uint64_t rank = m_exchange->GetRank();
    const uint64_t size = m_exchange->GetSize();
    const uint64_t refuses = m_exchange->Exchange(wrong.empty() ? size : rank);
    if (refuses == rank)
    {
        std::cerr << "hpcc: process " << rank << " of " << size << ": " << wrong << std::endl;
    }
    if (refuses != size)
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

void
HpccScenarioHelper::Watch()
{
    m_isWatched = true;
}

void
HpccScenarioHelper::UseThreads(uint32_t threads)
{
    m_threads = threads;
}

void
HpccScenarioHelper::ShareAmong(std::shared_ptr<RankExchange> exchange)
{
    m_exchange = std::move(exchange);
}

void
HpccScenarioHelper::Say(const std::string& message) const
{
    if (!m_exchange || m_exchange->GetRank() == 0)
    {
        std::cerr << "hpcc: " << message << std::endl;
    }
}

QbbHelper*
HpccScenarioHelper::Open()
{
    if (!m_scenario || m_hosts || m_hasRun)
    {
        Say("there is no experiment to open: HpccScenarioHelper::Load() has not been called, or "
            "has refused it, or it is open or was run already");
        return nullptr;
    }
    if (IsShared() || m_isWatched)
    {
        Say("an experiment is open in one process, with one thread, and is not watched");
        return nullptr;
    }
    if (Time::GetResolution() != Time::NS || Simulator::Now().IsStrictlyPositive())
    {
        Say("a scenario counts in nanoseconds from time 0: open it first, without "
            "Time::SetResolution(), or call Simulator::Destroy() before");
        return nullptr;
    }
    m_hosts = MakeHosts();
    return m_hosts ? &m_hosts->Build(*m_scenario) : nullptr;
}

bool
HpccScenarioHelper::IsShared() const
{
    return m_threads > 1 || (m_exchange && m_exchange->GetSize() > 1);
}

Ptr<ScenarioHosts>
HpccScenarioHelper::MakeHosts() const
{
    const std::string name(m_scenario->hosts_class());
    TypeId tid = ScenarioHosts::GetTypeId();
    if (!name.empty() && !TypeId::LookupByNameFailSafe(name, &tid))
    {
        Say("this simulator was built without ns-3's internet stack, which TCP hosts need: "
            "its modules internet and applications");
        return nullptr;
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return factory.Create<ScenarioHosts>();
}

HpccScenarioHelper::Outcome
HpccScenarioHelper::Run(const std::string& out)
{
    if (!m_scenario)
    {
        Say("there is no experiment to run: HpccScenarioHelper::Load() has not been called, or "
            "has refused it");
        return BAD_INPUT;
    }
    if (std::exchange(m_hasRun, true))
    {
        Say("an HpccScenarioHelper runs one experiment, once; make another one for the next");
        return BAD_INPUT;
    }
    const RunKeeper keeper;
    if (m_hosts)
    {
        return static_cast<Outcome>(m_hosts->Run(out, m_isQuiet, true));
    }
    const std::string name(m_scenario->hosts_class());
    if (m_isWatched && (m_exchange || !name.empty()))
    {
        Say("queues and slowdowns are shown of runs of one process whose hosts have RDMA; expected "
            "no --watch");
        return BAD_INPUT;
    }
    const bool callsProgram = m_scenario->calls_program();
    if ((callsProgram || !name.empty()) && !HasSimulator())
    {
        return BAD_INPUT;
    }
    if (!name.empty() && !IsShared())
    {
        const Ptr<ScenarioHosts> hosts = MakeHosts();
        if (!hosts)
        {
            return BAD_INPUT;
        }
        hosts->Build(*m_scenario);
        const uint8_t outcome = hosts->Run(out, m_isQuiet, false);
        hosts->Dispose();
        Simulator::Destroy();
        return static_cast<Outcome>(outcome);
    }
    if (!callsProgram)
    {
        return RunEngine(out);
    }
    TurnScheduler::Install();
    const Outcome outcome = RunEngine(out);
    if (outcome == FINISHED || outcome == UNFINISHED)
    {
        // What the program has scheduled for the time behind the last packet.
        Simulator::Stop(NanoSeconds(m_scenario->stop_ns()) - Simulator::Now());
        Simulator::Run();
    }
    Simulator::Destroy();
    return outcome;
}

HpccScenarioHelper::Outcome
HpccScenarioHelper::RunEngine(const std::string& out)
{
    return static_cast<Outcome>(hpcc::run_scenario(*m_scenario,
                                                   out,
                                                   m_isQuiet,
                                                   m_isWatched,
                                                   m_threads,
                                                   m_exchange,
                                                   HPCC_NS3_VERSION,
                                                   HPCC_BUILD_PROFILE));
}

bool
HpccScenarioHelper::HasSimulator() const
{
    if (Time::GetResolution() != Time::NS)
    {
        Say("a scenario counts in nanoseconds, this program in another unit: leave out "
            "Time::SetResolution()");
        return false;
    }
    // Times of a scenario count from 0, and its end would end the program's own nodes.
    if (NodeList::GetNNodes() > 0 || Simulator::Now().IsStrictlyPositive())
    {
        Say("a simulation of this program is under way, which the end of a scenario would end, "
            "too; run the scenario first, or call Simulator::Destroy() before");
        return false;
    }
    return true;
}

} // namespace ns3
