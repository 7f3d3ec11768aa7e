/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-helper.h"

#include "../model/call-core.h"
#include "ns3-bridge/src/fast_cnp.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/random.rs.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/node.h"
#include "ns3/qbb-channel.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/string.h"

#include <algorithm>
#include <utility>

namespace ns3
{

QbbHelper::QbbHelper()
    : m_network(hpcc::new_network().into_raw(), CoreDelete<hpcc::Network>())
{
    m_hostFactory.SetTypeId(RdmaHost::GetTypeId());
    m_switchFactory.SetTypeId(QbbSwitch::GetTypeId());
    m_fastCnpHostFactory.SetTypeId(FastCnpHost::GetTypeId());
    m_fastCnpSwitchFactory.SetTypeId(FastCnpSwitch::GetTypeId());
    m_deviceFactory.SetTypeId(QbbNetDevice::GetTypeId());
    m_channelFactory.SetTypeId(QbbChannel::GetTypeId());
}

void
QbbHelper::SetHostAttribute(const std::string& name, const AttributeValue& value)
{
    m_hostFactory.Set(name, value);
}

void
QbbHelper::SetSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    m_switchFactory.Set(name, value);
}

void
QbbHelper::SetFastCnpHostAttribute(const std::string& name, const AttributeValue& value)
{
    m_fastCnpHostFactory.Set(name, value);
}

void
QbbHelper::SetFastCnpSwitchAttribute(const std::string& name, const AttributeValue& value)
{
    m_fastCnpSwitchFactory.Set(name, value);
}

void
QbbHelper::SetFastCnpBorder(uint32_t node, uint32_t outside) const
{
    const Ptr<QbbNode> border = GetNode(node);
    const auto agent = border->GetObject<FastCnpSwitch>();
    NS_ABORT_MSG_UNLESS(agent, "node " << node << " is no switch, and cannot be a border");
    bool found = false;
    for (uint32_t port = 0; port < border->GetNPorts(); ++port)
    {
        if (border->GetPort(port)->GetPeer().GetOwner().GetIndex() == outside)
        {
            agent->SetBorder(static_cast<uint16_t>(port));
            found = true;
        }
    }
    NS_ABORT_MSG_UNLESS(found, "there is no link from node " << node << " to node " << outside);
}

void
QbbHelper::SetDeviceAttribute(const std::string& name, const AttributeValue& value)
{
    m_deviceFactory.Set(name, value);
}

void
QbbHelper::SetWireProfile(const std::string& profile)
{
    m_hostFactory.Set("WireProfile", StringValue(profile));
    m_switchFactory.Set("WireProfile", StringValue(profile));
}

void
QbbHelper::SetTelemetry(const std::string& layout)
{
    m_hostFactory.Set("TelemetryLayout", StringValue(layout));
    m_switchFactory.Set("TelemetryLayout", StringValue(layout));
}

void
QbbHelper::SetReferenceFaults(const std::string& names)
{
    m_hostFactory.Set("ReferenceFaults", StringValue(names));
    m_switchFactory.Set("ReferenceFaults", StringValue(names));
}

void
QbbHelper::InstallHosts(const NodeContainer& nodes)
{
    Install(nodes, m_hostFactory);
}

void
QbbHelper::InstallSwitches(const NodeContainer& nodes)
{
    Install(nodes, m_switchFactory);
}

void
QbbHelper::Install(const NodeContainer& nodes, const ObjectFactory& factory)
{
    for (auto it = nodes.Begin(); it != nodes.End(); ++it)
    {
        NS_ABORT_MSG_IF((*it)->GetObject<QbbNode>(), "node " << (*it)->GetId() << " is installed already");
        Ptr<QbbNode> node = factory.Create<QbbNode>();
        (*it)->AggregateObject(node);
        node->AggregateObject((node->IsSwitch() ? m_fastCnpSwitchFactory : m_fastCnpHostFactory).Create<Object>());
        node->SetIndex(m_network->add_node(node->IsSwitch()));
        m_nodes.push_back(node);
    }
}

NetDeviceContainer
QbbHelper::Link(Ptr<Node> a, Ptr<Node> b, DataRate rate, Time delay)
{
    m_deviceFactory.Set("DataRate", DataRateValue(rate));
    m_channelFactory.Set("Delay", TimeValue(delay));
    NetDeviceContainer devices;
    for (const auto& node : {a, b})
    {
        Ptr<QbbNode> owner = node->GetObject<QbbNode>();
        NS_ABORT_MSG_UNLESS(owner, "node " << node->GetId() << " is neither host nor switch");
        Ptr<QbbNetDevice> device = m_deviceFactory.Create<QbbNetDevice>();
        node->AddDevice(device);
        owner->AddPort(device);
        devices.Add(device);
    }
    Ptr<QbbChannel> channel = m_channelFactory.Create<QbbChannel>();
    channel->Connect(DynamicCast<QbbNetDevice>(devices.Get(0)), DynamicCast<QbbNetDevice>(devices.Get(1)));
    const hpcc::LinkSpec link{a->GetObject<QbbNode>()->GetIndex(),
                              b->GetObject<QbbNode>()->GetIndex(),
                              rate.GetBitRate(),
                              static_cast<uint64_t>(delay.GetNanoSeconds())};
    const bool added = m_network->add_link(link);
    NS_ABORT_MSG_UNLESS(added, "node " << a->GetId() << " cannot be linked to node " << b->GetId());
    return devices;
}

void
QbbHelper::SetLoss(const NetDeviceContainer& devices, double probability, uint64_t stream) const
{
    const std::shared_ptr<hpcc::Loss> loss(hpcc::new_loss(stream, probability).into_raw(),
                                           CoreDelete<hpcc::Loss>());
    for (auto it = devices.Begin(); it != devices.End(); ++it)
    {
        DynamicCast<QbbNetDevice>(*it)->SetLoss(loss);
    }
}

void
QbbHelper::SetEcnStream(uint64_t stream)
{
    m_ecnStream = stream;
}

void
QbbHelper::SetPintSeed(uint32_t seed)
{
    m_pintSeed = seed;
}

void
QbbHelper::SetEcnThreshold(DataRate rate, uint64_t kmin, uint64_t kmax, double pmax) const
{
    for (const auto& node : m_nodes)
    {
        if (const auto aSwitch = DynamicCast<QbbSwitch>(node))
        {
            aSwitch->SetEcnThreshold(rate, kmin, kmax, pmax);
        }
    }
}

void
QbbHelper::Start()
{
    NS_ABORT_MSG_IF(Time::GetResolution() != Time::NS, "the module counts in nanoseconds");
    if (m_nodes.empty())
    {
        return;
    }
    uint32_t mtu = 0;
    for (const auto& node : m_nodes)
    {
        mtu = std::max(mtu, node->GetMtu());
    }
    const bool usesFastCnp = std::any_of(m_nodes.begin(), m_nodes.end(), [](const Ptr<QbbNode>& node) {
        const auto agent = node->GetObject<FastCnpSwitch>();
        return agent && agent->IsEnabled();
    });
    if (usesFastCnp)
    {
        m_network->route_to_switches();
    }
    AgreeOnSettings();
    m_network->compute_routes(mtu);
    for (const auto& node : m_nodes)
    {
        if (!node->IsSwitch())
        {
            CallCore([&] { m_network->check_counters(node->GetSettings()); });
        }
    }
    // The reference simulator has used six streams for each node, and two others, before the first draw.
    const uint64_t stream = m_ecnStream ? m_ecnStream : 6 * m_nodes.size() + 2;
    const std::shared_ptr<hpcc::Rng> shared(hpcc::new_rng(stream, m_pintSeed).into_raw(),
                                              CoreDelete<hpcc::Rng>());
    const hpcc::Settings& settings = m_nodes.front()->GetSettings();
    uint32_t room = usesFastCnp ? hpcc::fast_cnp_room(settings) : 0;
    for (const auto& node : m_nodes)
    {
        room = std::max(room, node->GetSettings().telemetry_room());
    }
    const auto pool = std::make_shared<QbbFramePool>(room);
    for (const auto& node : m_nodes)
    {
        node->SetFramePool(pool);
        const std::shared_ptr<hpcc::Rng> own(
            hpcc::new_node_rng(stream, m_pintSeed, node->GetIndex()).into_raw(),
            CoreDelete<hpcc::Rng>());
        node->SetRng(node->GetSettings().shares_rng() ? shared : own);
        node->Start(m_network);
    }
}

void
QbbHelper::AgreeOnSettings() const
{
    Ptr<QbbNode> host;
    Ptr<QbbNode> aSwitch;
    for (const auto& node : m_nodes)
    {
        Ptr<QbbNode>& first = node->IsSwitch() ? aSwitch : host;
        first = first ? first : node;
    }
    for (const auto& node : m_nodes)
    {
        if (node->IsSwitch() && host)
        {
            node->GetSettings().follow_hosts(host->GetSettings());
        }
        else if (!node->IsSwitch() && aSwitch)
        {
            node->GetSettings().follow_switches(aSwitch->GetSettings());
        }
    }
    for (const auto& node : m_nodes)
    {
        CallCore([&] { hpcc::resolve(node->GetSettings(), *m_network); });
        if (!node->IsSwitch())
        {
            CallCore([&] { m_network->measure_by(node->GetSettings()); });
        }
    }
}

void
QbbHelper::TakeLinkDown(uint32_t a, uint32_t b) const
{
    const bool wasUp = m_network->take_down(a, b);
    if (!wasUp)
    {
        return;
    }
    for (const auto& [here, there] : {std::pair(a, b), std::pair(b, a)})
    {
        const Ptr<QbbNode> node = GetNode(here);
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            QbbNetDevice& device = *node->GetPort(port);
            if (device.GetPeer().GetOwner().GetIndex() == there)
            {
                device.TakeDown();
                node->OnLinkDown(device);
            }
        }
    }
    // All routes first: a host that sends at once must find switches that know the way. Hosts in order.
    for (const bool switches : {true, false})
    {
        for (const auto& node : m_nodes)
        {
            if (node->IsSwitch() == switches)
            {
                node->OnNewRoutes();
            }
        }
    }
}

Ptr<RdmaHost>
QbbHelper::GetHost(uint32_t index) const
{
    return DynamicCast<RdmaHost>(m_nodes.at(index));
}

Ptr<QbbNode>
QbbHelper::GetNode(uint32_t index) const
{
    return m_nodes.at(index);
}

const hpcc::Network&
QbbHelper::GetCore() const
{
    return *m_network;
}

uint32_t
QbbHelper::GetNNodes() const
{
    return static_cast<uint32_t>(m_nodes.size());
}

Time
QbbHelper::GetStandaloneFct(uint32_t src, uint32_t dst, uint64_t size) const
{
    const hpcc::Settings& settings = m_nodes.at(src)->GetSettings();
    return NanoSeconds(CallCore([&] { return m_network->standalone_fct_ns(src, dst, size, settings); }));
}

Time
QbbHelper::GetMaxRtt() const
{
    return NanoSeconds(m_network->max_rtt_ns());
}

uint64_t
QbbHelper::GetMaxBdp() const
{
    return m_network->max_bdp_bytes();
}

uint64_t
QbbHelper::GetTxFrames() const
{
    uint64_t frames = 0;
    for (const auto& node : m_nodes)
    {
        for (uint32_t port = 0; port < node->GetNPorts(); ++port)
        {
            frames += node->GetPort(port)->GetTxFrames();
        }
    }
    return frames;
}

void
QbbHelper::EnablePcapInternal(std::string prefix, Ptr<NetDevice> device, bool, bool explicitFilename)
{
    if (!DynamicCast<QbbNetDevice>(device))
    {
        return;
    }
    PcapHelper pcap;
    const std::string name = explicitFilename ? prefix : pcap.GetFilenameFromDevice(prefix, device);
    // Not PcapHelper::CreateFile(), whose time stamps are microseconds.
    const auto file = CreateObject<PcapFileWrapper>();
    file->SetAttribute("NanosecMode", BooleanValue(true));
    file->Open(name, std::ios::out);
    NS_ABORT_MSG_IF(file->Fail(), "cannot write " << name);
    file->Init(PcapHelper::DLT_EN10MB);
    pcap.HookDefaultSink(DynamicCast<QbbNetDevice>(device), "PromiscSniffer", file);
}

} // namespace ns3
