/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "qbb-node.h"

#include "core-parameters.h"
#include "qbb-net-device.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("QbbNode");

NS_OBJECT_ENSURE_REGISTERED(QbbNode);

TypeId
QbbNode::GetTypeId()
{
    static TypeId tid = 
        TypeId("ns3::QbbNode")
            .SetParent<Object>()
            .SetGroupName("Hpcc")
            .AddAttribute("ReferenceFaults",
                          "Faults of the reference simulator to repeat: none, all, or names with commas between them "
                          "(doc/reference-faults.md); the same at all nodes of a network",
                          StringValue("none"),
                          MakeStringAccessor(&QbbNode::SetReferenceFaults),
                          MakeStringChecker())
            .AddAttribute("WireProfile",
                          "Headers of every frame: reference (the reference simulator's private ones), rocev2_ipv4 or "
                          "rocev2_ipv6; the same at all nodes of a network",
                          StringValue("reference"),
                          MakeStringAccessor(&QbbNode::m_wireProfile),
                          MakeStringChecker())
            .AddAttribute("TelemetryLayout",
                          "Layout of in-band telemetry: none, reference, paper, draft, int_md, ifa, ioam, "
                          "ioam_slim (hpcc reads these seven), timestamp (timely) or pint (hpcc_pint); the same at all nodes of a network",
                          StringValue("reference"),
                          MakeStringAccessor(&QbbNode::m_layout),
                          MakeStringChecker())
            .AddAttribute("TelemetryMultiplier",
                          "Factor of the reference layout's units; the same at all nodes of a network",
                          UintegerValue(1),
                          MakeUintegerAccessor(&QbbNode::m_multiplier),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("TelemetryHops",
                          "Most hops that the layouts int_md, ifa, ioam (at most 8) and ioam_slim report; the same at all nodes of a network",
                          UintegerValue(15),
                          MakeUintegerAccessor(&QbbNode::m_hops),
                          MakeUintegerChecker<uint8_t>(1, 15))
            .AddAttribute("TelemetryLogBase",
                          "Base of the pint layout's codes; the same at all nodes of a network",
                          DoubleValue(1.05),
                          MakeDoubleAccessor(&QbbNode::m_logBase),
                          MakeDoubleChecker<double>(1.001, 2));
    return tid;
}

QbbNode::QbbNode()
    : m_pool(std::make_shared<QbbFramePool>())
{
    NS_LOG_FUNCTION(this);
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
    m_draws.reset();
    Object::DoDispose();
}

void
QbbNode::AddPort(Ptr<QbbNetDevice> device)
{
    NS_LOG_FUNCTION(this << device);
    device->SetPort(*this, static_cast<uint16_t>(m_ports.size()));
    m_ports.push_back(device);
    m_pfcBytes = hpcc::pfc_bytes(GetWire());
}

void
QbbNode::SetFramePool(std::shared_ptr<QbbFramePool> pool)
{
    m_pool = std::move(pool);
}

uint32_t
QbbNode::GetNPorts() const
{
    return static_cast<uint32_t>(m_ports.size());
}

Ptr<QbbNetDevice>
QbbNode::GetPort(uint32_t port) const
{
    return m_ports.at(port);
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

void
QbbNode::SetDraws(std::shared_ptr<hpcc::Draws> draws)
{
    NS_LOG_FUNCTION(this);
    m_draws = std::move(draws);
}

void
QbbNode::SetReferenceFaults(std::string names)
{
    NS_LOG_FUNCTION(this << names);
    MakeQuirks(names);
    m_referenceFaults = std::move(names);
}

hpcc::Quirks
QbbNode::GetQuirks() const
{
    return MakeQuirks(m_referenceFaults);
}

hpcc::WireParameters
QbbNode::GetWire() const
{
    hpcc::WireParameters wire{m_wireProfile, m_layout, m_multiplier, m_logBase, GetQuirks().wide_pint, m_hops};
    const std::string error(hpcc::wire_error(wire));
    NS_ABORT_MSG_UNLESS(error.empty(), error);
    return wire;
}

bool
QbbNode::SendPacket(QbbNetDevice&, Ptr<Packet> packet, uint16_t protocol)
{
    NS_LOG_WARN("no packets of an ns-3 stack are carried here: " << packet->GetSize() << " bytes of protocol "
                                                                 << protocol << " not sent");
    return false;
}

uint32_t
QbbNode::GetMtu() const
{
    return 0;
}

void
QbbNode::EnsureDraws()
{
    if (!m_draws)
    {
        m_draws = {hpcc::new_draws(m_index, m_index + 1).into_raw(), CoreDelete<hpcc::Draws>()};
    }
}

void
QbbNode::SendPfc(QbbNetDevice& port, uint8_t priority, bool pause)
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
    port.Enqueue(frame, 0);
    port.TrySend();
}

} // namespace ns3
