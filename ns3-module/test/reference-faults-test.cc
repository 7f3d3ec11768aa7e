/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <string>
#include <utility>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief Acknowledgements of high priority pass the data that waits at a switch, unless switches
 * ignore it as the reference simulator's do.
 */
class AckPriorityTest : public HpccTestCase
{
  public:
    AckPriorityTest()
        : HpccTestCase("Acknowledgements travel in their own priority, in the reference simulator "
                       "in their data's")
    {
    }

  private:
    void DoRun() override
    {
        const Time right = Measure("none", 0);
        const Time fault = Measure("acks_queue_with_data", 3);
        NS_TEST_EXPECT_MSG_LT(right,
                              fault,
                              "acknowledgements that wait for no data come back sooner");
    }

    /**
     * \brief Measure a flow whose acknowledgements share a port with three other flows' data.
     * \param faults the reference simulator's faults
     * \param priority the priority in which the acknowledgements must travel
     * \return the flow's completion time
     */
    Time Measure(const std::string& faults, uint8_t priority)
    {
        TestNetwork network(faults);
        network.SetControl("none");
        network.helper.SetHostAttribute("AckPriority", UintegerValue(0));
        network.MakeStar(5);
        network.helper.Start();
        m_priority = priority;
        network.GetHostDevice(0)->TraceConnectWithoutContext(
            "RxEnd",
            MakeCallback(&AckPriorityTest::OnArrival, this));
        const auto flow = network.AddFlow(0, 1, 20'000, MicroSeconds(5));
        for (uint32_t sender = 2; sender < 5; ++sender)
        {
            network.AddFlow(sender, 0, 100'000);
        }
        Simulator::Run();
        const Time completion = flow->GetFlow().completion;
        Simulator::Destroy();
        return completion;
    }

    /**
     * \brief A frame arrives at the flow's source.
     * \param frame the frame
     */
    void OnArrival(const QbbFrame& frame)
    {
        if (frame.kind == QbbFrame::Kind::ACK)
        {
            NS_TEST_EXPECT_MSG_EQ(+frame.priority, +m_priority, "priority of an acknowledgement");
        }
    }

    uint8_t m_priority{0}; //!< in which acknowledgements must travel
};

/**
 * \ingroup hpcc
 * \brief DCQCN's receiver notifies at most once in an interval; the reference simulator's of every
 * mark.
 */
class NotificationTest : public HpccTestCase
{
  public:
    NotificationTest()
        : HpccTestCase(
              "DCQCN is notified once in an interval, in the reference simulator of every mark")
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t spaced = Count("none");
        const uint32_t each = Count("notify_every_mark");
        NS_TEST_EXPECT_MSG_GT(spaced, 0, "nobody was notified");
        NS_TEST_EXPECT_MSG_GT(each, 10 * spaced, "every mark makes many more notifications");
    }

    /**
     * \param faults the reference simulator's faults
     * \return acknowledgements with a notification
     */
    uint32_t Count(const std::string& faults)
    {
        TestNetwork network(faults);
        network.SetControl("dcqcn");
        network.helper.SetTelemetry("none");
        network.helper.SetSwitchAttribute("EcnKmin", UintegerValue(10'000));
        network.helper.SetSwitchAttribute("EcnKmax", UintegerValue(10'000));
        network.MakeStar(3);
        network.helper.Start();
        m_notified = 0;
        for (uint32_t sender = 0; sender < 2; ++sender)
        {
            network.GetHostDevice(sender)->TraceConnectWithoutContext(
                "RxEnd",
                MakeCallback(&NotificationTest::OnArrival, this));
            network.AddFlow(sender, 2, 500'000);
        }
        Simulator::Run();
        Simulator::Destroy();
        return m_notified;
    }

    /**
     * \brief A frame arrives at a source.
     * \param frame the frame
     */
    void OnArrival(const QbbFrame& frame)
    {
        m_notified += frame.kind == QbbFrame::Kind::ACK && frame.congestionEchoed;
    }

    uint32_t m_notified{0}; //!< acknowledgements with a notification
};

/**
 * \ingroup hpcc
 * \brief A PINT packet has as many bytes as its code needs; the reference simulator's one more.
 */
class PintSizeTest : public HpccTestCase
{
  public:
    PintSizeTest()
        : HpccTestCase("PINT takes one byte where one is enough, in the reference simulator two")
    {
    }

  private:
    void DoRun() override
    {
        for (const auto& [faults, size] : {std::pair("none", 1049U), std::pair("wide_pint", 1050U)})
        {
            TestNetwork network(faults);
            network.SetControl("hpcc_pint");
            network.helper.SetTelemetry("pint");
            network.MakeStar(2);
            network.helper.Start();
            m_size = 0;
            network.GetHostDevice(1)->TraceConnectWithoutContext(
                "RxEnd",
                MakeCallback(&PintSizeTest::OnData, this));
            const auto flow = network.AddFlow(0, 1, 100'000);
            Simulator::Run();
            NS_TEST_EXPECT_MSG_EQ(flow->IsFinished(), true, "the flow has not finished");
            NS_TEST_EXPECT_MSG_EQ(m_size, size, "bytes of a packet of 1000 with " << faults);
            Simulator::Destroy();
        }
    }

    /**
     * \brief A packet arrives.
     * \param frame the packet
     */
    void OnData(const QbbFrame& frame)
    {
        m_size = frame.size;
    }

    uint32_t m_size{0}; //!< bytes of the packet seen last
};

/**
 * \ingroup hpcc
 * \brief Rng is each node's own: traffic that shares nothing with a flow does not change it. In the
 * reference simulator all nodes draw from one sequence.
 */
class RngTest : public HpccTestCase
{
  public:
    RngTest()
        : HpccTestCase("What one node draws changes no other, except in the reference simulator")
    {
    }

  private:
    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Measure("none", true),
                              Measure("none", false),
                              "foreign traffic changes nothing");
        NS_TEST_EXPECT_MSG_NE(Measure("shared_rng", true),
                              Measure("shared_rng", false),
                              "foreign traffic draws from the same sequence");
    }

    /**
     * \brief Measure a flow in one of two separate networks.
     * \param faults the reference simulator's faults
     * \param foreign whether a flow is under way in the other
     * \return the flow's completion time
     */
    static Time Measure(const std::string& faults, bool foreign)
    {
        TestNetwork network(faults);
        network.SetControl("hpcc_pint");
        network.helper.SetTelemetry("pint");
        network.hosts.Create(4);
        network.switches.Create(2);
        network.helper.InstallHosts(network.hosts);
        network.helper.InstallSwitches(network.switches);
        for (uint32_t host = 0; host < 4; ++host)
        {
            network.Link(network.hosts.Get(host), network.switches.Get(host / 2));
        }
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, 500'000);
        if (foreign)
        {
            network.AddFlow(2, 3, 100'000);
        }
        Simulator::Run();
        const Time completion = flow->GetFlow().completion;
        Simulator::Destroy();
        return completion;
    }
};

TestCases
MakeFaultTests()
{
    return {new AckPriorityTest, new NotificationTest, new PintSizeTest, new RngTest};
}

} // namespace tests
} // namespace ns3
