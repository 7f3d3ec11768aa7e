/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// A network, its attributes and its flows from a list of calls, one a line. It shows which call of
// the helpers a line of a scenario file stands for; a test writes such a list for each shipped
// experiment (tests/tests/programs.rs) and compares completion times, to the nanosecond:
//
//   hpcc-listed-example --list=FILE --stop=1ms
//
//   network Mtu 1000                            QbbHelper::SetNetworkAttribute()
//   host AckPriority 0                          QbbHelper::SetHostAttribute()
//   switch Buffer 8000000                       QbbHelper::SetSwitchAttribute()
//   fast-cnp-host, fast-cnp-switch              likewise
//   install 16 3                                nodes: 16 hosts, and 3 switches behind them
//   link 0 16 100Gbps 1us                       QbbHelper::Link()
//   loss 0.001 5                                QbbHelper::SetLoss() for it: probability, stream
//   node 3 TelemetryContent none                 an attribute of one node, once there are links
//   border 16 3                                 QbbHelper::SetFastCnpBorder()
//   start                                       QbbHelper::Start()
//   flow 0 2 1000000 3 100 5us                  source, destination, size, priority, port, start
//   down 16 18 1ms, up 16 18 2ms                a link fails, and comes up
//   attack forged_fast_cnp 2 victims=0          AttackHelper

#include "ns3/core-module.h"
#include "ns3/hpcc-module.h"
#include "ns3/network-module.h"

#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

using namespace ns3;

/// A network that is built line by line.
class ListedNetwork
{
  public:
    /**
     * \brief Do what a line says. The program ends if it is none.
     * \param line the line
     */
    void Do(const std::string& line)
    {
        std::istringstream words(line);
        const auto call = m_calls.find(Word(words));
        NS_ABORT_MSG_IF(call == m_calls.end(), "there is no call for the line \"" << line << "\"");
        call->second(words);
    }

  private:
    /**
     * \param words a line
     * \return its next word
     */
    static std::string Word(std::istream& words)
    {
        std::string word;
        words >> word;
        return word;
    }

    /**
     * \param words a line
     * \return its next word, a number
     */
    static uint64_t Number(std::istream& words)
    {
        uint64_t number = 0;
        words >> number;
        NS_ABORT_MSG_UNLESS(words, "a line lacks a number");
        return number;
    }

    /**
     * \param words a line
     * \return the rest of it
     */
    static StringValue Rest(std::istream& words)
    {
        std::string rest;
        std::getline(words >> std::ws, rest);
        return StringValue(rest);
    }

    /**
     * \brief Set an attribute of what will be made.
     * \param words its name, and its value
     * \param set the helper's method
     */
    void Set(std::istream& words, void (QbbHelper::*set)(const std::string&, const AttributeValue&))
    {
        const std::string name = Word(words);
        (m_helper.*set)(name, Rest(words));
    }

    /**
     * \param words a line
     * \return the node that its next word numbers
     */
    Ptr<Node> NextNode(std::istream& words) const
    {
        return m_nodes.Get(Number(words));
    }

    /**
     * \brief Make hosts and switches.
     * \param words how many hosts, and how many switches
     */
    void Install(std::istream& words)
    {
        const NodeContainer hosts(Number(words));
        const NodeContainer switches(Number(words));
        m_helper.InstallHosts(hosts);
        m_helper.InstallSwitches(switches);
        m_nodes = NodeContainer(hosts, switches);
    }

    /**
     * \brief Add a flow, which prints its number and completion time when it ends.
     * \param words what it is
     */
    void AddFlow(std::istream& words)
    {
        const Ptr<Node> source = NextNode(words);
        RdmaClientHelper helper(NextNode(words));
        helper.SetAttribute("Size", UintegerValue(Number(words)));
        helper.SetAttribute("Priority", UintegerValue(Number(words)));
        helper.SetAttribute("DestinationPort", UintegerValue(Number(words)));
        ApplicationContainer client = helper.Install(source);
        client.Start(Time(Word(words)));
        client.Get(0)->TraceConnectWithoutContext(
            "Finish",
            Callback<void, const RdmaFlow&>([number = m_flows++](const RdmaFlow& flow) {
                std::cout << number << ',' << flow.completion.GetNanoSeconds() << '\n';
            }));
    }

    /**
     * \brief Schedule a change of a link.
     * \param words its nodes, and when it changes
     * \param up whether it comes up
     */
    void ChangeLink(std::istream& words, bool up)
    {
        const Ptr<Node> a = NextNode(words);
        const Ptr<Node> b = NextNode(words);
        Simulator::Schedule(Time(Word(words)), [this, a, b, up] {
            up ? m_helper.SetLinkUp(a, b) : m_helper.TakeLinkDown(a, b);
        });
    }

    /**
     * \brief Begin an attack.
     * \param words its kind, its node, and keys with their values
     */
    void Attack(std::istream& words)
    {
        AttackHelper helper(Word(words));
        const Ptr<Node> node = NextNode(words);
        for (std::string word = Word(words); !word.empty(); word = Word(words))
        {
            const auto equals = word.find('=');
            helper.Set(word.substr(0, equals), word.substr(equals + 1));
        }
        m_attackers.push_back(helper.Install(node, m_helper));
    }

    QbbHelper m_helper;                                 //!< builds it
    NodeContainer m_nodes;                              //!< hosts, then switches
    NetDeviceContainer m_link;                          //!< the link that was made last
    uint32_t m_flows{0};                                //!< flows so far
    std::vector<std::unique_ptr<Attacker>> m_attackers; //!< an attack ends with its attacker

    /// The call for the first word of a line.
    const std::map<std::string, std::function<void(std::istream&)>> m_calls{
        {"network", [this](auto& words) { Set(words, &QbbHelper::SetNetworkAttribute); }},
        {"host", [this](auto& words) { Set(words, &QbbHelper::SetHostAttribute); }},
        {"switch", [this](auto& words) { Set(words, &QbbHelper::SetSwitchAttribute); }},
        {"fast-cnp-host", [this](auto& words) { Set(words, &QbbHelper::SetFastCnpHostAttribute); }},
        {"fast-cnp-switch",
         [this](auto& words) { Set(words, &QbbHelper::SetFastCnpSwitchAttribute); }},
        {"install", [this](auto& words) { Install(words); }},
        {"link",
         [this](auto& words) {
             const Ptr<Node> a = NextNode(words);
             const Ptr<Node> b = NextNode(words);
             const DataRate rate(Word(words));
             m_link = m_helper.Link(a, b, rate, Time(Word(words)));
         }},
        {"loss",
         [this](auto& words) {
             const double probability = std::stod(Word(words));
             m_helper.SetLoss(m_link, probability, Number(words));
         }},
        {"node",
         [this](auto& words) {
             const Ptr<QbbNode> node = m_helper.GetNode(NextNode(words));
             const std::string attribute = Word(words);
             node->SetAttribute(attribute, Rest(words));
         }},
        {"border",
         [this](auto& words) {
             const Ptr<Node> node = NextNode(words);
             m_helper.SetFastCnpBorder(node, NextNode(words));
         }},
        {"start", [this](auto&) { m_helper.Start(); }},
        {"flow", [this](auto& words) { AddFlow(words); }},
        {"down", [this](auto& words) { ChangeLink(words, false); }},
        {"up", [this](auto& words) { ChangeLink(words, true); }},
        {"attack", [this](auto& words) { Attack(words); }},
    };
};

int
main(int argc, char* argv[])
{
    std::string list;
    Time stop = MilliSeconds(1);
    bool isCanonical = true;

    CommandLine cmd(__FILE__);
    cmd.AddValue("list", "a file with a call in each line", list);
    cmd.AddValue("stop", "end of the simulation", stop);
    cmd.AddValue("canonical", "whether events are in the canonical order of files", isCanonical);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::EngineNetwork::CanonicalOrder", BooleanValue(isCanonical));

    std::ifstream file(list);
    NS_ABORT_MSG_UNLESS(file, "the file \"" << list << "\" cannot be read");
    ListedNetwork network;
    for (std::string line; std::getline(file, line);)
    {
        network.Do(line);
    }
    Simulator::Stop(stop);
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
