/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-helper.h"

#include "../model/call-rust.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/random.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "prototype-factory.h"

#include "ns3/abort.h"
#include "ns3/data-rate.h"
#include "ns3/engine-network.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/node.h"
#include "ns3/qbb-channel.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-client.h"
#include "ns3/rdma-host.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"

#include <algorithm>
#include <array>

namespace ns3
{

void
QbbHelper::FactoryUsage::Note(const std::string& attribute, bool isStarted)
{
    NS_ABORT_MSG_IF(isStarted,
                    "attribute " << attribute
                                 << " is set after Start(), and nothing will be made that has it");
    m_unused = m_any ? attribute : "";
}

void
QbbHelper::FactoryUsage::NoteUse()
{
    m_any = true;
    m_unused.clear();
}

void
QbbHelper::FactoryUsage::CheckUsed(const std::string& what) const
{
    NS_ABORT_MSG_UNLESS(m_unused.empty(),
                        "attribute " << m_unused << " has no effect: it was set after all "
                                     << what);
}

QbbHelper::QbbHelper()
    : m_network(CreateObject<EngineNetwork>())
{
    m_hostFactory.SetTypeId(RdmaHost::GetTypeId());
    m_switchFactory.SetTypeId(QbbSwitch::GetTypeId());
    m_fastCnpHostFactory.SetTypeId(FastCnpHost::GetTypeId());
    m_fastCnpSwitchFactory.SetTypeId(FastCnpSwitch::GetTypeId());
    m_deviceFactory.SetTypeId(QbbNetDevice::GetTypeId());
}

void
QbbHelper::UseSettings(CorePointer<hpcc::Settings> settings)
{
    m_settings = std::move(settings);
}

void
QbbHelper::CheckOwnSettings(const std::string& attribute) const
{
    NS_ABORT_MSG_IF(
        m_settings,
        "attribute " << attribute
                     << " of a network that was read from a scenario: the file decides; "
                        "expected KEY=VALUE in HpccScenarioHelper::Load()");
}

void
QbbHelper::GiveSettings(QbbNode& node) const
{
    for (SettingsOwner* const owner : node.GetOwners())
    {
        owner->SetSettings(FromRust(m_settings->duplicate()));
        // A host with ns-3's stack waits for its addresses.
        if (node.IsSwitch() || DynamicCast<RdmaHost>(Ptr<QbbNode>(&node)))
        {
            owner->Freeze();
        }
    }
}

void
QbbHelper::SetNetworkAttribute(const std::string& name, const AttributeValue& value)
{
    CheckOwnSettings(name);
    m_network->SetAttribute(name, value);
}

void
QbbHelper::SetHostAttribute(const std::string& name, const AttributeValue& value)
{
    CheckOwnSettings(name);
    m_hosts.Note(name, m_isStarted);
    m_hostFactory.Set(name, value);
}

void
QbbHelper::SetSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    CheckOwnSettings(name);
    m_switches.Note(name, m_isStarted);
    m_switchFactory.Set(name, value);
}

void
QbbHelper::SetFastCnpHostAttribute(const std::string& name, const AttributeValue& value)
{
    CheckOwnSettings(name);
    m_hosts.Note(name, m_isStarted);
    m_fastCnpHostFactory.Set(name, value);
}

void
QbbHelper::SetFastCnpSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    CheckOwnSettings(name);
    m_switches.Note(name, m_isStarted);
    m_fastCnpSwitchFactory.Set(name, value);
}

void
QbbHelper::SetFastCnpBorder(const NodeReference& node, const NodeReference& outside)
{
    NS_ABORT_MSG_IF(m_isStarted, "the borders of Fast CNP are in use: set borders before Start()");
    const Ptr<QbbNode> border = GetNode(node);
    const Ptr<QbbNode> other = GetNode(outside);
    NS_ABORT_MSG_UNLESS(border->IsSwitch(),
                        border->Describe() << " is no switch, and cannot be a border");
    NS_ABORT_MSG_IF(m_network->Look().links_between(border->GetIndex(), other->GetIndex()).empty(),
                    "there is no link from " << border->Describe() << " to " << other->Describe());
    m_borders.emplace_back(border->GetIndex(), other->GetIndex());
}

void
QbbHelper::SetDeviceAttribute(const std::string& name, const AttributeValue& value)
{
    NS_ABORT_MSG_IF(name == "DataRate", "the rate of devices is that which Link() is told");
    m_devices.Note(name, m_isStarted);
    m_deviceFactory.Set(name, value);
}

void
QbbHelper::SetWireProfile(const std::string& profile)
{
    SetNetworkAttribute("WireProfile", StringValue(profile));
}

void
QbbHelper::SetTelemetry(const std::string& layout)
{
    SetNetworkAttribute("TelemetryLayout", StringValue(layout));
}

void
QbbHelper::SetReferenceFaults(const std::string& names)
{
    SetNetworkAttribute("ReferenceFaults", StringValue(names));
}

void
QbbHelper::InstallHosts(const NodeContainer& nodes)
{
    Install(nodes, m_hostFactory);
}

void
QbbHelper::InstallHosts(const std::string& name)
{
    InstallHosts(NodeReference(name).GetNode());
}

void
QbbHelper::InstallSwitches(const NodeContainer& nodes)
{
    Install(nodes, m_switchFactory);
}

void
QbbHelper::InstallSwitches(const std::string& name)
{
    InstallSwitches(NodeReference(name).GetNode());
}

void
QbbHelper::Install(const NodeContainer& nodes, const ObjectFactory& factory)
{
    NS_ABORT_MSG_IF(m_isStarted,
                    "nodes cannot be installed after Start(), which computes the routes");
    PrototypeFactory parts(factory);
    PrototypeFactory switchAgents(m_fastCnpSwitchFactory);
    PrototypeFactory hostAgents(m_fastCnpHostFactory);
    for (auto it = nodes.Begin(); it != nodes.End(); ++it)
    {
        NS_ABORT_MSG_IF((*it)->GetObject<QbbNode>(),
                        "node " << (*it)->GetId() << " is installed already");
        Ptr<QbbNode> node = DynamicCast<QbbNode>(parts.Create());
        (node->IsSwitch() ? m_switches : m_hosts).NoteUse();
        (*it)->AggregateObject(node);
        node->AggregateObject((node->IsSwitch() ? switchAgents : hostAgents).Create());
        if (m_settings)
        {
            GiveSettings(*node);
        }
        node->SetIndex(m_network->Look().add_node(node->IsSwitch()));
        m_nodes.push_back(node);
    }
}

NetDeviceContainer
QbbHelper::Link(const NodeReference& a, const NodeReference& b, DataRate rate, Time delay)
{
    const std::array<Ptr<QbbNode>, 2> owners{GetNode(a), GetNode(b)};
    NS_ABORT_MSG_IF(m_isStarted, "nodes cannot be linked after Start(), which computes the routes");
    NS_ABORT_MSG_IF(rate.GetBitRate() == 0, "a link needs a data rate above 0 b/s");
    NS_ABORT_MSG_IF(delay.IsStrictlyNegative(),
                    "the delay of a link is " << delay.As(Time::NS) << "; expected at least 0 ns");
    NetDeviceContainer devices = Connect(*owners[0], *owners[1], rate, delay);
    const bool added = m_network->Look().add_link({owners[0]->GetIndex(),
                                                   owners[1]->GetIndex(),
                                                   rate.GetBitRate(),
                                                   static_cast<uint64_t>(delay.GetNanoSeconds())});
    NS_ABORT_MSG_UNLESS(added,
                        owners[0]->Describe() << " cannot be linked to " << owners[1]->Describe());
    return devices;
}

NetDeviceContainer
QbbHelper::Connect(QbbNode& a, QbbNode& b, DataRate rate, Time delay)
{
    NetDeviceContainer devices;
    PrototypeFactory ends(m_deviceFactory);
    for (QbbNode* owner : {&a, &b})
    {
        const auto device = StaticCast<QbbNetDevice>(ends.Create());
        device->SetDataRate(rate);
        owner->GetObject<Node>()->AddDevice(device);
        owner->AddPort(device);
        devices.Add(device);
        m_devices.NoteUse();
    }
    const auto channel = CreateObject<QbbChannel>();
    channel->SetDelay(delay);
    channel->Connect(DynamicCast<QbbNetDevice>(devices.Get(0)),
                     DynamicCast<QbbNetDevice>(devices.Get(1)));
    m_links.push_back(channel);
    return devices;
}

NetDeviceContainer
QbbHelper::LinkAll(const NodeContainer& nodes,
                   const NodeReference& center,
                   DataRate rate,
                   Time delay)
{
    NetDeviceContainer devices;
    for (auto node = nodes.Begin(); node != nodes.End(); ++node)
    {
        devices.Add(Link(*node, center, rate, delay));
    }
    return devices;
}

void
QbbHelper::SetLoss(const NetDeviceContainer& devices, double probability, uint64_t stream)
{
    NS_ABORT_MSG_UNLESS(probability >= 0 && probability <= 1,
                        "a frame cannot be lost with the probability " << probability
                                                                       << "; expected 0 to 1");
    const RngStreams rng = GetRngStreams();
    Losses losses{{}, rng.seed, stream + rng.offset, probability};
    for (auto it = devices.Begin(); it != devices.End(); ++it)
    {
        const auto device = DynamicCast<QbbNetDevice>(*it);
        NS_ABORT_MSG_UNLESS(device, "frames are lost at devices of the type QbbNetDevice only");
        losses.ports.push_back(device->GetOwner().GetIndex());
        losses.ports.push_back(device->GetPortNumber());
    }
    if (m_isStarted)
    {
        m_network->Look().lose({losses.ports.data(), losses.ports.size()},
                               losses.seed,
                               losses.stream,
                               probability);
    }
    else
    {
        m_losses.push_back(std::move(losses));
    }
}

void
QbbHelper::UseStreamsAlone()
{
    CheckNotRandomYet();
    m_usesStreamsAlone = true;
}

QbbHelper::RngStreams
QbbHelper::GetRngStreams() const
{
    if (m_usesStreamsAlone)
    {
        return {};
    }
    const uint32_t seed = RngSeedManager::GetSeed();
    const uint64_t run = RngSeedManager::GetRun();
    // Odd, so that no two seeds have the same sequence of C's rand().
    constexpr uint32_t PINT_SEEDS_PER_SEED = 0x85ebca6b;
    return {seed,
            hpcc::streams_before(run),
            static_cast<uint32_t>(run - 1) + (seed - 1) * PINT_SEEDS_PER_SEED};
}

int64_t
QbbHelper::AssignStreams(int64_t stream)
{
    NS_ABORT_MSG_IF(stream < 0, "the stream is " << stream << "; expected 0 or more");
    SetEcnStream(static_cast<uint64_t>(stream));
    constexpr int64_t USED = 1;
    return USED;
}

void
QbbHelper::SetEcnStream(uint64_t stream)
{
    CheckNotRandomYet();
    m_ecnStream = stream;
}

void
QbbHelper::CheckNotRandomYet() const
{
    NS_ABORT_MSG_IF(m_isStarted, "random streams are in use: choose them before Start()");
}

void
QbbHelper::SetPintSeed(uint32_t seed)
{
    CheckNotRandomYet();
    m_pintSeed = seed;
}

void
QbbHelper::SetEcnThreshold(DataRate rate, uint64_t kmin, uint64_t kmax, double pmax) const
{
    CheckOwnSettings("EcnThreshold");
    const bool hasSwitch = std::any_of(m_nodes.begin(),
                                       m_nodes.end(),
                                       [](const Ptr<QbbNode>& node) { return node->IsSwitch(); });
    NS_ABORT_MSG_UNLESS(
        hasSwitch,
        "there is no switch yet to have ECN thresholds: set them after InstallSwitches(), for "
        "those switches");
    for (const auto& node : m_nodes)
    {
        if (const auto aSwitch = DynamicCast<QbbSwitch>(node))
        {
            aSwitch->SetEcnThreshold(rate, kmin, kmax, pmax);
        }
    }
}

Ptr<RdmaHost>
QbbHelper::GetHost(const NodeReference& node) const
{
    const Ptr<QbbNode> found = GetNode(node);
    const auto host = DynamicCast<RdmaHost>(found);
    NS_ABORT_MSG_UNLESS(host, found->Describe() << " is no RdmaHost");
    return host;
}

Ptr<QbbNode>
QbbHelper::GetNode(const NodeReference& reference) const
{
    const Ptr<Node> node = reference.GetNode();
    if (!node)
    {
        NS_ABORT_MSG_UNLESS(reference.GetIndex() < m_nodes.size(),
                            "there is no node " << reference.GetIndex()
                                                << " in this network, which has "
                                                << m_nodes.size());
        return m_nodes[reference.GetIndex()];
    }
    const auto owner = node->GetObject<QbbNode>();
    // An RDMA host may have a part besides for the packets of its stack, of the same index.
    NS_ABORT_MSG_UNLESS(owner && owner->GetIndex() < m_nodes.size() &&
                            m_nodes[owner->GetIndex()]->GetObject<Node>() == node,
                        "node " << node->GetId() << " is neither host nor switch of this network");
    return m_nodes[owner->GetIndex()];
}

uint64_t
QbbHelper::PrintUnfinished(std::ostream& os) const
{
    CheckRunning();
    uint64_t count = 0;
    for (const auto& node : m_nodes)
    {
        const auto host = DynamicCast<RdmaHost>(node);
        if (!host)
        {
            continue;
        }
        host->VisitFlows([&](const RdmaFlow& flow, uint32_t) {
            os << "unfinished: flow of " << flow.size << " bytes from host " << flow.src << ':'
               << flow.sport << " to host " << flow.dst << ':' << flow.dport << ", begun at "
               << flow.start.As(Time::NS)
               << (host->CanReach(*GetHost(flow.dst)) ? "\n" : ", cut off by failed links\n");
            ++count;
        });
    }
    return count;
}

void
QbbHelper::CheckRunning() const
{
    NS_ABORT_MSG_UNLESS(m_isStarted,
                        "the network has not been started: call QbbHelper::Start() first");
}

const hpcc::Network&
QbbHelper::GetCore() const
{
    return m_network->Look();
}

bool
QbbHelper::IsStarted() const
{
    return m_isStarted;
}

uint32_t
QbbHelper::GetNNodes() const
{
    return static_cast<uint32_t>(m_nodes.size());
}

Time
QbbHelper::GetStandaloneFct(const NodeReference& src, const NodeReference& dst, uint64_t size) const
{
    const Ptr<QbbNode> source = GetNode(src);
    const uint32_t destination = GetNode(dst)->GetIndex();
    CheckRunning();
    return NanoSeconds(CallRust([&] {
        return m_network->Look().standalone_fct_ns(
            {source->GetIndex(), destination, size, false, 0, 0},
            source->GetSettings());
    }));
}

Time
QbbHelper::GetStandaloneFct(const RdmaFlow& flow) const
{
    const Ptr<QbbNode> source = GetNode(flow.src);
    CheckRunning();
    return NanoSeconds(CallRust([&] {
        return m_network->Look().standalone_fct_ns(
            {flow.src, flow.dst, flow.size, true, flow.sport, flow.dport},
            source->GetSettings());
    }));
}

Time
QbbHelper::GetMaxRtt() const
{
    return NanoSeconds(m_network->Look().max_rtt_ns());
}

uint64_t
QbbHelper::GetMaxBdp() const
{
    return m_network->Look().max_bdp_bytes();
}

uint64_t
QbbHelper::GetTxFrames() const
{
    CheckRunning();
    return m_network->Look().packet_hops();
}

} // namespace ns3
