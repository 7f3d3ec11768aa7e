/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_CORE_PARAMETERS_H
#define HPCC_CORE_PARAMETERS_H

#include "ns3-bridge/src/lib.rs.h"
#include "qbb-frame.h"

#include <string>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Translate names of the reference simulator's faults; ends the program if one does not exist.
 * \param names "all", "none", or names with commas between them
 * \return the core's form
 */
hpcc::Quirks MakeQuirks(const std::string& names);

/**
 * \ingroup hpcc
 * \brief Translate the name of a kind of loss recovery; ends the program if it does not exist.
 * \param name "go_back_n", "go_back_zero" or "selective_repeat"
 * \return the core's form
 */
hpcc::RecoveryKind MakeRecoveryKind(const std::string& name);

/**
 * \ingroup hpcc
 * \brief The attribute value that names a kind of loss recovery.
 * \param recovery the kind
 * \return its name
 */
std::string NameOf(hpcc::RecoveryKind recovery);

/**
 * \ingroup hpcc
 * \brief Translate the name of a congestion-control algorithm; ends the program if it does not exist.
 * \param name "hpcc", "hpcc_plus", "rx_hpcc", "hpcc_pint", "dcqcn", "timely", "dctcp" or "none"
 * \return the core's form
 */
hpcc::AlgorithmKind MakeAlgorithmKind(const std::string& name);

/**
 * \ingroup hpcc
 * \brief The attribute value that names a congestion-control algorithm.
 * \param algorithm the algorithm
 * \return its name
 */
std::string NameOf(hpcc::AlgorithmKind algorithm);

/**
 * \ingroup hpcc
 * \brief Translate the name of what congestion marks come back in; ends the program if it does not exist.
 * \param name "ack" or "cnp"
 * \return the core's form
 */
hpcc::NotificationKind MakeNotificationKind(const std::string& name);

/**
 * \ingroup hpcc
 * \brief The attribute value that names what congestion marks come back in.
 * \param notification what
 * \return its name
 */
std::string NameOf(hpcc::NotificationKind notification);

/**
 * \ingroup hpcc
 * \brief Translate what a frame is for.
 * \param kind a frame's kind
 * \return the core's form
 */
hpcc::PacketKind MakePacketKind(QbbFrame::Kind kind);

} // namespace ns3

#endif /* HPCC_CORE_PARAMETERS_H */
