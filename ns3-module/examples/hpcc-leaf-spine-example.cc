/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What a program can watch, by paths of Config, on two leaves and two spines with four hosts a
// leaf. Four hosts send to one, and their peers send back; a link fails and comes up again;
// switches notify senders. The same with two layouts of telemetry, one after the other.
//
//   ./ns3 run hpcc-leaf-spine-example
//   ./ns3 run "hpcc-leaf-spine-example --capture=host-0"
//
// tests/tests/program.rs has the same experiment as a file: its completion times are those of this
// program.

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <algorithm>
#include <iostream>
#include <limits>
#include <string>

using namespace ns3;

/// Records of a network's trace sources.
class Observer
{
  public:
    /// Connect to all nodes that there are, which have their links.
    void Connect();

    /**
     * \brief Print it.
     * \param os where to
     */
    void Print(std::ostream& os) const;

  private:
    /**
     * \brief Something was reported to the congestion control of a flow.
     * \param flow the flow
     * \param control its present state
     */
    void OnControl(const RdmaFlow& flow, const RdmaControl& control);

    /**
     * \brief A flow's bottleneck has changed.
     * \param flow the flow
     * \param before the link until now
     * \param now the link from now on
     */
    void OnBottleneck(const RdmaFlow& flow, int16_t before, int16_t now);

    /**
     * \brief A packet is sent again.
     * \param flow its flow
     * \param seq its first byte
     */
    void OnResend(const RdmaFlow& flow, uint64_t seq);

    /**
     * \brief A queue has changed.
     * \param path the device's trace source
     * \param queue the queue: the priority of what waits there
     * \param before bytes before
     * \param now bytes now
     */
    void OnQueue(std::string path, uint8_t queue, uint64_t before, uint64_t now);

    /**
     * \brief A device is paused or resumed.
     * \param priority the priority
     * \param paused whether it is paused
     */
    void OnPause(uint8_t priority, bool paused);

    /**
     * \brief A frame is lost on a link that has failed.
     * \param frame the frame
     */
    void OnLoss(const QbbFrame& frame);

    /**
     * \brief A switch drops a frame, or it waited for a link that has failed.
     * \param frame the frame
     */
    void OnDrop(const QbbFrame& frame);

    /**
     * \brief A switch notifies a sender.
     * \param frame the notification
     */
    void OnNotification(const QbbFrame& frame);

    uint64_t m_lowestRate{std::numeric_limits<uint64_t>::max()};   //!< bit/s
    uint64_t m_lowestWindow{std::numeric_limits<uint64_t>::max()}; //!< bytes
    uint64_t m_moves{0};                                           //!< changes of bottlenecks
    uint64_t m_resent{0};                                          //!< packets sent again
    uint64_t m_longest{0};                                         //!< bytes of the longest queue
    std::string m_longestPath;                                     //!< whose it was
    uint32_t m_longestPriority{0};                                 //!< and what waited there
    uint64_t m_pauses{0};                                          //!< pauses
    uint64_t m_losses{0};                                          //!< frames lost on links
    uint64_t m_drops{0};                                           //!< frames dropped at switches
    uint64_t m_notifications{0};                                   //!< notifications sent
};

void
Observer::Connect()
{
    const std::string host = "/NodeList/*/$ns3::RdmaHost/";
    const std::string aSwitch = "/NodeList/*/$ns3::QbbSwitch/";
    const std::string device = "/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/";
    Config::ConnectWithoutContext(host + "Control", MakeCallback(&Observer::OnControl, this));
    Config::ConnectWithoutContext(host + "Bottleneck", MakeCallback(&Observer::OnBottleneck, this));
    Config::ConnectWithoutContext(host + "Resend", MakeCallback(&Observer::OnResend, this));
    // With its context a sink knows the node and the port.
    Config::Connect(device + "QueuedBytes", MakeCallback(&Observer::OnQueue, this));
    Config::ConnectWithoutContext(device + "Pause", MakeCallback(&Observer::OnPause, this));
    Config::ConnectWithoutContext(device + "RxDrop", MakeCallback(&Observer::OnLoss, this));
    Config::ConnectWithoutContext(device + "LinkDrop", MakeCallback(&Observer::OnDrop, this));
    Config::ConnectWithoutContext(aSwitch + "Drop", MakeCallback(&Observer::OnDrop, this));
    Config::ConnectWithoutContext("/NodeList/*/$ns3::FastCnpSwitch/Sent",
                                  MakeCallback(&Observer::OnNotification, this));
}

void
Observer::OnControl(const RdmaFlow&, const RdmaControl& control)
{
    m_lowestRate = std::min(m_lowestRate, control.rate.GetBitRate());
    m_lowestWindow = std::min(m_lowestWindow, control.window);
}

void
Observer::OnBottleneck(const RdmaFlow&, int16_t, int16_t)
{
    ++m_moves;
}

void
Observer::OnResend(const RdmaFlow&, uint64_t)
{
    ++m_resent;
}

void
Observer::OnQueue(std::string path, uint8_t queue, uint64_t, uint64_t now)
{
    if (now > m_longest)
    {
        m_longest = now;
        m_longestPath = path;
        m_longestPriority = queue;
    }
}

void
Observer::OnPause(uint8_t, bool paused)
{
    m_pauses += paused;
}

void
Observer::OnLoss(const QbbFrame&)
{
    ++m_losses;
}

void
Observer::OnDrop(const QbbFrame&)
{
    ++m_drops;
}

void
Observer::OnNotification(const QbbFrame&)
{
    ++m_notifications;
}

void
Observer::Print(std::ostream& os) const
{
    os << "lowest rate " << m_lowestRate << " bit/s\nlowest window " << m_lowestWindow
       << " bytes\nbottleneck changes " << m_moves << "\nlongest queue " << m_longest
       << " bytes of priority " << m_longestPriority << " at " << m_longestPath << "\npauses "
       << m_pauses << "\nlosses " << m_losses << "\ndrops " << m_drops << "\nresent " << m_resent
       << "\nnotifications " << m_notifications << "\n";
}

/**
 * \brief Link hosts to leaves, and each leaf to each spine.
 * \param network where they are installed
 * \param hosts the hosts
 * \param leaves the leaves
 * \param spines the spines
 */
static void
LinkAll(QbbHelper& network,
        const NodeContainer& hosts,
        const NodeContainer& leaves,
        const NodeContainer& spines)
{
    const DataRate rate("100Gbps");
    const uint32_t rack = hosts.GetN() / leaves.GetN();
    for (uint32_t host = 0; host < hosts.GetN(); ++host)
    {
        network.Link(hosts.Get(host), leaves.Get(host / rack), rate, MicroSeconds(1));
    }
    for (uint32_t leaf = 0; leaf < leaves.GetN(); ++leaf)
    {
        for (uint32_t spine = 0; spine < spines.GetN(); ++spine)
        {
            network.Link(leaves.Get(leaf), spines.Get(spine), rate, MicroSeconds(2));
        }
    }
}

/**
 * \brief The first rack sends to the first host of the second one, and that rack answers.
 * \param hosts two racks, one after the other
 */
static void
AddFlows(const NodeContainer& hosts)
{
    const uint32_t rack = hosts.GetN() / 2;
    RdmaClientHelper incast(hosts.Get(rack));
    incast.SetAttribute("Size", UintegerValue(2'000'000));
    ApplicationContainer senders;
    ApplicationContainer answers;
    for (uint32_t host = 0; host < rack; ++host)
    {
        senders.Add(incast.Install(hosts.Get(host)));
        RdmaClientHelper answer(hosts.Get(host));
        answer.SetAttribute("Size", UintegerValue(1'000'000));
        answers.Add(answer.Install(hosts.Get(rack + host)));
    }
    senders.Start(MicroSeconds(10));
    answers.Start(MicroSeconds(20));
}

/**
 * \brief Run the experiment and print what came of it.
 * \param layout the layout of telemetry
 * \param capture beginning of the names of captures of the first host; empty: none are made
 * \return the number of flows that did not finish
 */
static uint64_t
RunWith(const std::string& layout, const std::string& capture)
{
    NodeContainer hosts(8);
    NodeContainer leaves(2);
    NodeContainer spines(2);
    QbbHelper network;
    network.SetWireProfile("rocev2_ipv6");
    network.SetTelemetry(layout);
    network.SetHostAttribute("CongestionControl", StringValue("hpcc_plus"));
    network.SetSwitchAttribute("PauseThreshold", StringValue("100KB"));
    network.SetNetworkAttribute("FastCnpEnabled", BooleanValue(true));
    network.InstallHosts(hosts);
    network.InstallSwitches(leaves);
    network.InstallSwitches(spines);
    LinkAll(network, hosts, leaves, spines);
    if (!capture.empty())
    {
        network.EnablePcap(capture + "-" + layout, NodeContainer(hosts.Get(0)));
    }
    network.Start();

    AddFlows(hosts);
    Simulator::Schedule(MicroSeconds(50),
                        [&] { network.TakeLinkDown(leaves.Get(0), spines.Get(1)); });
    Simulator::Schedule(MicroSeconds(250),
                        [&] { network.SetLinkUp(leaves.Get(0), spines.Get(1)); });
    Observer observer;
    observer.Connect();
    RdmaFlowResults results(network);
    Simulator::Stop(MilliSeconds(5));
    Simulator::Run();

    std::cout << "layout " << layout << "\n";
    results.WriteCsv(std::cout);
    observer.Print(std::cout);
    const uint64_t unfinished = network.PrintUnfinished(std::cerr);
    // Nodes, links and events of this network go; the next one begins with node 0, at time 0.
    Simulator::Destroy();
    return unfinished;
}

int
main(int argc, char* argv[])
{
    std::string capture;

    CommandLine cmd(__FILE__);
    cmd.AddValue("capture", "beginning of the names of captures of host 0", capture);
    cmd.Parse(argc, argv);
    // As scenario files run.
    Config::SetDefault("ns3::EngineNetwork::CanonicalOrder", BooleanValue(true));

    uint64_t unfinished = 0;
    for (const std::string layout : {"ioam", "ioam_slim"})
    {
        unfinished += RunWith(layout, capture);
    }
    return unfinished ? 3 : 0;
}
