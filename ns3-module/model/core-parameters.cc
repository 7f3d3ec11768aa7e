/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "core-parameters.h"

#include "ns3/abort.h"
#include "ns3/fatal-error.h"

#include <array>
#include <utility>

namespace ns3
{

namespace
{

/// Names and values of an enumeration of the core.
template <class T, std::size_t N>
using Names = std::array<std::pair<const char*, T>, N>;

/// The congestion-control algorithms.
constexpr Names<hpcc::AlgorithmKind, 8> ALGORITHMS{{
    {"none", hpcc::AlgorithmKind::LineRate},
    {"hpcc", hpcc::AlgorithmKind::Hpcc},
    {"hpcc_plus", hpcc::AlgorithmKind::HpccPlus},
    {"rx_hpcc", hpcc::AlgorithmKind::RxHpcc},
    {"hpcc_pint", hpcc::AlgorithmKind::HpccPint},
    {"dcqcn", hpcc::AlgorithmKind::Dcqcn},
    {"timely", hpcc::AlgorithmKind::Timely},
    {"dctcp", hpcc::AlgorithmKind::Dctcp},
}};

/// The kinds of loss recovery.
constexpr Names<hpcc::RecoveryKind, 3> RECOVERIES{{
    {"go_back_n", hpcc::RecoveryKind::GoBackN},
    {"go_back_zero", hpcc::RecoveryKind::GoBackZero},
    {"selective_repeat", hpcc::RecoveryKind::SelectiveRepeat},
}};

/// In what congestion marks come back.
constexpr Names<hpcc::NotificationKind, 2> NOTIFICATIONS{{
    {"ack", hpcc::NotificationKind::Echo},
    {"cnp", hpcc::NotificationKind::Packet},
}};

/**
 * \brief Look a name up; ends the program, naming the choices, if it is not there.
 * \param what what is named
 * \param name the name
 * \param choices names and values
 * \return the value
 */
template <class T, std::size_t N>
T
Choose(const char* what, const std::string& name, const Names<T, N>& choices)
{
    std::string known;
    for (const auto& [candidate, value] : choices)
    {
        if (name == candidate)
        {
            return value;
        }
        known += std::string(known.empty() ? "" : ", ") + candidate;
    }
    NS_FATAL_ERROR("unknown " << what << " \"" << name << "\"; there are: " << known);
    return choices.front().second; // not reached, but the macro does not say so to the compiler
}

/**
 * \brief Look a value up.
 * \param value the value
 * \param choices names and values
 * \return the name
 */
template <class T, std::size_t N>
std::string
Find(T value, const Names<T, N>& choices)
{
    for (const auto& [name, candidate] : choices)
    {
        if (candidate == value)
        {
            return name;
        }
    }
    NS_FATAL_ERROR("a value of the core has no name");
}

} // namespace

hpcc::Quirks
MakeQuirks(const std::string& names)
{
    const hpcc::NamedQuirks named = hpcc::read_quirks(names);
    NS_ABORT_MSG_UNLESS(named.error.empty(), std::string(named.error));
    return named.quirks;
}

hpcc::RecoveryKind
MakeRecoveryKind(const std::string& name)
{
    return Choose("loss recovery", name, RECOVERIES);
}

std::string
NameOf(hpcc::RecoveryKind recovery)
{
    return Find(recovery, RECOVERIES);
}

hpcc::AlgorithmKind
MakeAlgorithmKind(const std::string& name)
{
    return Choose("congestion control", name, ALGORITHMS);
}

std::string
NameOf(hpcc::AlgorithmKind algorithm)
{
    return Find(algorithm, ALGORITHMS);
}

hpcc::NotificationKind
MakeNotificationKind(const std::string& name)
{
    return Choose("congestion notification", name, NOTIFICATIONS);
}

std::string
NameOf(hpcc::NotificationKind notification)
{
    return Find(notification, NOTIFICATIONS);
}

hpcc::PacketKind
MakePacketKind(QbbFrame::Kind kind)
{
    switch (kind)
    {
    case QbbFrame::Kind::DATA:
    case QbbFrame::Kind::PACKET:
        return hpcc::PacketKind::Data;
    case QbbFrame::Kind::ACK:
        return hpcc::PacketKind::Ack;
    case QbbFrame::Kind::NACK:
        return hpcc::PacketKind::Nack;
    case QbbFrame::Kind::PROBE:
    case QbbFrame::Kind::PACKET_PROBE:
        return hpcc::PacketKind::Probe;
    case QbbFrame::Kind::FEEDBACK:
    case QbbFrame::Kind::PACKET_RESPONSE:
        return hpcc::PacketKind::Feedback;
    case QbbFrame::Kind::CNP:
        return hpcc::PacketKind::Cnp;
    case QbbFrame::Kind::FAST_CNP:
        return hpcc::PacketKind::FastCnp;
    case QbbFrame::Kind::ICMPV6:
        return hpcc::PacketKind::Icmpv6;
    default:
        return hpcc::PacketKind::Pfc;
    }
}

} // namespace ns3
