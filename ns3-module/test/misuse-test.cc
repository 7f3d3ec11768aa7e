/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What programs must not do, and the message that ends them.
#include "hpcc-tests.h"

#include "ns3/abort.h"
#include "ns3/attack-helper.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/names.h"
#include "ns3/node.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator-impl.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <array>
#include <csignal>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \brief Do something in a process of its own.
 * \param folder where it is done: files that it may leave by names of its own are left there
 * \param act what to do
 * \return what the process said on standard error, and how it ended
 */
std::pair<std::string, int>
InChild(const std::string& folder, const std::function<void()>& act)
{
    std::array<int, 2> ends{};
    NS_ABORT_MSG_IF(pipe(ends.data()) != 0, "no pipe");
    const pid_t child = fork();
    NS_ABORT_MSG_IF(child < 0, "no process");
    if (child == 0)
    {
        const rlimit noCore{0, 0};
        setrlimit(RLIMIT_CORE, &noCore);
        dup2(ends[1], STDERR_FILENO);
        if (chdir(folder.c_str()) != 0)
        {
            _exit(1);
        }
        act();
        _exit(0);
    }
    close(ends[1]);
    std::string said;
    std::array<char, 512> buffer{};
    for (ssize_t count = 0; (count = read(ends[0], buffer.data(), buffer.size())) > 0;)
    {
        said.append(buffer.data(), count);
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    return {said, status};
}

} // namespace

/**
 * \ingroup hpcc
 * \brief What a program must not do ends it with a message that says why.
 */
class MisuseTest : public HpccTestCase
{
  public:
    /**
     * \param what names the misuse
     * \param misuse does it
     * \param reason what the message must hold
     */
    MisuseTest(const std::string& what, std::function<void()> misuse, std::string reason)
        : HpccTestCase("Refused: " + what),
          m_misuse(std::move(misuse)),
          m_reason(std::move(reason))
    {
    }

  private:
    void DoRun() override
    {
        const auto [said, status] = InChild(CreateTempDirFilename(""), m_misuse);
        NS_TEST_EXPECT_MSG_EQ(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
                              true,
                              "it ended with status " << status);
        NS_TEST_EXPECT_MSG_NE(said.find(m_reason),
                              std::string::npos,
                              "expected \"" << m_reason << "\" in: " << said);
    }

    std::function<void()> m_misuse; //!< does it
    std::string m_reason;           //!< what the message must hold
};

/**
 * \ingroup hpcc
 * \brief A parameter of a congestion control that no host runs is told, and ends nothing.
 */
class IdleParameterTest : public HpccTestCase
{
  public:
    IdleParameterTest()
        : HpccTestCase("Noted: a parameter of a congestion control that no host runs")
    {
    }

  private:
    void DoRun() override
    {
        const auto act = []() {
            TestNetwork network;
            network.MakeStar(2);
            for (uint32_t host = 0; host < 2; ++host)
            {
                network.helper.GetHost(host)->SetAttribute("DcqcnGain", DoubleValue(0.5));
            }
            network.helper.Start();
        };
        const auto [said, status] = InChild(CreateTempDirFilename(""), act);
        NS_TEST_EXPECT_MSG_EQ(status, 0, "it goes on");
        const std::string note = "note: attribute DcqcnGain has no effect: no host";
        NS_TEST_EXPECT_MSG_NE(said.find(note), std::string::npos, said);
        NS_TEST_EXPECT_MSG_EQ(said.find(note), said.rfind(note), "told once: " << said);
    }
};

TestCase*
MakeMisuseTest(const std::string& what, std::function<void()> misuse, const std::string& reason)
{
    return new MisuseTest(what, std::move(misuse), reason);
}

namespace
{

/// Something done with a network of two hosts and a switch.
using Misuse = std::function<void(TestNetwork&)>;

/**
 * \brief Expect a message from what is done before a network starts, or from its start.
 * \param what names the misuse
 * \param misuse does it
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseBefore(const std::string& what, const Misuse& misuse, const std::string& reason)
{
    const auto act = [misuse]() {
        TestNetwork network;
        network.MakeStar(2);
        misuse(network);
        network.helper.Start();
    };
    return MakeMisuseTest(what, act, reason);
}

/**
 * \brief Expect a message from what is done once a network has started, or from its run.
 * \param what names the misuse
 * \param misuse does it
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseAfter(const std::string& what, const Misuse& misuse, const std::string& reason)
{
    const auto act = [misuse]() {
        TestNetwork network;
        network.MakeStar(2);
        network.helper.Start();
        misuse(network);
        Simulator::Run();
    };
    return MakeMisuseTest(what, act, reason);
}

/**
 * \brief Expect a message as an attribute is set once the network has started.
 * \param path path of the attribute, as for Config::Set()
 * \param value its value
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseLate(const std::string& path, const std::string& value, const std::string& reason)
{
    // Names of tests have no slash.
    std::string what = path.substr(path.rfind('$') + 1);
    what.replace(what.find('/'), 1, "::");
    return RefuseAfter(
        what + " after the start",
        [path, value](TestNetwork&) { Config::Set(path, StringValue(value)); },
        reason);
}

/**
 * \brief Expect a message as the congestion control of hosts is chosen.
 * \param name its name
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseControl(const std::string& name, const std::string& reason)
{
    return MakeMisuseTest(
        "congestion control " + name,
        [name]() { QbbHelper().SetHostAttribute("CongestionControl", StringValue(name)); },
        reason);
}

} // namespace

TestCases
MakeMisuseTests()
{
    const std::string settled = "it has been taken over, by QbbHelper::Start()";
    return {
        // The order of calls.
        MakeMisuseTest(
            "a flow in a network that was not started",
            []() {
                TestNetwork network;
                network.MakeStar(2);
                network.AddFlow(0, 1, 1000);
                Simulator::Run();
            },
            "host 0 is not part of a running network: call QbbHelper::Start()"),
        RefuseBefore(
            "a link that fails before the start",
            [](TestNetwork& network) { network.helper.TakeLinkDown(0, 2); },
            "call QbbHelper::Start() first"),
        RefuseAfter(
            "a second start",
            [](TestNetwork& network) { network.helper.Start(); },
            "started already"),
        RefuseAfter(
            "a link after the start",
            [](TestNetwork& network) { network.Link(network.hosts.Get(0), network.hosts.Get(1)); },
            "cannot be linked after Start()"),
        RefuseBefore(
            "a negative delay",
            [](TestNetwork& network) {
                network.helper.Link(0, 1, DataRate("100Gbps"), MicroSeconds(-1));
            },
            "the delay of a link is -1000ns; expected at least 0 ns"),
        RefuseBefore(
            "an attack before the start",
            [](TestNetwork& network) {
                const auto attack =
                    AttackHelper("tampered_feedback").Install(network.hosts.Get(0), network.helper);
            },
            "an attack comes after QbbHelper::Start()"),
        RefuseBefore(
            "an attribute of hosts after them",
            [](TestNetwork& network) {
                network.helper.SetHostAttribute("CongestionControl", StringValue("dcqcn"));
            },
            "attribute CongestionControl has no effect: it was set after all hosts were installed"),
        RefuseAfter(
            "an attribute of switches after the start",
            [](TestNetwork& network) {
                network.helper.SetSwitchAttribute("Ecn", BooleanValue(false));
            },
            "attribute Ecn is set after Start()"),
        RefuseAfter(
            "an attribute of the network after the start",
            [](TestNetwork& network) { network.helper.SetWireProfile("rocev2_ipv4"); },
            settled),
        RefuseAfter(
            "a random stream after the start",
            [](TestNetwork& network) { network.helper.AssignStreams(7); },
            "random streams are in use: choose them before Start()"),
        RefuseAfter(
            "the size of a flow under way",
            [](TestNetwork& network) {
                const Ptr<RdmaClient> client = network.AddFlow(0, 1, 1'000'000);
                Simulator::Schedule(MicroSeconds(10), [client] {
                    client->SetAttribute("Size", UintegerValue(5000));
                });
            },
            "has begun, and its attributes cannot change"),
        RefuseLate("/NodeList/*/$ns3::RdmaHost/HpccEta", "0.5", settled),
        RefuseLate("/NodeList/*/$ns3::FastCnpSwitch/PortBurst", "9", settled),
        RefuseLate("/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/DataRate",
                   "25Gbps",
                   "cannot change from 100000000000bps to 25000000000bps"),
        RefuseLate("/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/Mtu",
                   "9000",
                   "the Mtu of a device: set it before QbbHelper::Start()"),
        RefuseLate("/ChannelList/*/$ns3::QbbChannel/Delay",
                   "50us",
                   "cannot change from +1000ns to +50000ns"),
        MakeMisuseTest(
            "another order of events when there are some",
            []() {
                TestNetwork network;
                network.MakeStar(2);
                network.helper.Start();
                network.helper.GetHost(0)->GetNetwork().SetAttribute("CanonicalOrder",
                                                                     BooleanValue(true));
            },
            "the order of events is chosen before QbbHelper::Start()"),
        MakeMisuseTest(
            "another queue of events in a simulation",
            []() {
                TestNetwork network;
                network.MakeStar(2);
                network.helper.Start();
                network.AddFlow(0, 1, 1000);
                ObjectFactory factory;
                factory.SetTypeId("ns3::HeapScheduler");
                Simulator::SetScheduler(factory);
                Simulator::Run();
            },
            "do not call Simulator::SetScheduler() later"),
        // What there is not.
        RefuseAfter(
            "a node by a name that none has",
            [](TestNetwork& network) { network.helper.GetHost("nobody"); },
            "no node has the name \"nobody\""),
        RefuseAfter(
            "a node that there is not",
            [](TestNetwork& network) { network.helper.GetHost(9); },
            "there is no node 9 in this network, which has 3"),
        RefuseAfter(
            "a switch for a host",
            [](TestNetwork& network) { network.helper.GetHost(2); },
            "switch 2 is no RdmaHost"),
        RefuseAfter(
            "a link that there is not",
            [](TestNetwork& network) { network.helper.TakeLinkDown(0, 1); },
            "there is no link from host 0 to host 1"),
        RefuseAfter(
            "a port that there is not",
            [](TestNetwork& network) { network.helper.GetNode(0)->GetPort(1); },
            "node 0 has no port 1; it has 1"),
        RefuseAfter(
            "a queue of a device that there is not",
            [](TestNetwork& network) { network.GetHostDevice(0)->GetQueuedBytes(8); },
            "no queue, 8; expected 0 to 7"),
        RefuseAfter(
            "the rate of a flow that there never was",
            [](TestNetwork& network) { network.helper.GetHost(0)->GetRate(7); },
            "host 0 has had no flow with the queue pair 7"),
        RefuseAfter(
            "a node of another network",
            [](TestNetwork& network) {
                TestNetwork other;
                other.MakeStar(2);
                network.helper.GetHost(other.hosts.Get(0));
            },
            "is neither host nor switch of this network"),
        // Flows and links that cannot be.
        RefuseAfter(
            "a flow from a host to itself",
            [](TestNetwork& network) { network.AddFlow(1, 1, 1000); },
            "host 1 cannot send to itself"),
        RefuseAfter(
            "an RdmaClient without a peer",
            [](TestNetwork& network) {
                network.hosts.Get(1)->AddApplication(CreateObject<RdmaClient>());
            },
            "has no peer: call SetPeer()"),
        RefuseAfter(
            "a flow of a priority for which switches keep no memory",
            [](TestNetwork& network) {
                network.AddFlow(0, 1, 1000)->SetAttribute("Priority", UintegerValue(4));
            },
            "the flow has priority 4, for which switches keep no memory; expected 4 beside 3"),
        RefuseBefore(
            "a link without a rate",
            [](TestNetwork& network) { network.helper.Link(0, 1, DataRate(0), Time(0)); },
            "above 0 b/s"),
        RefuseAfter(
            "a link that comes up before it can have failed",
            [](TestNetwork& network) {
                network.helper.TakeLinkDown(0, 2);
                network.helper.SetLinkUp(0, 2);
            },
            "cannot come up +0ns after it failed; expected at least +1800ns"),
        RefuseAfter(
            "a capture of frames without bytes",
            [](TestNetwork& network) {
                network.helper.EnablePcap("none", network.GetHostDevice(0));
            },
            "frames of the WireProfile \"reference\" have no bytes"),
        // Settings that the core refuses.
        RefuseControl("hpc", "the value is \"hpc\"; expected one of \"hpcc\", "),
        RefuseControl("ns3::Nope", "no class ns3::Nope is registered"),
        RefuseControl("ns3::Node", "ns3::Node is not derived from ns3::RdmaCongestionOps"),
        RefuseBefore(
            "a buffer below its headroom",
            [](TestNetwork& network) {
                network.helper.GetNode(2)->SetAttribute("Buffer", StringValue("10KB"));
            },
            "the buffer has 10000 bytes, but the headroom and reserve of switch 2's ports"),
        new IdleParameterTest(),
        RefuseBefore(
            "an attribute of the network at a host",
            [](TestNetwork& network) {
                network.helper.GetHost(1)->SetAttribute("Recovery", StringValue("sack"));
            },
            "Attribute name=Recovery does not exist for this object"),
        RefuseBefore(
            "hosts that answer otherwise than others",
            [](TestNetwork& network) {
                const auto host = network.helper.GetHost(1);
                host->SetAttribute("CongestionControl", StringValue("hpcc_plus"));
                host->SetAttribute("TelemetryContent", StringValue("loads"));
            },
            "host 1: attribute TelemetryContent: host 0 answers \"records\", and this one "
            "\"loads\""),
        RefuseBefore(
            "thresholds of a rate that no port has",
            [](TestNetwork& network) {
                network.helper.SetEcnThreshold(DataRate("1Gbps"), 1, 2, 1);
            },
            "there are thresholds for 1Gbps, but no switch has such a port; expected 100Gbps"),
    };
}

} // namespace tests
} // namespace ns3
