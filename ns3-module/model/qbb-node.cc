/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-node.h"

#include "controller-call.h"
#include "engine-network.h"
#include "fast-cnp-host.h"
#include "fast-cnp-switch.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/notices.rs.h"
#include "qbb-net-device.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/nstime.h"

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("QbbNode");

NS_OBJECT_ENSURE_REGISTERED(QbbNode);

TypeId
QbbNode::GetTypeId()
{
    static TypeId tid = TypeId("ns3::QbbNode").SetParent<Object>().SetGroupName("Hpcc");
    return tid;
}

QbbNode::QbbNode()
{
    NS_LOG_FUNCTION(this);
}

QbbNode::QbbNode(const QbbNode& other)
    : Object(other),
      SettingsOwner(other)
{
    NS_LOG_FUNCTION(this << &other);
}

QbbNode::~QbbNode()
{
    NS_LOG_FUNCTION(this);
}

void
QbbNode::DoDispose()
{
    NS_LOG_FUNCTION(this);
    m_ports.clear();
    m_stack = nullptr;
    if (m_network)
    {
        m_network->Forget(m_index);
        m_network = nullptr;
    }
    Object::DoDispose();
}

void
QbbNode::AddPort(Ptr<QbbNetDevice> device)
{
    NS_LOG_FUNCTION(this << device);
    if (m_stack)
    {
        m_stack->AddPort(device);
    }
    device->SetPort(*this, static_cast<uint16_t>(m_ports.size()));
    m_ports.push_back(device);
}

void
QbbNode::SetStack(QbbNode& stack)
{
    NS_LOG_FUNCTION(this << &stack);
    stack.SetIndex(m_index);
    m_stack = &stack;
    for (const auto& device : std::exchange(m_ports, {}))
    {
        AddPort(device);
    }
}

void
QbbNode::PrepareSettings()
{
}

std::vector<SettingsOwner*>
QbbNode::GetOwners()
{
    std::vector<SettingsOwner*> owners{this};
    if (const auto agent = GetObject<FastCnpSwitch>())
    {
        owners.push_back(PeekPointer(agent));
    }
    if (const auto agent = GetObject<FastCnpHost>())
    {
        owners.push_back(PeekPointer(agent));
    }
    return owners;
}

void
QbbNode::CheckResolution()
{
    NS_ABORT_MSG_IF(Time::GetResolution() != Time::NS,
                    "the module counts in nanoseconds, and Time::SetResolution() has chosen "
                    "another unit; leave it out");
}

uint32_t
QbbNode::GetNPorts() const
{
    return static_cast<uint32_t>(m_ports.size());
}

void
QbbNode::CheckPort(uint32_t port) const
{
    NS_ABORT_MSG_UNLESS(port < m_ports.size(),
                        "node " << m_index << " has no port " << port << "; it has "
                                << m_ports.size());
}

Ptr<QbbNetDevice>
QbbNode::GetPort(uint32_t port) const
{
    CheckPort(port);
    return m_ports[port];
}

void
QbbNode::SetIndex(uint32_t index)
{
    m_index = index;
}

uint32_t
QbbNode::GetIndex() const
{
    return m_index;
}

std::string
QbbNode::Describe() const
{
    return (IsSwitch() ? "switch " : "host ") + std::to_string(m_index);
}

void
QbbNode::Start(Ptr<EngineNetwork> network)
{
    NS_LOG_FUNCTION(this);
    m_network = network;
    if (m_watchesEvents || IsLogged())
    {
        network->Look().watch_node(m_index);
    }
    for (const auto& port : m_ports)
    {
        port->Start();
    }
    if (m_stack)
    {
        m_stack->Start(network);
    }
}

EngineNetwork&
QbbNode::GetNetwork() const
{
    NS_ABORT_MSG_UNLESS(
        m_network,
        Describe() << " is not part of a running network: call QbbHelper::Start() first, and "
                   << "nothing after Simulator::Destroy() or Dispose()");
    NS_ABORT_MSG_IF(ControllerCall::IsUnderWay(),
                    Describe() << " cannot be called from inside a call of a congestion control "
                               << "or load balancer: schedule what is to be done, by "
                               << "Simulator::ScheduleNow()");
    return *m_network;
}

EngineNetwork*
QbbNode::PeekNetwork() const
{
    return PeekPointer(m_network);
}

bool
QbbNode::IsLogged() const
{
    return false;
}

void
QbbNode::WatchEvents()
{
    m_watchesEvents = true;
    if (m_network)
    {
        GetNetwork().Look().watch_node(m_index);
    }
}

void
QbbNode::OnNotice(const hpcc::Notice& notice, QbbFrame& frame)
{
    if (m_stack)
    {
        m_stack->OnNotice(notice, frame);
        return;
    }
    switch (notice.kind)
    {
    case hpcc::NoticeKind::Pause:
    case hpcc::NoticeKind::Departure:
    case hpcc::NoticeKind::Arrival:
    case hpcc::NoticeKind::Enqueue:
    case hpcc::NoticeKind::Dequeue:
    case hpcc::NoticeKind::LinkDrop:
    case hpcc::NoticeKind::Lost:
        m_ports[notice.port]->OnNotice(notice, frame);
        break;
    case hpcc::NoticeKind::Notified:
    case hpcc::NoticeKind::Withheld:
    case hpcc::NoticeKind::Learnt:
    case hpcc::NoticeKind::Stopped:
        if (const auto agent = GetObject<FastCnpSwitch>())
        {
            agent->OnNotice(notice, frame);
        }
        break;
    case hpcc::NoticeKind::Accepted:
    case hpcc::NoticeKind::Refused:
    case hpcc::NoticeKind::Migrated:
        if (const auto agent = GetObject<FastCnpHost>())
        {
            agent->OnNotice(notice, frame);
        }
        break;
    case hpcc::NoticeKind::Drop:
    case hpcc::NoticeKind::Control:
    case hpcc::NoticeKind::Rtt:
    case hpcc::NoticeKind::Resend:
    case hpcc::NoticeKind::Timeout:
    case hpcc::NoticeKind::Marked:
    case hpcc::NoticeKind::Cnp:
    case hpcc::NoticeKind::Packet:
        break;
    }
}

bool
QbbNode::SendPacket(QbbNetDevice& out, Ptr<Packet> packet, uint16_t protocol)
{
    if (m_stack)
    {
        return m_stack->SendPacket(out, packet, protocol);
    }
    NS_LOG_WARN("no packets of an ns-3 stack are carried here: "
                << packet->GetSize() << " bytes of protocol " << protocol << " not sent");
    return false;
}

uint32_t
QbbNode::GetMtu() const
{
    return 0;
}

void
QbbNode::SendPfc(const QbbNetDevice& port, uint8_t priority, bool pause)
{
    EngineNetwork& network = GetNetwork();
    network.Enter().pause(m_index, port.GetPortNumber(), priority, pause);
    network.Settle();
}

} // namespace ns3
