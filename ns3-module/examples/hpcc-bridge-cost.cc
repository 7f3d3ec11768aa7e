/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What the calls from C++ into the Rust core cost, in CPU nanoseconds for each call. It printed the
// figures in the module's documentation:
//
//   ./ns3 run "hpcc-bridge-cost --calls=20000000"

#include "ns3-bridge/src/host.rs.h"
#include "ns3-bridge/src/network.rs.h"
#include "ns3-bridge/src/random.rs.h"
#include "ns3-bridge/src/settings.rs.h"
#include "ns3-bridge/src/switch.rs.h"

#include "ns3/core-module.h"
#include "ns3/rdma-congestion-ops.h"

#include <array>
#include <ctime>
#include <iomanip>
#include <iostream>
#include <string>

namespace ns3
{

/// A congestion control in C++ that looks at each record of each acknowledgement, and changes
/// nothing.
class OnlyReads : public RdmaCongestionOps
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::OnlyReads").SetParent<RdmaCongestionOps>().AddConstructor<OnlyReads>();
        return tid;
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        for (const Hop& hop : feedback.hops)
        {
            m_queues += hop.qlen;
        }
        return {};
    }

    Reads GetReads() const override
    {
        return Reads::RECORDS;
    }

  private:
    uint64_t m_queues{0}; //!< sum of all queue lengths
};

NS_OBJECT_ENSURE_REGISTERED(OnlyReads);

} // namespace ns3

using namespace ns3;

namespace
{

constexpr uint64_t RATE = 100'000'000'000; //!< of each link in bit/s
constexpr uint32_t PAYLOAD = 1000;         //!< of each packet in bytes
constexpr uint32_t FRAME = 1090;           //!< of each packet on the link in bytes
constexpr uint64_t INTERVAL = 87;          //!< between two packets in nanoseconds
constexpr uint32_t SWITCHES = 5;           //!< between the two hosts
constexpr uint32_t SWITCH = 2;             //!< index of the first switch
constexpr uint8_t PRIORITY = 3;            //!< of each packet
volatile uint64_t g_sink;                  //!< keeps results from being optimised away

/// A telemetry section.
using Section = std::array<uint8_t, 128>;

/**
 * \brief Time calls of a function, and print the mean.
 * \param what what is called
 * \param calls how often
 * \param function is called with the number of the call; returns what must not be optimised away
 */
template <class F>
void
Measure(const std::string& what, uint64_t calls, F function)
{
    uint64_t sum = 0;
    const std::clock_t begin = std::clock();
    for (uint64_t call = 0; call < calls; ++call)
    {
        sum += function(call);
    }
    const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    g_sink = sum;
    std::cout << std::left << std::setw(40) << what << std::right << std::setw(8)
              << seconds * 1e9 / calls << std::endl;
}

/**
 * \brief Make a chain: host 0, switches, host 1.
 * \return nodes, links and routes
 */
rust::Box<hpcc::Network>
MakeChain()
{
    auto network = hpcc::new_network();
    for (uint32_t node = 0; node < SWITCH + SWITCHES; ++node)
    {
        network->add_node(node >= SWITCH);
    }
    uint32_t last = 0;
    for (uint32_t hop = 0; hop < SWITCHES; ++hop)
    {
        network->add_link({last, SWITCH + hop, RATE, 1000});
        last = SWITCH + hop;
    }
    network->add_link({last, 1, RATE, 1000});
    network->compute_routes(PAYLOAD);
    return network;
}

/**
 * \brief The way of a frame through one switch where none waits.
 * \param node the switch
 * \param rng the source of chance
 * \param section the frame's telemetry
 * \param now the time
 * \return something that depends on the calls
 */
uint64_t
PassSwitch(hpcc::Switch& node, hpcc::Rng& rng, Section& section, uint64_t now)
{
    const hpcc::FlowKey key{0x0b000001, 0x0b000101, 10000, 100};
    const hpcc::Route route = node.route(1, key, 64);
    section[40] = 0; // the count of hops: each call writes the first
    hpcc::DepartingFrame frame{0, 0, PRIORITY, true, 63, FRAME, 42, now};
    node.pass(route.egress, now, frame, {section.data(), section.size()}, rng);
    return frame.telemetry_bytes;
}

/**
 * \brief Measure the sender's work for an acknowledgement.
 * \param calls how many
 * \param hops how many words its telemetry has
 * \param control the congestion control, as the attribute CongestionControl has it
 */
void
MeasureAcks(uint64_t calls, uint32_t hops, const std::string& control)
{
    auto network = MakeChain();
    auto rng = hpcc::new_rng(1, 1, 1);
    auto settings = hpcc::new_settings();
    for (const auto& info : hpcc::host_settings())
    {
        if (info.attribute == "CongestionControl")
        {
            settings->set(info, control);
        }
        else if (info.attribute == "TelemetryLayout")
        {
            settings->set(info, "reference");
        }
    }
    hpcc::resolve(*settings, *network);
    auto host = hpcc::new_host(*network, 0, *settings);
    hpcc::SenderParameters sender{};
    sender.dst = 1;
    sender.priority = PRIORITY;
    sender.size_bytes = uint64_t{1} << 50;
    const auto queuePair = static_cast<uint32_t>(host->open_sender(0, 0, sender, *network));

    Section section{};
    Measure(
        "on_ack, " + std::to_string(hops) + " hops, " + control + ", poll",
        calls,
        [&](uint64_t call) {
            // One packet leaves, and its acknowledgement brings one link's news in every word.
            const uint64_t now = call * INTERVAL;
            hpcc::Segment segment{};
            host->poll(0, now, 0, segment);
            const hpcc::AckFrame ack{queuePair, segment.seq + PAYLOAD, false, false, UINT64_MAX};
            const uint64_t word =
                2 | (now & 0xff'ffff) << 3 | (call * FRAME / 512 & 0xf'ffff) << 27;
            for (uint32_t hop = 0; hop < hops; ++hop)
            {
                std::copy_n(reinterpret_cast<const uint8_t*>(&word), 8, section.data() + 8 * hop);
            }
            section[40] = hops;
            return host->on_ack(now, ack, {section.data(), 42}, *rng).nic;
        });
}

} // namespace

int
main(int argc, char* argv[])
{
    uint64_t calls = 2'000'000;
    CommandLine cmd(__FILE__);
    cmd.AddValue("calls", "how often each function is called", calls);
    cmd.Parse(argc, argv);

    auto network = MakeChain();
    auto rng = hpcc::new_rng(1, 1, 1);
    auto settings = hpcc::new_settings();
    hpcc::resolve(*settings, *network);
    auto node = hpcc::new_switch(*network, SWITCH, *settings);
    auto host = hpcc::new_host(*network, 0, *settings);
    Section section{};
    std::cout << "call                                    CPU (ns)\n"
              << std::fixed << std::setprecision(1);
    Measure("Switch::queued: a load", calls, [&](uint64_t call) { return node->queued(call & 1); });
    Measure("tx_time: a division", calls, [](uint64_t call) {
        return hpcc::tx_time(RATE, FRAME + (call & 7), false);
    });
    Measure("Host::prepare_telemetry", calls, [&](uint64_t call) {
        return host->prepare_telemetry(call, PRIORITY, {section.data(), section.size()});
    });
    Measure("Switch::route and pass", calls, [&](uint64_t call) {
        return PassSwitch(*node, *rng, section, call * INTERVAL);
    });
    for (const std::string control : {"hpcc", "none", "ns3::OnlyReads"})
    {
        for (const uint32_t hops : {1, 5})
        {
            MeasureAcks(calls, hops, control);
        }
    }
}
