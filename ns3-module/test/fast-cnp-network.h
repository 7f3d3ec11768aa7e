/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_FAST_CNP_NETWORK_H
#define HPCC_FAST_CNP_NETWORK_H

#include "hpcc-tests.h"

#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/qbb-frame.h"

#include <array>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

/// Senders, all to the host behind them.
constexpr uint32_t SENDERS = 4;
/// The switch.
constexpr uint32_t SWITCH = SENDERS + 1;
/// Bytes of a flow.
constexpr uint64_t SIZE = 500'000;

/// A frame that a test has seen.
struct Seen
{
    Time at;                      //!< when
    QbbFrame::Kind kind;          //!< what it is for
    uint32_t src;                 //!< index of its source
    uint32_t dst;                 //!< index of its destination
    uint32_t srcAddress;          //!< address of its source
    uint32_t queuePair;           //!< queue pair that it is for
    uint16_t sport;               //!< UDP source port
    bool marked;                  //!< whether it is marked
    bool echoes;                  //!< whether it echoes a mark
    std::vector<uint8_t> section; //!< what stands in the place of telemetry
};

/// Frames by kind.
using Frames = std::map<QbbFrame::Kind, std::vector<Seen>>;

/**
 * \brief Record what a device sends.
 * \param device the device
 * \param frames where
 */
void Watch(Ptr<QbbNetDevice> device, Frames& frames);

/**
 * \param frames frames
 * \return how many of them are marked
 */
std::size_t CountMarked(const std::vector<Seen>& frames);

/**
 * \param frames frames
 * \param queuePair a queue pair
 * \return how many of them are for it
 */
std::size_t CountFor(const std::vector<Seen>& frames, uint32_t queuePair);

/**
 * \param frames frames
 * \return when the first and the last were sent; never, if there is none
 */
std::pair<Time, Time> SpanOf(const std::vector<Seen>& frames);

/**
 * \param frames frames
 * \param node a node
 * \return those to the node
 */
std::vector<Seen> To(const std::vector<Seen>& frames, uint32_t node);

/**
 * \brief A star over IPv6 in which all hosts but one send to that one, by DCQCN, and a switch that
 * finds a queue of 30 kB too long.
 */
class Congested
{
  public:
    Congested();

    /**
     * \brief Switch Fast CNP on at all nodes.
     * \return this
     */
    Congested& Enable();

    /// Link the nodes.
    void Build();

    /// Run, and record what the switch sends, and the receiver.
    void Run();

    /// \return the switch's part of Fast CNP
    Ptr<FastCnpSwitch> Agent() const
    {
        return network.helper.GetNode(SWITCH)->GetObject<FastCnpSwitch>();
    }

    /// \param host a host \return its part
    Ptr<FastCnpHost> HostAgent(uint32_t host) const
    {
        return network.helper.GetNode(host)->GetObject<FastCnpHost>();
    }

    TestNetwork network;                         //!< the network
    std::vector<Ptr<RdmaClient>> flows;          //!< the flows
    Frames bySwitch;                             //!< what the switch sent
    Frames byReceiver;                           //!< what the receiver sent
    Frames bySender;                             //!< what the first sender sent
    DataRate rate{0};                            //!< rate of the second sender's flow after 25 us
    uint64_t sent{0};                            //!< notifications that the switch sent
    std::map<std::string, std::size_t> withheld; //!< those that it withheld, by reason
    uint64_t accepted{0};                        //!< notifications that the senders believed
    uint64_t reports{0};                         //!< ICMPv6 packets of the first sender
    uint64_t migrations{0};                      //!< migrations of its flow
    int64_t finished{0};                         //!< flows that finished
};

/// Destination options of a notification about a packet to the receiver of the star: option 1.
constexpr std::array<uint8_t, 24> OPTION_1{0x11, 2, 0x9e, 16, 0x20, 1, 0x0d, 0xb8, 0, 0, 0,    0,
                                           0,    0, 0,    0,  11,   0, 4,    1,    1, 2, 0x00, 0};

} // namespace tests
} // namespace ns3

#endif /* HPCC_FAST_CNP_NETWORK_H */
