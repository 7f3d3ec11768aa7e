/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "datagram-client.h"

#include "../../model/call-rust.h"
#include "../../model/setting-attributes.h"
#include "core-time.h"
#include "ns3-bridge/src/probed.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "packet-host.h"

#include "ns3/abort.h"
#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("DatagramClient");

NS_OBJECT_ENSURE_REGISTERED(DatagramClient);

namespace
{

/// Sequence number of the first byte.
constexpr uint32_t FIRST = 0;
/// Most payload bytes of a datagram over IPv4.
constexpr uint32_t MOST_BYTES = 65507;

} // namespace

TypeId
DatagramClient::GetTypeId()
{
    static TypeId tid = AddSettings(
        TypeId("ns3::DatagramClient")
            .SetParent<Application>()
            .SetGroupName("Hpcc")
            .AddConstructor<DatagramClient>()
            .AddAttribute("Remote",
                          "Where the datagrams go: an InetSocketAddress or Inet6SocketAddress of a "
                          "host of the network",
                          AddressValue(),
                          MakeAddressAccessor(&DatagramClient::m_remote),
                          MakeAddressChecker())
            .AddAttribute("PacketSize",
                          "Payload bytes of a datagram",
                          UintegerValue(1452),
                          MakeUintegerAccessor(&DatagramClient::m_size),
                          MakeUintegerChecker<uint32_t>(1, MOST_BYTES))
            .AddAttribute("MaxBytes",
                          "Payload bytes to send in all; 0: until the application stops",
                          UintegerValue(0),
                          MakeUintegerAccessor(&DatagramClient::m_maxBytes),
                          MakeUintegerChecker<uint64_t>()),
        hpcc::parameters_of("hpcc_plus"));
    return tid;
}

DatagramClient::DatagramClient()
{
    NS_LOG_FUNCTION(this);
}

DatagramClient::~DatagramClient() = default;

uint16_t
DatagramClient::GetPort() const
{
    return m_port;
}

uint64_t
DatagramClient::GetSent() const
{
    return m_sent;
}

void
DatagramClient::DoDispose()
{
    StopApplication();
    m_host = nullptr;
    Application::DoDispose();
}

void
DatagramClient::StartApplication()
{
    NS_LOG_FUNCTION(this);
    if (!m_isStopped)
    {
        Start();
    }
}

void
DatagramClient::Start()
{
    m_host = GetNode()->GetObject<PacketHost>();
    NS_ABORT_MSG_UNLESS(m_host,
                        "node " << GetNode()->GetId()
                                << " is no PacketHost, which sends the probes");
    Bind();
    const ProbedPath path = m_host->GetPath(m_remote, m_port);
    const hpcc::ProbedFlowLimits limits{path.lineRate.GetBitRate(),
                                        static_cast<uint64_t>(path.baseRtt.GetNanoSeconds()),
                                        m_size,
                                        FIRST};
    m_core = FromRust(CallRust(
        [&] { return hpcc::new_probed_flow(GetSettings(), m_host->GetSettings(), limits); }));
    Freeze();
    m_sendProbe = m_host->AddDatagrams(m_remote, m_port, *this);
    Send();
}

void
DatagramClient::Bind()
{
    m_socket = Socket::CreateSocket(GetNode(), UdpSocketFactory::GetTypeId());
    Address own;
    if (Inet6SocketAddress::IsMatchingType(m_remote))
    {
        m_socket->Bind6();
        m_socket->GetSockName(own);
        m_port = Inet6SocketAddress::ConvertFrom(own).GetPort();
    }
    else
    {
        NS_ABORT_MSG_UNLESS(InetSocketAddress::IsMatchingType(m_remote),
                            "DatagramClient::Remote is no address of IPv4 or IPv6 with a port");
        m_socket->Bind();
        m_socket->GetSockName(own);
        m_port = InetSocketAddress::ConvertFrom(own).GetPort();
    }
    m_socket->Connect(m_remote);
}

void
DatagramClient::StopApplication()
{
    NS_LOG_FUNCTION(this);
    m_isStopped = true;
    m_sendTimer.Cancel();
    m_probeTimer.Cancel();
    if (m_socket)
    {
        m_host->RemoveDatagrams(m_remote, m_port);
        m_socket->Close();
        m_socket = nullptr;
    }
}

void
DatagramClient::Send()
{
    m_sendTimer.Cancel();
    while (m_maxBytes == 0 || m_sent < m_maxBytes)
    {
        const uint64_t due = m_core->next_datagram();
        if (due == core_time::NEVER)
        {
            return;
        }
        if (due > core_time::Now())
        {
            m_sendTimer = Simulator::Schedule(core_time::Until(due), &DatagramClient::Send, this);
            return;
        }
        SendOne();
    }
}

void
DatagramClient::SendOne()
{
    const uint64_t left = m_maxBytes == 0 ? m_size : m_maxBytes - m_sent;
    const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(m_size, left));
    // If the host's queue has no room for it, it is lost, as it may be on the way.
    m_socket->Send(Create<Packet>(bytes));
    m_core->on_datagram(core_time::Now(), bytes);
    m_sent += bytes;
    ScheduleProbe();
}

uint16_t
DatagramClient::PrepareProbe(uint8_t* section, std::size_t room) const
{
    return static_cast<uint16_t>(m_core->prepare_probe(core_time::Now(), {section, room}));
}

void
DatagramClient::OnResponse(uint32_t seq, const uint8_t* section, std::size_t size)
{
    NS_LOG_FUNCTION(this << seq << size);
    m_core->on_datagram_response(core_time::Now(), seq, {section, size});
    Send();
}

uint64_t
DatagramClient::GetBaselineResets() const
{
    return m_core->baseline_resets();
}

void
DatagramClient::ScheduleProbe()
{
    const uint64_t due = m_core->next_probe();
    if (due != core_time::NEVER && m_probeTimer.IsExpired())
    {
        m_probeTimer =
            Simulator::Schedule(core_time::Until(due), &DatagramClient::OnProbeTime, this);
    }
}

void
DatagramClient::OnProbeTime()
{
    const hpcc::ProbedProbe probe = m_core->on_probe_time(core_time::Now());
    if (probe.present)
    {
        m_sendProbe(probe.seq);
    }
    ScheduleProbe();
}

} // namespace ns3
