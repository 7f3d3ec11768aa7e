/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// How settings of the core, and ns-3's seed, are reached from programs.
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/object-factory.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <sstream>

namespace ns3
{
namespace tests
{

/**
 * \ingroup hpcc
 * \brief Attributes of all kinds are set and read as text, also by factories.
 */
class AttributeTextTest : public HpccTestCase
{
  public:
    AttributeTextTest()
        : HpccTestCase("Attributes as text")
    {
    }

  private:
    void DoRun() override
    {
        CheckValues();
        CheckFactory();
    }

    /// A factory is read from a text with attributes, and from that which ns-3 writes for it.
    void CheckFactory()
    {
        ObjectFactory factory;
        std::istringstream("ns3::EngineNetwork[Mtu=2000|TelemetryLayout=paper]") >> factory;
        std::ostringstream text;
        text << factory;
        std::istringstream written(text.str());
        ObjectFactory again;
        written >> again;
        NS_TEST_EXPECT_MSG_EQ(written.fail(), false, "refused: " << text.str());
        const auto network = again.Create<EngineNetwork>();
        UintegerValue mtu;
        network->GetAttribute("Mtu", mtu);
        NS_TEST_EXPECT_MSG_EQ(mtu.Get(), 2000, "of the text");
        StringValue layout;
        network->GetAttribute("TelemetryLayout", layout);
        NS_TEST_EXPECT_MSG_EQ(layout.Get(), "paper", "of the text");

        std::istringstream wrong("ns3::EngineNetwork[Mtu=many]");
        wrong >> factory;
        NS_TEST_EXPECT_MSG_EQ(wrong.fail(), true, "no number");
    }

    /// Values of all kinds are set and read as text.
    void CheckValues()
    {
        const auto host = CreateObject<RdmaHost>();
        for (const std::string text : {"", "3:3000, 4:1000, 5:strict"})
        {
            NS_TEST_EXPECT_MSG_EQ(host->SetAttributeFailSafe("Classes", StringValue(text)),
                                  true,
                                  "refused: " << text);
            StringValue read("other");
            host->GetAttribute("Classes", read);
            NS_TEST_EXPECT_MSG_EQ(read.Get(), text, "the classes as text");
        }
        for (const std::string text : {"1.5ns", "10", "fast", "-1us"})
        {
            NS_TEST_EXPECT_MSG_EQ(host->SetAttributeFailSafe("NackInterval", StringValue(text)),
                                  false,
                                  "accepted: " << text);
        }
        // As ns-3 writes times.
        for (const std::string text : {"+1e+06ns", "+1000000ns", "1ms"})
        {
            NS_TEST_EXPECT_MSG_EQ(host->SetAttributeFailSafe("NackInterval", StringValue(text)),
                                  true,
                                  "refused: " << text);
            TimeValue read;
            host->GetAttribute("NackInterval", read);
            NS_TEST_EXPECT_MSG_EQ(read.Get(), MilliSeconds(1), text);
        }
    }
};

/**
 * \ingroup hpcc
 * \brief Attributes that are set by ns3::Config, and at nodes until the start, have an effect.
 */
class AttributeEffectTest : public HpccTestCase
{
  public:
    AttributeEffectTest()
        : HpccTestCase("Config and nodes reach attributes of the core")
    {
    }

  private:
    void DoRun() override
    {
        const Time usual = RunTwoFlows();
        const Time alone = RunTwoFlows("0.5");
        Config::SetDefault("ns3::RdmaHost::HpccEta", DoubleValue(0.5));
        const Time careful = RunTwoFlows();
        NS_TEST_EXPECT_MSG_GT(careful, usual, "a lower target must cost time");
        NS_TEST_EXPECT_MSG_EQ(careful, alone, "set at each node, after links were made");
        Config::SetDefault("ns3::EngineNetwork::Mtu", UintegerValue(250));
        NS_TEST_EXPECT_MSG_GT(RunTwoFlows(), careful, "headers of small packets must cost time");
    }

    /**
     * \brief Two flows to one host.
     * \param eta HPCC's target at all hosts; as by default if empty
     * \return completion time of the second
     */
    static Time RunTwoFlows(const std::string& eta = "")
    {
        TestNetwork network;
        network.MakeStar(3);
        for (uint32_t host = 0; host < 3 && !eta.empty(); ++host)
        {
            network.helper.GetHost(host)->SetAttribute("HpccEta", StringValue(eta));
        }
        network.helper.Start();
        network.AddFlow(0, 2, 200'000);
        const auto flow = network.AddFlow(1, 2, 200'000);
        Simulator::Run();
        Simulator::Destroy();
        return flow->GetFlow().completion;
    }
};

/**
 * \ingroup hpcc
 * \brief ns-3's seed and run change what is drawn.
 */
class SeedAndRunTest : public HpccTestCase
{
  public:
    SeedAndRunTest()
        : HpccTestCase("Losses and samples follow ns-3's seed and run")
    {
    }

  private:
    void DoRun() override
    {
        for (const bool loses : {true, false})
        {
            const Time first = Run(loses, 1, 1);
            NS_TEST_EXPECT_MSG_EQ(Run(loses, 1, 1), first, "the same again");
            NS_TEST_EXPECT_MSG_NE(Run(loses, 1, 2), first, "another run");
            NS_TEST_EXPECT_MSG_NE(Run(loses, 2, 1), first, "another seed");
        }
    }

    void DoTeardown() override
    {
        RngSeedManager::SetSeed(1);
        RngSeedManager::SetRun(1);
        HpccTestCase::DoTeardown();
    }

    /**
     * \brief Run a flow.
     * \param loses whether a frame in a hundred is lost; if not, PINT draws
     * \param seed ns-3's seed
     * \param run ns-3's run
     * \return its completion time
     */
    static Time Run(bool loses, uint32_t seed, uint64_t run)
    {
        RngSeedManager::SetSeed(seed);
        RngSeedManager::SetRun(run);
        TestNetwork network;
        network.helper.SetHostAttribute("Timeout", StringValue("100us"));
        if (!loses)
        {
            network.SetControl("hpcc_pint");
            network.helper.SetTelemetry("pint");
            network.helper.SetHostAttribute("HpccPintSampleProbability", DoubleValue(0.5));
        }
        network.MakeStar(2);
        if (loses)
        {
            network.helper.SetLoss(network.links[1], 0.01, 7);
        }
        network.helper.Start();
        const auto flow = network.AddFlow(0, 1, 1'000'000);
        Simulator::Run();
        Simulator::Destroy();
        return flow->GetFlow().completion;
    }
};

/**
 * \ingroup hpcc
 * \brief Nodes that are installed together, of which most are copies, have all the attributes that
 * the first one has, and each its own.
 */
class AlikeTest : public HpccTestCase
{
  public:
    AlikeTest()
        : HpccTestCase("Nodes installed together have the same attributes, each its own; so have "
                       "the ends of a link")
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::RdmaHost::HpccEta", DoubleValue(0.9));
        Config::SetDefault("ns3::FastCnpSwitch::PortBurst", UintegerValue(9));
        QbbHelper network;
        network.SetHostAttribute("AckPriority", UintegerValue(5));
        network.SetDeviceAttribute("Mtu", UintegerValue(9000));
        NodeContainer hosts(3);
        NodeContainer switches(2);
        network.InstallHosts(hosts);
        network.InstallSwitches(switches);
        const auto last = hosts.Get(2)->GetObject<RdmaHost>();
        CheckAlike(*hosts.Get(0)->GetObject<RdmaHost>(), *last);
        CheckAlike(*hosts.Get(0)->GetObject<FastCnpHost>(), *last->GetObject<FastCnpHost>());
        CheckAlike(*switches.Get(0)->GetObject<QbbSwitch>(),
                   *switches.Get(1)->GetObject<QbbSwitch>());
        const auto agent = switches.Get(1)->GetObject<FastCnpSwitch>();
        CheckAlike(*switches.Get(0)->GetObject<FastCnpSwitch>(), *agent);
        NS_TEST_EXPECT_MSG_EQ(Read(*last, "HpccEta"), "0.9", "ns-3's default");
        NS_TEST_EXPECT_MSG_EQ(Read(*last, "AckPriority"), "5", "the helper's");
        NS_TEST_EXPECT_MSG_EQ(Read(*agent, "PortBurst"), "9", "ns-3's default");
        last->SetAttribute("HpccEta", DoubleValue(0.8));
        NS_TEST_EXPECT_MSG_EQ(Read(*hosts.Get(0)->GetObject<RdmaHost>(), "HpccEta"),
                              "0.9",
                              "not its copy's");

        const NetDeviceContainer ends =
            network.Link(hosts.Get(0), switches.Get(0), DataRate("25Gbps"), MicroSeconds(1));
        const auto end = DynamicCast<QbbNetDevice>(ends.Get(1));
        CheckAlike(*DynamicCast<QbbNetDevice>(ends.Get(0)), *end);
        NS_TEST_EXPECT_MSG_EQ(end->GetMtu(), 9000, "the helper's");
        NS_TEST_EXPECT_MSG_EQ(end->GetDataRate(), DataRate("25Gbps"), "the link's");
        NS_TEST_EXPECT_MSG_NE(end->GetAddress(), ends.Get(0)->GetAddress(), "each its own");
        Simulator::Destroy();
    }

    /**
     * \param object an object
     * \param attribute name of an attribute
     * \return its value there
     */
    static std::string Read(const Object& object, const std::string& attribute)
    {
        StringValue value;
        object.GetAttribute(attribute, value);
        return value.Get();
    }

    /**
     * \brief Compare all attributes of two objects.
     * \param first one
     * \param other the other
     */
    void CheckAlike(const Object& first, const Object& other)
    {
        NS_TEST_ASSERT_MSG_NE(&other, &first, "one for both");
        TypeId tid = first.GetInstanceTypeId();
        NS_TEST_EXPECT_MSG_EQ(other.GetInstanceTypeId(), tid, "the copy's type");
        for (; tid != Object::GetTypeId(); tid = tid.GetParent())
        {
            for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
            {
                const std::string name = tid.GetAttribute(i).name;
                NS_TEST_EXPECT_MSG_EQ(Read(other, name), Read(first, name), name);
            }
        }
    }
};

TestCases
MakeAttributeTests()
{
    return {new AttributeTextTest, new AttributeEffectTest, new SeedAndRunTest, new AlikeTest};
}

} // namespace tests
} // namespace ns3
