/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-tcp-flow.h"

#include "ns3/inet-socket-address.h"
#include "ns3/inet6-socket-address.h"
#include "ns3/packet.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <utility>

namespace ns3
{

namespace
{

/**
 * \param socket a socket
 * \param name an attribute that is a whole number
 * \return its value
 */
uint32_t
GetNumber(const Socket& socket, const std::string& name)
{
    UintegerValue value;
    socket.GetAttribute(name, value);
    return static_cast<uint32_t>(value.Get());
}

} // namespace

ScenarioTcpFlow::ScenarioTcpFlow(uint32_t id,
                                 uint64_t size,
                                 Ptr<TcpSocketBase> socket,
                                 Counters& counters,
                                 FinishCallback done)
    : m_id(id),
      m_size(size),
      m_socket(std::move(socket)),
      m_counters(counters),
      m_done(std::move(done)),
      m_buffer(GetNumber(*m_socket, "SndBufSize")),
      m_segment(GetNumber(*m_socket, "SegmentSize"))
{
    m_socket->SetSendCallback(MakeCallback(&ScenarioTcpFlow::OnRoom, this));
    m_socket->TraceConnectWithoutContext("Tx", MakeCallback(&ScenarioTcpFlow::OnSent, this));
    m_socket->TraceConnectWithoutContext("CongState",
                                         MakeCallback(&ScenarioTcpFlow::OnState, this));
}

ScenarioTcpFlow::~ScenarioTcpFlow()
{
    m_finish.Cancel();
    m_socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
    m_socket->TraceDisconnectWithoutContext("Tx", MakeCallback(&ScenarioTcpFlow::OnSent, this));
    m_socket->TraceDisconnectWithoutContext("CongState",
                                            MakeCallback(&ScenarioTcpFlow::OnState, this));
}

void
ScenarioTcpFlow::Connect(const Address& peer)
{
    const bool isIpv6 = Inet6SocketAddress::IsMatchingType(peer);
    isIpv6 ? m_socket->Bind6() : m_socket->Bind();
    m_socket->Connect(peer);
    Address own;
    m_socket->GetSockName(own);
    m_sourcePort = isIpv6 ? Inet6SocketAddress::ConvertFrom(own).GetPort()
                          : InetSocketAddress::ConvertFrom(own).GetPort();
}

uint64_t
ScenarioTcpFlow::GetAckedBytes() const
{
    return m_written - (m_buffer - m_socket->GetTxAvailable());
}

uint16_t
ScenarioTcpFlow::GetSourcePort() const
{
    return m_sourcePort;
}

void
ScenarioTcpFlow::OnRoom(Ptr<Socket>, uint32_t)
{
    Fill();
    if (GetAckedBytes() == m_size && m_finish.IsExpired())
    {
        // Not at once: the socket is still at work on this acknowledgement.
        m_finish = Simulator::ScheduleNow(&ScenarioTcpFlow::Finish, this);
    }
}

void
ScenarioTcpFlow::Fill()
{
    while (m_written < m_size)
    {
        const auto bytes = static_cast<uint32_t>(std::min<uint64_t>(m_segment, m_size - m_written));
        if (m_socket->GetTxAvailable() < bytes || m_socket->Send(Create<Packet>(bytes), 0) < 0)
        {
            return;
        }
        m_written += bytes;
    }
}

void
ScenarioTcpFlow::Finish()
{
    m_socket->Close();
    // The callback may delete this object.
    const auto done = m_done;
    done(m_id);
}

void
ScenarioTcpFlow::OnSent(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
{
    const SequenceNumber32 first = header.GetSequenceNumber();
    if (header.GetFlags() & TcpHeader::SYN)
    {
        m_end = first + 1;
    }
    else if (packet->GetSize() > 0)
    {
        m_counters.resent += first < m_end;
        m_end = std::max(m_end, first + packet->GetSize());
    }
}

void
ScenarioTcpFlow::OnState(TcpSocketState::TcpCongState_t, TcpSocketState::TcpCongState_t now)
{
    m_counters.timeouts += now == TcpSocketState::CA_LOSS;
}

} // namespace ns3
