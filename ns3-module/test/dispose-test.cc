/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Nodes and devices that a program disposes of in the middle of a run.
#include "fast-cnp-network.h"
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/node.h"
#include "ns3/qbb-net-device.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <functional>

namespace ns3
{
namespace tests
{

namespace
{

/**
 * \brief Dispose of an object as soon as a trace source tells of anything.
 * \param source whose source it is
 * \param name the source
 * \param object the object
 */
template <class... Told>
void
DisposeUpon(Ptr<Object> source, const std::string& name, Ptr<Object> object)
{
    // A pointer that counts would keep the object alive by a source of its own.
    const std::function<void(Told...)> told = [kept = PeekPointer(object)](Told...) {
        kept->Dispose();
    };
    source->TraceConnectWithoutContext(name, Callback<void, Told...>(told));
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Hosts that a program disposes of in the middle of a run.
 */
class DisposedHostTest : public HpccTestCase
{
  public:
    DisposedHostTest()
        : HpccTestCase("A host that is disposed of in mid-run falls silent, and the run goes on")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            // The sender, with timers and a wake-up that wait, and the receiver.
            for (const uint32_t host : {0, 1})
            {
                Run([host](TestNetwork& network) {
                    Simulator::Schedule(MicroSeconds(30), &Node::Dispose, network.hosts.Get(host));
                });
            }
            for (const std::string name : {"FlowStart", "Control"})
            {
                Run([name](TestNetwork& network) { DisposeUponFlow(network.hosts.Get(0), name); });
            }
            for (const std::string name : {"TxBegin", "RxEnd", "Dequeue"})
            {
                Run([name](TestNetwork& network) {
                    const auto told = [device = network.GetHostDevice(0), name]() {
                        DisposeUpon<const QbbFrame&>(device, name, device->GetNode());
                    };
                    Simulator::Schedule(MicroSeconds(30), told);
                });
            }
            RunApplication("FlowStart");
            RunApplication("FlowFinish");
        }
        RunBeforeStart("ns3::DefaultSimulatorImpl", false);
        RunBeforeStart("ns3::WheelSimulatorImpl", true);
    }

    /**
     * \brief Dispose of a host as soon as it tells of anything.
     * \param node the host
     * \param name a trace source of flows or of their control
     */
    static void DisposeUponFlow(Ptr<Node> node, const std::string& name)
    {
        const Ptr<RdmaHost> host = node->GetObject<RdmaHost>();
        if (name == "Control")
        {
            DisposeUpon<const RdmaFlow&, const RdmaControl&>(host, name, node);
        }
        else
        {
            DisposeUpon<const RdmaFlow&>(host, name, node);
        }
    }

    /**
     * \brief Run a flow that loses one of its hosts, beside one that does not; a link fails
     * meanwhile, upon which all hosts look for new routes.
     * \param dispose plans the end of a host
     */
    void Run(const std::function<void(TestNetwork&)>& dispose)
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("200us"));
        network.MakeStar(5);
        network.helper.Start();
        const auto lost = network.hosts.Get(0)->GetObject<RdmaHost>();
        bool isFinished = false;
        const std::function<void(const RdmaFlow&)> done = [&](const RdmaFlow&) {
            isFinished = true;
        };
        dispose(network);
        Simulator::Schedule(NanoSeconds(1), [&]() {
            RdmaFlow flow;
            flow.size = 10'000'000;
            lost->StartFlow(network.hosts.Get(1)->GetObject<RdmaHost>(),
                            flow,
                            Callback<void, const RdmaFlow&>(done));
        });
        const auto other = network.AddFlow(2, 3, 1'000'000);
        Simulator::Schedule(MicroSeconds(50), [&]() { network.helper.TakeLinkDown(4, 5); });
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(other->IsFinished(), true, "the other flow");
        NS_TEST_EXPECT_MSG_EQ(isFinished, false, "the flow without its host");
        Simulator::Destroy();
    }

    /**
     * \brief Dispose of a host before its application has had its turn to begin.
     * \param simulator the simulator
     * \param canonical whether in the canonical order
     */
    void RunBeforeStart(const std::string& simulator, bool canonical)
    {
        Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(canonical));
        UseSimulator(simulator);
        TestNetwork network;
        network.MakeStar(4);
        network.helper.Start();
        Simulator::Schedule(Time(0), &Node::Dispose, network.hosts.Get(0));
        const auto lost = network.AddFlow(0, 1, 100'000);
        const auto other = network.AddFlow(2, 3, 100'000);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(lost->IsFinished(), false, "the flow without its host");
        NS_TEST_EXPECT_MSG_EQ(other->IsFinished(), true, "the other flow");
        Simulator::Destroy();
        Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(false));
    }

    /**
     * \brief Dispose of a host when the flow of its application begins, or has finished. Nobody
     * else keeps the application.
     * \param name the trace source that tells
     */
    void RunApplication(const std::string& name)
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("200us"));
        network.MakeStar(4);
        network.helper.Start();
        network.AddFlow(0, 1, 100'000);
        const auto other = network.AddFlow(2, 3, 1'000'000);
        DisposeUponFlow(network.hosts.Get(0), name);
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(other->IsFinished(), true, "the other flow");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief The same of switches, and of single devices.
 */
class DisposedSwitchTest : public HpccTestCase
{
  public:
    DisposedSwitchTest()
        : HpccTestCase(
              "A switch or a device that is disposed of in mid-run takes its frames along, "
              "and the run goes on")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            Run([](TestNetwork& network, Ptr<QbbNetDevice>) {
                Simulator::Schedule(MicroSeconds(30), &Node::Dispose, network.switches.Get(0));
            });
            Run([](TestNetwork&, Ptr<QbbNetDevice> port) {
                Simulator::Schedule(MicroSeconds(30), &QbbNetDevice::Dispose, port);
            });
            for (const std::string name : {"TxBegin", "RxEnd", "Enqueue", "Dequeue"})
            {
                Run([name](TestNetwork&, Ptr<QbbNetDevice> port) {
                    Simulator::Schedule(MicroSeconds(30), [port, name]() {
                        DisposeUpon<const QbbFrame&>(port, name, port->GetNode());
                    });
                });
                Run([name](TestNetwork&, Ptr<QbbNetDevice> port) {
                    Simulator::Schedule(MicroSeconds(30), [port, name]() {
                        DisposeUpon<const QbbFrame&>(port, name, port);
                    });
                });
            }
            // Frames wait for the link of that port as it fails.
            Run(
                [](TestNetwork&, Ptr<QbbNetDevice> port) {
                    DisposeUpon<const QbbFrame&>(port, "LinkDrop", port->GetNode());
                },
                2);
            Run(
                [](TestNetwork&, Ptr<QbbNetDevice> port) {
                    DisposeUpon<const QbbFrame&>(port, "LinkDrop", port);
                },
                2);
            Run(
                [](TestNetwork&, Ptr<QbbNetDevice> port) {
                    port->AddLinkChangeCallback(MakeCallback(&Node::Dispose, port->GetNode()));
                },
                2);
        }
    }

    /**
     * \brief Two flows meet at the only switch, which goes, or its port to their receiver; a link
     * fails meanwhile.
     * \param dispose plans the end of the switch, or of that port
     * \param failing the host whose link fails
     */
    void Run(const std::function<void(TestNetwork&, Ptr<QbbNetDevice>)>& dispose,
             uint32_t failing = 4)
    {
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("200us"));
        network.MakeStar(5);
        network.helper.Start();
        dispose(network, network.switches.Get(0)->GetObject<QbbSwitch>()->GetPort(2));
        const auto first = network.AddFlow(0, 2, 10'000'000);
        const auto second = network.AddFlow(1, 2, 10'000'000);
        Simulator::Schedule(MicroSeconds(50), [&]() { network.helper.TakeLinkDown(failing, 5); });
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(first->IsFinished() || second->IsFinished(), false, "without a way");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief The same upon what the parts of a node that do Fast CNP tell of.
 */
class DisposedUponFastCnpTest : public HpccTestCase
{
  public:
    DisposedUponFastCnpTest()
        : HpccTestCase("A switch or a host that is disposed of as it notifies, or is notified")
    {
    }

  private:
    void DoRun() override
    {
        for (const std::string simulator : {"ns3::DefaultSimulatorImpl", "ns3::WheelSimulatorImpl"})
        {
            UseSimulator(simulator);
            Run([](Congested& congested) {
                DisposeUpon<const QbbFrame&>(congested.Agent(),
                                             "Sent",
                                             congested.network.switches.Get(0));
            });
            Run([](Congested& congested) {
                DisposeUpon<const QbbFrame&, const std::string&>(congested.Agent(),
                                                                 "Withheld",
                                                                 congested.network.switches.Get(0));
            });
            Run([](Congested& congested) {
                DisposeUpon<const QbbFrame&, uint32_t>(congested.HostAgent(0),
                                                       "Accepted",
                                                       congested.network.hosts.Get(0));
            });
        }
    }

    /**
     * \brief Run flows that meet at a switch which notifies their senders.
     * \param dispose plans the end of the switch, or of the first host
     */
    void Run(const std::function<void(Congested&)>& dispose)
    {
        Congested congested;
        congested.Enable().Build();
        congested.network.helper.Start();
        dispose(congested);
        const auto lost = congested.network.AddFlow(0, SENDERS, SIZE);
        for (uint32_t sender = 1; sender < SENDERS; ++sender)
        {
            congested.network.AddFlow(sender, SENDERS, SIZE);
        }
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(lost->IsFinished(), false, "a flow without its host, or its way");
        Simulator::Destroy();
    }
};

TestCases
MakeDisposeTests()
{
    return {new DisposedHostTest, new DisposedSwitchTest, new DisposedUponFastCnpTest};
}

} // namespace tests
} // namespace ns3
