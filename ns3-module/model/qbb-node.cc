/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-node.h"

#include "call-rust.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/random.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "qbb-net-device.h"
#include "setting-attributes.h"
#include "shared-network.h"

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
    static TypeId tid = AddSettings(TypeId("ns3::QbbNode").SetParent<Object>().SetGroupName("Hpcc"),
                                    hpcc::node_settings());
    return tid;
}

QbbNode::QbbNode()
    : m_pool(std::make_shared<QbbFramePool>())
{
    NS_LOG_FUNCTION(this);
}

QbbNode::QbbNode(const QbbNode& other)
    : Object(other),
      SettingsOwner(other),
      m_pool(std::make_shared<QbbFramePool>())
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
    m_rng.reset();
    m_shared = nullptr;
    Object::DoDispose();
}

void
QbbNode::AddPort(Ptr<QbbNetDevice> device)
{
    NS_LOG_FUNCTION(this << device);
    device->SetPort(*this, static_cast<uint16_t>(m_ports.size()));
    m_ports.push_back(device);
    m_pfcBytes = GetSettings().pfc_bytes();
}

void
QbbNode::ReadSettings()
{
    NS_LOG_FUNCTION(this);
    m_pfcBytes = GetSettings().pfc_bytes();
    for (const auto& port : m_ports)
    {
        if (port)
        {
            port->ReadSettings();
        }
    }
}

void
QbbNode::PrepareSettings()
{
}

void
QbbNode::AddAbsentPort()
{
    NS_LOG_FUNCTION(this);
    m_ports.push_back(nullptr);
}

void
QbbNode::SetShared(SharedNetwork* shared)
{
    m_shared = shared;
    for (const auto& port : m_ports)
    {
        if (port)
        {
            port->SetShared(shared);
        }
    }
}

bool
QbbNode::IsLocal() const
{
    return !m_shared || m_shared->IsLocal(m_index);
}

void
QbbNode::SetFramePool(std::shared_ptr<QbbFramePool> pool)
{
    m_pool = std::move(pool);
}

QbbFrame*
QbbNode::NewFrame()
{
    QbbFrame* frame = m_pool->Acquire();
    frame->priority = 0;
    frame->congestionMarked = false;
    frame->hopLimit = QbbFrame::INITIAL_HOP_LIMIT;
    frame->ingress = 0;
    frame->telemetryBytes = 0;
    frame->payload = 0;
    frame->mtu = GetMtu();
    frame->earlierPackets = 0;
    frame->seq = 0;
    frame->flowBytes = 0;
    frame->replyQueuePair = 0;
    frame->earlierWrites = 0;
    return frame;
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
QbbNode::SetRng(std::shared_ptr<hpcc::Rng> rng)
{
    NS_LOG_FUNCTION(this);
    m_rng = std::move(rng);
}

void
QbbNode::FetchArrival(unsigned, const QbbNetDevice&, const QbbFrame&) const
{
}

void
QbbNode::FetchDeparture(unsigned, const QbbNetDevice&) const
{
}

bool
QbbNode::AwaitsEnd(const QbbNetDevice&, uint64_t)
{
    return false;
}

void
QbbNode::OnLinkUp(QbbNetDevice& port)
{
    NS_LOG_FUNCTION(this << &port);
    port.TrySend();
}

void
QbbNode::OnPause(QbbNetDevice& port)
{
    NS_LOG_FUNCTION(this << &port);
}

bool
QbbNode::SendPacket(QbbNetDevice&, Ptr<Packet> packet, uint16_t protocol)
{
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
QbbNode::ResolveSettings(const hpcc::Network& network)
{
    CallRust([&] { hpcc::resolve(GetSettings(), network); });
}

void
QbbNode::EnsureRng()
{
    if (!m_rng)
    {
        m_rng = FromRust(hpcc::new_rng(1, m_index, m_index + 1));
    }
}

QbbFrame*
QbbNode::MakePfc(const QbbNetDevice& port, uint8_t priority, bool pause)
{
    NS_LOG_FUNCTION(this << &port << +priority << pause);
    QbbFrame* frame = m_pool->Acquire();
    frame->kind = QbbFrame::Kind::PFC;
    frame->priority = priority;
    frame->pause = pause;
    frame->congestionMarked = false;
    frame->telemetryBytes = 0;
    frame->payload = 0;
    frame->seq = port.GetQueuedBytes(priority);
    frame->size = m_pfcBytes;
    return frame;
}

void
QbbNode::SendPfc(QbbNetDevice& port, uint8_t priority, bool pause)
{
    port.Enqueue(MakePfc(port, priority, pause), 0);
    port.TrySend();
}

} // namespace ns3
