/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/abort.h"
#include "ns3/attack-helper.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/enum.h"
#include "ns3/global-value.h"
#include "ns3/mac64-address.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/packet.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-client-helper.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-flow-results.h"
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
 * \brief Do something that must end the program, in a process of its own.
 * \param folder where it is done: files that it may leave by names of its own are left there
 * \param misuse what to do
 * \return what the process said on standard error; without its end by abort(), how it ended
 */
std::string
AbortOf(const std::string& folder, const std::function<void()>& misuse)
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
        misuse();
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
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT
               ? said
               : "it ended with status " + std::to_string(status);
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
     * \param what what is done wrong
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
        const std::string said = AbortOf(CreateTempDirFilename(""), m_misuse);
        NS_TEST_EXPECT_MSG_NE(said.find(m_reason),
                              std::string::npos,
                              "expected \"" << m_reason << "\" in: " << said);
    }

    std::function<void()> m_misuse; //!< does it
    std::string m_reason;           //!< what the message must hold
};

TestCase*
MakeMisuseTest(const std::string& what, std::function<void()> misuse, const std::string& reason)
{
    return new MisuseTest(what, std::move(misuse), reason);
}

namespace
{

/**
 * \brief Give a network of two hosts to what needs one.
 * \param start whether it is started
 * \param misuse does something with it
 * \return a call that makes the network, and does that
 */
std::function<void()>
WithNetwork(bool start, const std::function<void(TestNetwork&)>& misuse)
{
    return [start, misuse]() {
        TestNetwork network;
        network.MakeStar(2);
        if (start)
        {
            network.helper.Start();
        }
        misuse(network);
    };
}

/**
 * \brief Start a flow from a host of one network to one of another.
 * \param network the first
 */
void
LeaveNetwork(TestNetwork& network)
{
    TestNetwork other;
    other.MakeStar(2);
    other.helper.Start();
    RdmaFlow flow;
    flow.size = 1;
    network.helper.GetHost(0)->StartFlow(other.helper.GetHost(1), flow, RdmaHost::FlowCallback());
}

/**
 * \brief Start a flow.
 * \param network its network
 * \param flow the flow
 */
void
StartFlow(TestNetwork& network, const RdmaFlow& flow)
{
    network.helper.GetHost(0)->StartFlow(network.helper.GetHost(1), flow, RdmaHost::FlowCallback());
}

/// Start a flow whose receiver answers in a priority of its own.
void
WithUnlikeAnswers()
{
    TestNetwork network;
    network.MakeStar(2);
    network.helper.GetHost(1)->SetAttribute("AckPriority", UintegerValue(5));
    network.helper.Start();
    RdmaFlow flow;
    flow.size = 1;
    StartFlow(network, flow);
}

/**
 * \param network a network
 * \return its switch
 */
Ptr<QbbSwitch>
GetSwitch(TestNetwork& network)
{
    return network.switches.Get(0)->GetObject<QbbSwitch>();
}

/**
 * \brief Start a network that has Fast CNP at one side only.
 * \param switches whether switches send notifications
 * \param hosts whether hosts accept them
 */
void
StartWithFastCnp(bool switches, bool hosts)
{
    TestNetwork network;
    network.helper.SetWireProfile("rocev2_ipv6");
    network.SetControl("hpcc_plus");
    network.helper.SetFastCnpSwitchAttribute("Enabled", BooleanValue(switches));
    network.helper.SetFastCnpHostAttribute("Enabled", BooleanValue(hosts));
    network.MakeStar(2);
    network.helper.Start();
}

/// Build a network whose hosts alone have another layout of telemetry.
void
DisagreeOnTelemetry()
{
    QbbHelper helper;
    helper.SetHostAttribute("TelemetryLayout", StringValue("paper"));
    NodeContainer hosts(2);
    NodeContainer center(1);
    helper.InstallHosts(hosts);
    helper.InstallSwitches(center);
    for (uint32_t host = 0; host < 2; ++host)
    {
        helper.Link(hosts.Get(host), center.Get(0), DataRate("100Gbps"), MicroSeconds(1));
    }
    helper.Start();
}

/// Start a network whose hosts send probes faster than links do.
void
FillLinksWithProbes()
{
    TestNetwork network;
    network.helper.SetHostAttribute("TelemetryPackets", StringValue("probes"));
    network.helper.SetHostAttribute("BaseRtt", StringValue("10ns"));
    network.MakeStar(2);
    network.helper.Start();
}

/// \return whether the program has ns-3's internet stack
bool
HasTcp()
{
    TypeId tid;
    return TypeId::LookupByNameFailSafe("ns3::TcpCongestionOps", &tid);
}

} // namespace

TestCases
MakeMisuseTests()
{
    const auto run = [](TestNetwork& network) {
        network.AddFlow(0, 1, 1000);
        Simulator::Run();
    };
    const auto end = [](TestNetwork& network) {
        Simulator::Destroy();
        network.helper.TakeLinkDown(0, 2);
    };
    RdmaFlow empty;
    RdmaFlow urgent;
    urgent.size = 1;
    urgent.priority = 8;
    RdmaFlow other;
    other.size = 1;
    other.priority = 4;
    return {
        new MisuseTest("a flow in a network that was not started",
                       WithNetwork(false, run),
                       "host 0 is not part of a running network: call QbbHelper::Start()"),
        new MisuseTest("a flow to a host of another network",
                       WithNetwork(true, LeaveNetwork),
                       ", is part of another network than host 0, which is node "),
        new MisuseTest(
            "an empty flow",
            WithNetwork(true, [empty](TestNetwork& network) { StartFlow(network, empty); }),
            "at least 1 byte"),
        new MisuseTest(
            "a flow of a priority that there is not",
            WithNetwork(true, [urgent](TestNetwork& network) { StartFlow(network, urgent); }),
            "priority 8; expected 0 to 7"),
        new MisuseTest(
            "a flow of a priority for which switches keep no memory",
            WithNetwork(true, [other](TestNetwork& network) { StartFlow(network, other); }),
            "the flow has priority 4, for which switches keep no memory; expected 4 beside 3"),
        new MisuseTest("acknowledgements of a priority for which switches keep no memory",
                       WithUnlikeAnswers,
                       "its acknowledgements have priority 5, for which switches keep no memory"),
        new MisuseTest("a frame of a priority for which switches keep no memory",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto host = network.helper.GetHost(0);
                                       QbbFrame* frame = host->NewFrame();
                                       frame->priority = 6;
                                       host->Send(frame);
                                   }),
                       "the frame has priority 6, for which switches keep no memory"),
        new MisuseTest(
            "probes that fill links",
            FillLinksWithProbes,
            "attribute BaseRtt: T is 10 ns, and probes so often would leave data no room"),
        new MisuseTest("an RdmaClient without a peer",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.hosts.Get(1)->AddApplication(
                                           CreateObject<RdmaClient>());
                                       Simulator::Run();
                                   }),
                       "has no peer: call SetPeer()"),
        new MisuseTest(
            "a link that fails before the start",
            WithNetwork(false, [](TestNetwork& network) { network.helper.TakeLinkDown(0, 2); }),
            "call QbbHelper::Start() first"),
        new MisuseTest("a link that fails after the end",
                       WithNetwork(true, end),
                       "Simulator::Destroy() has ended it"),
        new MisuseTest(
            "a link of a node that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.TakeLinkDown(0, 9); }),
            "there is no node 9 in this network, which has 3"),
        new MisuseTest(
            "a link that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.TakeLinkDown(0, 1); }),
            "there is no link from host 0 to host 1"),
        new MisuseTest("a link that comes up before it can have failed",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.TakeLinkDown(0, 2);
                                       network.helper.SetLinkUp(network.hosts.Get(0),
                                                                network.switches.Get(0));
                                   }),
                       "cannot come up +0ns after it failed; expected at least +1800ns"),
        new MisuseTest("a device of another network",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       TestNetwork other;
                                       other.MakeStar(2);
                                       network.helper.TakeLinkDown(other.links[0]);
                                   }),
                       "no link of this network ends at"),
        new MisuseTest(
            "a node by a name that none has",
            WithNetwork(true, [](TestNetwork& network) { network.helper.GetHost("nobody"); }),
            "no node has the name \"nobody\""),
        new MisuseTest("a switch for a host",
                       WithNetwork(true, [](TestNetwork& network) { network.helper.GetHost(2); }),
                       "switch 2 is no RdmaHost"),
        new MisuseTest(
            "a port that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.GetNode(0)->GetPort(1); }),
            "node 0 has no port 1; it has 1"),
        new MisuseTest(
            "a flow that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.GetHost(0)->GetFlow(7); }),
            "no flow with the queue pair 7"),
        new MisuseTest(
            "a queue of a switch's port that there is not",
            WithNetwork(true, [](TestNetwork& network) { GetSwitch(network)->GetQueuedBytes(77); }),
            "node 2 has no port 77; it has 2"),
        new MisuseTest(
            "what a port that there is not has sent",
            WithNetwork(true, [](TestNetwork& network) { GetSwitch(network)->GetSentBytes(77); }),
            "node 2 has no port 77; it has 2"),
        new MisuseTest("a queue of a switch that is no more",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto aSwitch = GetSwitch(network);
                                       Simulator::Destroy();
                                       aSwitch->GetQueuedBytes(0);
                                   }),
                       "switch 2 is no more: Simulator::Destroy() has ended it"),
        new MisuseTest(
            "a link by a place that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.SetLinks({77}, false); }),
            "there is no link 77 in this network, which has 2"),
        new MisuseTest(
            "a link that comes up and that there is not",
            WithNetwork(true, [](TestNetwork& network) { network.helper.SetLinks({77}, true); }),
            "there is no link 77 in this network, which has 2"),
        new MisuseTest(
            "a queue of a device that there is not",
            WithNetwork(true,
                        [](TestNetwork& network) { network.GetHostDevice(0)->GetQueuedBytes(8); }),
            "no queue, 8; expected 0 to 7"),
        new MisuseTest("a frame for a queue that there is not",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       QbbFrame* frame = network.helper.GetHost(0)->NewFrame();
                                       network.GetHostDevice(0)->Enqueue(frame, 9);
                                   }),
                       "no queue, 9; expected 0 to 7"),
        new MisuseTest(
            "a priority of a device that there is not",
            WithNetwork(true,
                        [](TestNetwork& network) { network.GetHostDevice(0)->GetPausedTime(9); }),
            "no priority, and no queue, 9; expected 0 to 7"),
        new MisuseTest(
            "the far end of a device without a link",
            []() { CreateObject<QbbNetDevice>()->GetPeer(); },
            "a device has no link"),
        new MisuseTest(
            "a packet by a device that is no port",
            []() { CreateObject<QbbNetDevice>()->Send(Create<Packet>(), Address(), 0x0800); },
            "a device is no port of a host or switch"),
        new MisuseTest("a device's node after the end",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto device = network.GetHostDevice(0);
                                       Simulator::Destroy();
                                       device->GetOwner();
                                   }),
                       "Simulator::Destroy() has ended the network"),
        new MisuseTest("frames counted after the end",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.GetTxFrames();
                                   }),
                       "Simulator::Destroy() has ended it"),
        new MisuseTest(
            "results of a network that was not started",
            WithNetwork(false, [](TestNetwork& network) { RdmaFlowResults(network.helper); }),
            "call QbbHelper::Start() first"),
        new MisuseTest(
            "nodes by a factory of something else",
            []() { QbbHelper().Install(NodeContainer(1), ObjectFactory("ns3::QbbNetDevice")); },
            "by a factory of a QbbNode, such as ns3::RdmaHost, not ns3::QbbNetDevice"),
        new MisuseTest(
            "nodes by a factory of nothing",
            []() { QbbHelper().Install(NodeContainer(1), ObjectFactory()); },
            "not by one without a type"),
        new MisuseTest(
            "no node as a host",
            []() { QbbHelper().InstallHosts(NodeContainer(Ptr<Node>(nullptr))); },
            "a null pointer is no node"),
        new MisuseTest(
            "no node for an application",
            []() {
                RdmaClientHelper(CreateObject<Node>()).Install(NodeContainer(Ptr<Node>(nullptr)));
            },
            "a null pointer is no node"),
        new MisuseTest("no device of a link",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.TakeLinkDown(
                                           NetDeviceContainer(Ptr<NetDevice>(nullptr)));
                                   }),
                       "a null pointer is no device"),
        new MisuseTest(
            "a peer by a name that none has",
            []() { RdmaClientHelper("zz"); },
            "no node has the name \"zz\""),
        new MisuseTest("a flow from a host to itself",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.AddFlow(1, 1, 1000);
                                       Simulator::Run();
                                   }),
                       "host 1 cannot send to itself"),
        new MisuseTest(
            "a setting by a value of a type that no setting has",
            []() { QbbHelper().SetHostAttribute("CongestionControl", EnumValue(1)); },
            "attribute CongestionControl: no setting is set by a value of this type"),
        new MisuseTest(
            "a number by such a value",
            []() { QbbHelper().SetHostAttribute("HpccEta", EnumValue(1)); },
            "attribute HpccEta: no setting is set by a value of this type"),
        new MisuseTest("a link without a rate",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       network.helper.Link(network.hosts.Get(0),
                                                           network.hosts.Get(1),
                                                           DataRate(0),
                                                           Time(0));
                                   }),
                       "above 0 b/s"),
        new MisuseTest("a link from a node to itself",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       network.Link(network.hosts.Get(0), network.hosts.Get(0));
                                   }),
                       "cannot be linked to itself"),
        new MisuseTest("a link after the start",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.Link(network.hosts.Get(0), network.hosts.Get(1));
                                   }),
                       "cannot be linked after Start()"),
        new MisuseTest("a second start",
                       WithNetwork(true, [](TestNetwork& network) { network.helper.Start(); }),
                       "started already"),
        new MisuseTest("a loss above 1",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.SetLoss(network.links[0], 1.5, 1);
                                   }),
                       "probability 1.5; expected 0 to 1"),
        new MisuseTest("a loss at no device",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.SetLoss(NetDeviceContainer(), 0.5, 1);
                                   }),
                       "SetLoss() is given no device"),
        new MisuseTest(
            "streams that are chosen after the start",
            WithNetwork(true, [](TestNetwork& network) { network.helper.UseStreamsAlone(); }),
            "random streams are in use: choose them before Start()"),
        new MisuseTest(
            "an address of another kind",
            []() { CreateObject<QbbNetDevice>()->SetAddress(Mac64Address::Allocate()); },
            "expected a Mac48Address"),
        new MisuseTest("an application that starts before the simulation does",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.AddFlow(0, 1, 1000, NanoSeconds(-10));
                                       Simulator::Run();
                                   }),
                       "is to start at -10ns"),
        new MisuseTest(
            "an application whose flow cannot be paused",
            []() { CreateObject<RdmaClient>()->SetPriority(0); },
            "an RdmaClient cannot have the priority 0; expected 1 to 7"),
        new MisuseTest(
            "hosts and switches with different layouts of telemetry",
            DisagreeOnTelemetry,
            "switch 2 has the telemetry layout \"reference\" (multiplier 4), and host 0 \"paper\""),
        new MisuseTest(
            "a congestion control that there is not",
            []() { QbbHelper().SetHostAttribute("CongestionControl", StringValue("hpc")); },
            "the value is \"hpc\"; expected one of \"hpcc\", "),
        new MisuseTest(
            "a congestion control that may be a class",
            []() { QbbHelper().SetHostAttribute("CongestionControl", StringValue("hpc")); },
            ", or the name of a class derived from ns3::RdmaCongestionOps"),
        new MisuseTest(
            "a class that there is not",
            []() { QbbHelper().SetHostAttribute("CongestionControl", StringValue("ns3::Nope")); },
            "no class ns3::Nope is registered"),
        new MisuseTest(
            "a class of TCP that there is not, perhaps without all of TCP",
            []() {
                QbbHelper().SetHostAttribute("CongestionControl", StringValue("ns3::TcpNope"));
            },
            HasTcp() ? "no class ns3::TcpNope is registered"
                     : "those of TCP are in ns-3's internet stack, which this simulator was built "
                       "without: HPCC_TCP=1 ./hpcc build"),
        new MisuseTest(
            "a class that controls nothing",
            []() { QbbHelper().SetHostAttribute("CongestionControl", StringValue("ns3::Node")); },
            "ns3::Node is not derived from ns3::RdmaCongestionOps"),
        new MisuseTest(
            "a class that cannot be made",
            []() {
                TypeId("ns3::tests::Unmakeable").SetParent<RdmaCongestionOps>();
                QbbHelper().SetHostAttribute("CongestionControl",
                                             StringValue("ns3::tests::Unmakeable"));
            },
            "the TypeId of ns3::tests::Unmakeable has no AddConstructor()"),
        new MisuseTest(
            "a flow of no bytes",
            []() { ObjectFactory("ns3::RdmaClient", "Size", UintegerValue(0)).Create(); },
            "hpcc: attribute Size: the value is 0; expected a whole number from 1 to "),
        new MisuseTest(
            "a flow of a priority that there is not",
            []() { ObjectFactory("ns3::RdmaClient", "Priority", UintegerValue(9)).Create(); },
            "hpcc: attribute Priority: the value is 9; expected a whole number from 1 to 7"),
        new MisuseTest(
            "the same as text",
            []() { ObjectFactory("ns3::RdmaClient", "Priority", StringValue("0")).Create(); },
            "hpcc: attribute Priority: the value is 0; expected a whole number from 1 to 7"),
        new MisuseTest(
            "a layout of telemetry that there is not",
            []() { QbbHelper().SetTelemetry("papre"); },
            "\"paper\""),
        new MisuseTest("a capture of frames without bytes",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.EnablePcap("none", network.GetHostDevice(0));
                                   }),
                       "frames of the WireProfile \"reference\" have no bytes"),
        new MisuseTest("such a capture before the start",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       network.helper.EnablePcap("none", network.GetHostDevice(0));
                                       network.helper.Start();
                                   }),
                       "frames of the WireProfile \"reference\" have no bytes"),
        new MisuseTest("a capture at no device",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.EnablePcap("none", Ptr<NetDevice>(nullptr));
                                   }),
                       "a null pointer is no device"),
        new MisuseTest("a text trace of no device",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.EnableAscii("none", Ptr<NetDevice>(nullptr));
                                   }),
                       "a null pointer is no device"),
        new MisuseTest(
            "no frame",
            WithNetwork(true,
                        [](TestNetwork& network) { network.helper.GetHost(0)->Send(nullptr); }),
            "a null pointer is no frame"),
        new MisuseTest("losses after the end",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.SetLoss(network.links[0], 0.1, 1);
                                   }),
                       "Simulator::Destroy() has ended the network"),
        new MisuseTest("a start after the end",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.Start();
                                   }),
                       "the network is no more: Simulator::Destroy() has ended it"),
        new MisuseTest("a link after the end",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.Link(0, 1, DataRate("100Gbps"), Time(0));
                                   }),
                       "the network is no more: Simulator::Destroy() has ended it"),
        new MisuseTest("more hosts after the end",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       Simulator::Destroy();
                                       network.helper.InstallHosts(NodeContainer(1));
                                   }),
                       "the network is no more: Simulator::Destroy() has ended it"),
        new MisuseTest(
            "notifications that no host accepts",
            []() { StartWithFastCnp(true, false); },
            "ns3::FastCnpSwitch::Enabled has no effect: ns3::FastCnpHost::Enabled is false at all"),
        new MisuseTest(
            "hosts that wait for notifications of switches that send none",
            []() { StartWithFastCnp(false, true); },
            "ns3::FastCnpHost::Enabled has no effect: ns3::FastCnpSwitch::Enabled is false at all"),
        new MisuseTest(
            "captures of a node before its links are made",
            []() { QbbHelper().EnablePcap("capture", NodeContainer(1)); },
            "has no device yet that could be traced or captured; link it before"),
        new MisuseTest(
            "captures of all nodes before links are made",
            []() {
                const NodeContainer nodes(2);
                QbbHelper().EnablePcapAll("capture");
            },
            "no node has a device yet that could be traced or captured; link them before"),
        new MisuseTest(
            "lines of a node before its links are made",
            []() { QbbHelper().EnableAscii("lines", NodeContainer(1)); },
            "has no device yet that could be traced or captured; link it before"),
        new MisuseTest(
            "lines of all nodes before links are made",
            []() {
                const NodeContainer nodes(2);
                QbbHelper().EnableAsciiAll("lines");
            },
            "no node has a device yet that could be traced or captured; link them before"),
        new MisuseTest(
            "a capture at a node that there is not",
            WithNetwork(false,
                        [](TestNetwork& network) { network.helper.EnablePcap("capture", 7, 0); }),
            "there is no node 7 that could be traced or captured; there are 3 nodes"),
        new MisuseTest(
            "a capture at a device that there is not",
            WithNetwork(false,
                        [](TestNetwork& network) { network.helper.EnablePcap("capture", 0, 1); }),
            "node 0 has no device 1 that could be traced or captured; it has 1"),
        new MisuseTest("a text trace of a node that there is not",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       network.helper.EnableAscii("lines", 7, 0, false);
                                   }),
                       "there is no node 7 that could be traced or captured"),
        new MisuseTest("lines of a node that there is not",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       AsciiTraceHelper ascii;
                                       const auto lines = ascii.CreateFileStream("lines");
                                       network.helper.EnableAscii(lines, 7, 0);
                                   }),
                       "there is no node 7 that could be traced or captured"),
        new MisuseTest("no link that fails",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       network.helper.TakeLinkDown(NetDeviceContainer());
                                   }),
                       "a container without a device names no link"),
        new MisuseTest(
            "a border of Fast CNP after the start",
            WithNetwork(true, [](TestNetwork& network) { network.helper.SetFastCnpBorder(2, 0); }),
            "set borders before Start()"),
        new MisuseTest(
            "a border of Fast CNP where frames have no bytes",
            WithNetwork(false,
                        [](TestNetwork& network) {
                            network.helper.SetFastCnpBorder(2, 0);
                            network.helper.Start();
                        }),
            "node 2 is a border of Fast CNP (SetFastCnpBorder()), whose packets are IPv6; "
            "the wire profile is \"reference\"; expected \"rocev2_ipv6\""),
        new MisuseTest("another size of a flow that has started",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto flow = network.AddFlow(0, 1, 100'000);
                                       Simulator::Schedule(MicroSeconds(1), [flow]() {
                                           flow->SetAttribute("Size", UintegerValue(1));
                                       });
                                       Simulator::Run();
                                   }),
                       "has started: its Size cannot change any more"),
        new MisuseTest("another size of a flow whose network is no more",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto flow = network.AddFlow(0, 1, 1000);
                                       Simulator::Run();
                                       Simulator::Destroy();
                                       flow->SetSize(1);
                                   }),
                       "the flow of a disposed RdmaClient has started: its Size cannot change"),
        new MisuseTest("another peer of a flow that has started",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto flow = network.AddFlow(0, 1, 100'000);
                                       Simulator::Run();
                                       flow->SetPeer(network.hosts.Get(0));
                                   }),
                       "has started: its Peer cannot change any more"),
        new MisuseTest(
            "another order of events when there are some",
            []() {
                GlobalValue::Bind("SimulatorImplementationType",
                                  StringValue("ns3::WheelSimulatorImpl"));
                Simulator::Schedule(Time(0), []() {});
                Simulator::GetImplementation()->SetAttribute("CanonicalOrder", BooleanValue(true));
            },
            "the order of events is chosen before the first one is scheduled"),
        new MisuseTest(
            "the end of a simulation by one of its events",
            []() {
                GlobalValue::Bind("SimulatorImplementationType",
                                  StringValue("ns3::WheelSimulatorImpl"));
                Simulator::Schedule(Time(0), &Simulator::Destroy);
                Simulator::Run();
            },
            "Simulator::Destroy() is called by an event"),
        new MisuseTest(
            "an event before the begin, in canonical order",
            []() {
                Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(true));
                GlobalValue::Bind("SimulatorImplementationType",
                                  StringValue("ns3::WheelSimulatorImpl"));
                TestNetwork network;
                network.MakeStar(2);
                network.helper.Start();
                Simulator::Schedule(NanoSeconds(-10), []() {});
                Simulator::Run();
            },
            "an event was scheduled for -10 ns, before the begin of the simulation"),
        new MisuseTest("an attack that there is not",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       const auto attack =
                                           AttackHelper("forged").Install(network.hosts.Get(0),
                                                                          network.helper);
                                   }),
                       "kind: the value is \"forged\"; expected one of \"forged_fast_cnp\""),
        new MisuseTest("an attack before the start",
                       WithNetwork(false,
                                   [](TestNetwork& network) {
                                       const auto attack =
                                           AttackHelper("tampered_feedback")
                                               .Install(network.hosts.Get(0), network.helper);
                                   }),
                       "an attack comes after QbbHelper::Start()"),
        new MisuseTest("an attack by a node of another network",
                       WithNetwork(true,
                                   [](TestNetwork& network) {
                                       TestNetwork other;
                                       other.MakeStar(2);
                                       const auto attack =
                                           AttackHelper("tampered_feedback")
                                               .Install(other.hosts.Get(0), network.helper);
                                   }),
                       "is neither host nor switch of this network"),
        new MisuseTest(
            "a switch by a name that none has",
            []() { QbbHelper().InstallSwitches("nobody"); },
            "no node has the name \"nobody\""),
        new MisuseTest(
            "a scheduler for a simulator that has its own",
            []() {
                GlobalValue::Bind("SimulatorImplementationType",
                                  StringValue("ns3::WheelSimulatorImpl"));
                GlobalValue::Bind("SchedulerType", StringValue("ns3::HeapScheduler"));
                Simulator::Now();
            },
            "it cannot use ns3::HeapScheduler"),
        new MisuseTest(
            "a fault that the reference has not",
            []() { QbbHelper().SetReferenceFaults("lossy"); },
            "lossy_pfc"),
    };
}

} // namespace tests
} // namespace ns3
