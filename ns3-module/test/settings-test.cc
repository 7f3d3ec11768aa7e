/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/node.h"
#include "ns3/object-factory.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <fstream>
#include <functional>
#include <sstream>
#include <utility>

namespace ns3
{
namespace tests
{

namespace
{

/// Two hosts at a switch, without any attribute set.
struct Pair
{
    /**
     * \brief Link all, but do not start. \param rate rate of the links
     */
    void Make(const std::string& rate = "100Gbps")
    {
        hosts.Create(2);
        center.Create(1);
        helper.InstallHosts(hosts);
        helper.InstallSwitches(center);
        devices = helper.LinkAll(hosts, center.Get(0), DataRate(rate), MicroSeconds(1));
    }

    /**
     * \brief Run a flow of a million bytes from host 0 to host 1. \return its completion time
     */
    Time Run() const
    {
        auto client = CreateObject<RdmaClient>();
        client->SetPeer(hosts.Get(1));
        client->SetAttribute("Size", UintegerValue(1'000'000));
        hosts.Get(0)->AddApplication(client);
        Simulator::Stop(MilliSeconds(1));
        Simulator::Run();
        return client->GetFlow().completion;
    }

    QbbHelper helper;           //!< builds the network
    NodeContainer hosts;        //!< the hosts
    NodeContainer center;       //!< the switch
    NetDeviceContainer devices; //!< both ends of each link
};

/**
 * \brief Expect a message when a network starts.
 * \param what what is wrong
 * \param prepare sets attributes before nodes are installed
 * \param reason what the message must hold
 * \param rate rate of the links
 * \return the test
 */
TestCase*
RefuseAll(const std::string& what,
          const std::function<void(QbbHelper&)>& prepare,
          const std::string& reason,
          const std::string& rate = "100Gbps")
{
    const auto misuse = [prepare, rate]() {
        Pair network;
        prepare(network.helper);
        network.Make(rate);
        network.helper.Start();
    };
    return MakeMisuseTest(what, misuse, reason);
}

/**
 * \brief Expect a message when a network starts in which one node has an attribute of its own.
 * \param node index of the node
 * \param name the attribute
 * \param value its value
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseOne(uint32_t node,
          const std::string& name,
          const std::string& value,
          const std::string& reason)
{
    const auto misuse = [node, name, value]() {
        Pair network;
        network.Make();
        network.helper.GetNode(node)->SetAttribute(name, StringValue(value));
        network.helper.Start();
    };
    return MakeMisuseTest("node " + std::to_string(node) + " alone with " + name + " " + value,
                          misuse,
                          reason);
}

/// Start a network in which one of two switches pauses one priority more.
void
RunUnlikeSwitches()
{
    Pair network;
    network.Make();
    const NodeContainer second(1);
    network.helper.InstallSwitches(second);
    network.helper.Link(network.center.Get(0), second.Get(0), DataRate("100Gbps"), MicroSeconds(1));
    second.Get(0)->GetObject<QbbNode>()->SetAttribute("PfcPriorities", StringValue("3, 4"));
    network.helper.Start();
}

} // namespace

namespace
{

/**
 * \brief Expect a message when an attribute is set once the network has been started.
 * \param path path of the attribute, as for Config::Set()
 * \param value its value
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseLate(const std::string& path, const std::string& value, const std::string& reason)
{
    const auto misuse = [path, value]() {
        Pair network;
        network.Make();
        network.helper.Start();
        Config::Set(path, StringValue(value));
    };
    // Names of tests have no slash.
    std::string attribute = path.substr(path.rfind('$') + 1);
    attribute.replace(attribute.find('/'), 1, "::");
    return MakeMisuseTest(attribute + " after the start", misuse, reason);
}

/**
 * \brief Expect a message when the helper is told of an attribute that nothing will have.
 * \param what the attribute, and what it comes after
 * \param isStarted whether the network has been started
 * \param set sets it
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseUnused(const std::string& what,
             bool isStarted,
             const std::function<void(QbbHelper&)>& set,
             const std::string& reason)
{
    const auto misuse = [isStarted, set]() {
        Pair network;
        network.Make();
        if (isStarted)
        {
            network.helper.Start();
        }
        set(network.helper);
        network.helper.Start();
    };
    return MakeMisuseTest(what, misuse, reason);
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Attributes of nodes count as they are at the start, also what ports need of them.
 */
class LateAttributeTest : public HpccTestCase
{
  public:
    LateAttributeTest()
        : HpccTestCase("Attributes count that are set after links were made")
    {
    }

  private:
    void DoRun() override
    {
        Pair early;
        early.helper.SetWireProfile("rocev2_ipv6");
        early.Make();
        early.helper.Start();
        const Time expected = early.Run();
        Simulator::Destroy();

        Pair late;
        late.Make();
        for (uint32_t node = 0; node < 3; ++node)
        {
            late.helper.GetNode(node)->SetAttribute("WireProfile", StringValue("rocev2_ipv6"));
        }
        late.helper.Start();
        NS_TEST_EXPECT_MSG_EQ(late.Run(), expected, "the same frames");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief Networks that look odd and may start.
 */
class AcceptedSettingsTest : public HpccTestCase
{
  public:
    AcceptedSettingsTest()
        : HpccTestCase("Settings that may be")
    {
    }

  private:
    void DoRun() override
    {
        Expect("40Gbps", [](Pair& network) {
            for (uint32_t host = 0; host < 2; ++host)
            {
                network.helper.GetNode(host)->SetAttribute("CongestionControl",
                                                           StringValue("none"));
            }
            network.helper.GetNode(2)->SetAttribute("StampTelemetry", BooleanValue(false));
        });
        Expect("100Gbps", [](Pair& network) {
            network.helper.GetNode(1)->SetAttribute("TelemetryAnswer", StringValue("none"));
            network.helper.GetNode(0)->SetAttribute("Mtu", UintegerValue(4000));
        });
        // A parameter of all hosts that one of them goes by.
        Expect("100Gbps", [](Pair& network) {
            for (uint32_t host = 0; host < 2; ++host)
            {
                network.helper.GetNode(host)->SetAttribute("HpccPlusEta", DoubleValue(0.9));
            }
            network.helper.GetNode(1)->SetAttribute("CongestionControl", StringValue("hpcc_plus"));
        });
        // The value that it has.
        Expect("100Gbps", [](Pair& network) {
            network.helper.Start();
            Config::Set("/NodeList/*/$ns3::RdmaHost/HpccEta", DoubleValue(0.95));
        });
    }

    /**
     * \brief Expect that a flow finishes.
     * \param rate rate of the links
     * \param change changes attributes before the start
     */
    void Expect(const std::string& rate, const std::function<void(Pair&)>& change)
    {
        Pair network;
        network.Make(rate);
        change(network);
        if (!network.helper.IsStarted())
        {
            network.helper.Start();
        }
        NS_TEST_EXPECT_MSG_GT(network.Run(), Time(0), "the flow has not finished");
        Simulator::Destroy();
    }
};

/**
 * \ingroup hpcc
 * \brief Every attribute can be read as text, and what is refused stays refused.
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
        std::istringstream("ns3::RdmaHost[Mtu=2000|TelemetryLayout=paper]") >> factory;
        std::ostringstream text;
        text << factory;
        std::istringstream written(text.str());
        ObjectFactory again;
        written >> again;
        NS_TEST_EXPECT_MSG_EQ(written.fail(), false, "refused: " << text.str());
        const auto host = again.Create<RdmaHost>();
        NS_TEST_EXPECT_MSG_EQ(host->GetMtu(), 2000, "of the text");
        StringValue layout;
        host->GetAttribute("TelemetryLayout", layout);
        NS_TEST_EXPECT_MSG_EQ(layout.Get(), "paper", "of the text");

        std::istringstream wrong("ns3::RdmaHost[Mtu=many]");
        wrong >> factory;
        NS_TEST_EXPECT_MSG_EQ(wrong.fail(), true, "no number");

        TypeId::AttributeInformation mtu;
        RdmaHost::GetTypeId().LookupAttributeByName("Mtu", &mtu);
        const Ptr<AttributeValue> value = mtu.checker->Create();
        host->GetAttribute("Mtu", *value);
        const auto other = CreateObject<RdmaHost>();
        NS_TEST_EXPECT_MSG_EQ(other->SetAttributeFailSafe("Mtu", *value), true, "read and set");
        NS_TEST_EXPECT_MSG_EQ(other->GetMtu(), 2000, "as it was read");
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
 * \brief ns-3's seed and run change what is drawn.
 */
class SeedAndRunTest : public HpccTestCase
{
  public:
    SeedAndRunTest()
        : HpccTestCase("Losses, marks and samples follow ns-3's seed and run")
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
        Pair network;
        if (!loses)
        {
            network.helper.SetHostAttribute("CongestionControl", StringValue("hpcc_pint"));
            network.helper.SetHostAttribute("HpccPintSampleProbability", DoubleValue(0.5));
        }
        network.Make();
        if (loses)
        {
            network.helper.SetLoss(network.devices, 0.01, 7);
        }
        network.helper.Start();
        const Time completion = network.Run();
        Simulator::Destroy();
        return completion;
    }
};

/**
 * \ingroup hpcc
 * \brief A scenario file decides alone.
 */
class FileDecidesTest : public HpccTestCase
{
  public:
    FileDecidesTest()
        : HpccTestCase("Defaults that a scenario would not look at are refused")
    {
    }

  private:
    void DoRun() override
    {
        const std::string config = CreateTempDirFilename("file.toml");
        std::ofstream(config)
            << "[run]\nstop = \"1ms\"\n[topology]\nkind = \"star\"\nhosts = 2\n"
               "rate = \"100Gbps\"\ndelay = \"1us\"\n[[traffic]]\nkind = \"flow\"\n"
               "src = 0\ndst = 1\nsize = 1000\n";
        NS_TEST_EXPECT_MSG_EQ(HpccScenarioHelper().Load(config, {}), true, "the file alone");
        Config::SetDefault("ns3::RdmaHost::HpccEta", DoubleValue(0.5));
        NS_TEST_EXPECT_MSG_EQ(HpccScenarioHelper().Load(config, {}), false, "with a default");
        Config::SetDefault("ns3::RdmaHost::HpccEta", DoubleValue(0.95));
        NS_TEST_EXPECT_MSG_EQ(HpccScenarioHelper().Load(config, {}), true, "with the same again");
        Config::SetDefault("ns3::QbbSwitch::Ecn", BooleanValue(false));
        NS_TEST_EXPECT_MSG_EQ(HpccScenarioHelper().Load(config, {}), false, "of switches");
    }
};

namespace
{

/**
 * \brief Expect a message when ECN thresholds are set.
 * \param what what is wrong
 * \param set sets them in a network that is not started, and starts it
 * \param reason what the message must hold
 * \return the test
 */
TestCase*
RefuseThresholds(const std::string& what,
                 const std::function<void(QbbHelper&)>& set,
                 const std::string& reason)
{
    const auto misuse = [set]() {
        Pair network;
        network.Make();
        set(network.helper);
        network.helper.Start();
    };
    return MakeMisuseTest(what, misuse, reason);
}

} // namespace

TestCases
MakeSettingsTests()
{
    const DataRate rate("100Gbps");
    const auto ofSwitches = [](const std::string& name, const std::string& value) {
        return [name, value](QbbHelper& helper) {
            helper.SetSwitchAttribute(name, StringValue(value));
        };
    };
    const auto ofHosts = [](const std::string& name, const std::string& value) {
        return
            [name, value](QbbHelper& helper) { helper.SetHostAttribute(name, StringValue(value)); };
    };
    const auto withoutTimeout = [](const std::string& name, const std::string& value) {
        return [name, value](QbbHelper& helper) {
            helper.SetHostAttribute("Timeout", StringValue("0s"));
            helper.SetHostAttribute(name, StringValue(value));
        };
    };
    const std::string settled = "it has been taken over, by QbbHelper::Start()";
    const std::string seal = "000102030405060708090a0b0c0d0e0f";
    return {
        new LateAttributeTest,
        new AcceptedSettingsTest,
        new AttributeTextTest,
        new SeedAndRunTest,
        new FileDecidesTest,
        RefuseThresholds(
            "a lower threshold above the upper one",
            [rate](QbbHelper& helper) { helper.SetEcnThreshold(rate, 2, 1, 0.5); },
            "kmin is 2 bytes, more than kmax, 1"),
        RefuseThresholds(
            "a probability above 1",
            [rate](QbbHelper& helper) { helper.SetEcnThreshold(rate, 1, 2, 7.5); },
            "pmax is 7.5; expected 0 to 1"),
        RefuseThresholds(
            "thresholds of a rate that no port has",
            [](QbbHelper& helper) { helper.SetEcnThreshold(DataRate("1Gbps"), 1, 2, 1); },
            "there are thresholds for 1Gbps, but no switch has such a port; expected 100Gbps"),
        RefuseThresholds(
            "thresholds after the start",
            [rate](QbbHelper& helper) {
                helper.Start();
                helper.SetEcnThreshold(rate, 1, 2, 1);
            },
            "the ECN thresholds are in use: set them before Start()"),
        RefuseThresholds(
            "a stream of marks after the start",
            [](QbbHelper& helper) {
                helper.Start();
                helper.SetEcnStream(7);
            },
            "the stream of ECN marking is in use: set it before Start()"),
        RefuseAll(
            "thresholds before switches",
            [rate](QbbHelper& helper) { helper.SetEcnThreshold(rate, 1, 2, 1); },
            "there is no switch yet"),
        RefuseAll(
            "a rate as an attribute of devices",
            [rate](QbbHelper& helper) {
                helper.SetDeviceAttribute("DataRate", DataRateValue(rate));
            },
            "which Link() is told"),
        RefuseAll(
            "a rate that telemetry cannot tell",
            [](QbbHelper& helper) { helper.SetTelemetry("paper"); },
            "attribute TelemetryLayout: the link from 0 to 2 runs at 160Gbps, which records of "
            "telemetry.layout = \"paper\" cannot tell: they know 10Gbps, ",
            "160Gbps"),
        RefuseAll("a lowest rate above that of links",
                  ofHosts("HpccMinRate", "101Gbps"),
                  "host 0: the lowest sending rate is 101Gbps; expected more than 0 and at most "
                  "100Gbps"),
        RefuseAll("a buffer below its headroom",
                  ofSwitches("Buffer", "10KB"),
                  "the buffer has 10000 bytes, but the headroom and reserve of switch 2's ports "
                  "take 83192"),
        RefuseAll(
            "a buffer below the headroom of two priorities",
            [](QbbHelper& helper) {
                helper.SetSwitchAttribute("PfcPriorities", StringValue("3, 4"));
                helper.SetSwitchAttribute("Buffer", StringValue("166383"));
            },
            "take 166384, 83192 for each of the priorities 3, 4; expected at least that much"),
        RefuseAll("what is no priority that PFC pauses",
                  ofSwitches("PfcPriorities", "0, 3"),
                  "\"0, 3\"; expected priorities from 1 to 7"),
        RefuseAll(
            "priorities of a lossy buffer",
            [](QbbHelper& helper) {
                helper.SetSwitchAttribute("Mode", StringValue("lossy"));
                helper.SetSwitchAttribute("PfcPriorities", StringValue("3"));
            },
            "attribute PfcPriorities has no effect"),
        MakeMisuseTest("switches that pause other priorities",
                       RunUnlikeSwitches,
                       "a switch has 3, 4, and another one 3; expected the same"),
        RefuseAll("headroom above the buffer",
                  ofSwitches("Headroom", "20MB"),
                  "the buffer has 33554432 bytes, but"),
        RefuseAll("headroom below a packet",
                  ofSwitches("Headroom", "0"),
                  "attribute Headroom: headroom is 0 bytes, less than a packet"),
        RefuseAll(
            "a lossy buffer below two packets",
            [](QbbHelper& helper) {
                helper.SetSwitchAttribute("Mode", StringValue("lossy"));
                helper.SetSwitchAttribute("Buffer", StringValue("1KB"));
            },
            "one queue may hold 500, less than two packets"),
        RefuseAll("alpha of a lossless buffer",
                  ofSwitches("Alpha", "2"),
                  "switch 2: attribute Alpha has no effect: alpha belongs to mode = \"lossy\""),
        RefuseAll(
            "a pause threshold of a lossy buffer",
            [](QbbHelper& helper) {
                helper.SetSwitchAttribute("Mode", StringValue("lossy"));
                helper.SetSwitchAttribute("PauseThreshold", StringValue("1MB"));
            },
            "attribute PauseThreshold has no effect"),
        RefuseAll("a chunk of those who do not return to its start",
                  ofHosts("Chunk", "8000"),
                  "host 0: attribute Chunk has no effect: chunk belongs to recovery = "
                  "\"go_back_zero\", or to an ack_interval above 1"),
        RefuseAll("a short timeout without any",
                  withoutTimeout("TimeoutLow", "1us"),
                  "attribute TimeoutLow has no effect: timeout_low belongs to a timeout above 0"),
        RefuseAll("packets of a short timeout without any",
                  withoutTimeout("TimeoutLowPackets", "5"),
                  "attribute TimeoutLowPackets has no effect"),
        RefuseAll("round-trip times of a timeout without any",
                  withoutTimeout("TimeoutBaseRtts", "5"),
                  "attribute TimeoutBaseRtts has no effect"),
        RefuseAll("a timeout that would not back off without any",
                  withoutTimeout("TimeoutBackOff", "false"),
                  "attribute TimeoutBackOff has no effect"),
        RefuseAll("every nth packet where all collect",
                  ofHosts("TelemetryEvery", "4"),
                  "host 0: attribute TelemetryEvery has no effect"),
        RefuseAll("hops of a layout that has no choice",
                  ofHosts("TelemetryHops", "4"),
                  "host 0: attribute TelemetryHops has no effect"),
        RefuseAll(
            "a queue that does not trigger",
            [](QbbHelper& helper) { helper.SetFastCnpSwitchAttribute("Bound", DoubleValue(2)); },
            "switch 2: attribute Bound has no effect"),
        RefuseAll("a parameter of a congestion control that no host runs",
                  ofHosts("DcqcnGain", "0.5"),
                  "host 0: attribute DcqcnGain has no effect: no host of this network has the "
                  "CongestionControl \"dcqcn\""),
        RefuseAll(
            "such a parameter by default",
            [](QbbHelper&) { Config::SetDefault("ns3::RdmaHost::SwiftBeta", DoubleValue(0.5)); },
            "attribute SwiftBeta has no effect"),
        RefuseAll(
            "a parameter of the control that another one has replaced",
            [](QbbHelper& helper) {
                helper.SetHostAttribute("HpccEta", DoubleValue(0.9));
                helper.SetHostAttribute("CongestionControl", StringValue("dcqcn"));
            },
            "attribute HpccEta has no effect"),
        RefuseLate("/NodeList/*/$ns3::RdmaHost/HpccEta", "0.5", settled),
        RefuseLate("/NodeList/*/$ns3::RdmaHost/Mtu", "4000", settled),
        RefuseLate("/NodeList/*/$ns3::QbbSwitch/Ecn", "false", settled),
        RefuseLate("/NodeList/*/$ns3::FastCnpHost/Enabled", "true", settled),
        RefuseLate("/NodeList/*/$ns3::FastCnpSwitch/Enabled", "true", settled),
        RefuseLate("/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/DataRate",
                   "25Gbps",
                   "cannot change from 100000000000bps to 25000000000bps"),
        RefuseLate("/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/Mtu",
                   "9000",
                   "the Mtu of a device: set it before QbbHelper::Start()"),
        RefuseLate("/ChannelList/*/$ns3::QbbChannel/Delay",
                   "50us",
                   "cannot change from +1000ns to +50000ns"),
        RefuseUnused("an attribute of hosts after them",
                     false,
                     ofHosts("CongestionControl", "dcqcn"),
                     "attribute CongestionControl has no effect: it was set after all hosts were "
                     "installed; set it before InstallHosts()"),
        RefuseUnused("an attribute of switches after them",
                     false,
                     ofSwitches("Ecn", "false"),
                     "attribute Ecn has no effect: it was set after all switches were installed"),
        RefuseUnused(
            "an attribute of devices after them",
            false,
            [](QbbHelper& helper) { helper.SetDeviceAttribute("Mtu", UintegerValue(9000)); },
            "attribute Mtu has no effect: it was set after all links were made"),
        RefuseUnused(
            "a layout of telemetry after hosts",
            false,
            [](QbbHelper& helper) { helper.SetTelemetry("paper"); },
            "attribute TelemetryLayout has no effect"),
        RefuseUnused("an attribute of hosts after the start",
                     true,
                     ofHosts("CongestionControl", "dcqcn"),
                     "attribute CongestionControl is set after Start()"),
        RefuseOne(1,
                  "WireProfile",
                  "rocev2_ipv6",
                  "host 1 has WireProfile rocev2_ipv6, and host 0 reference; expected the same"),
        RefuseOne(2, "WirePreambleAndGap", "true", "switch 2 has WirePreambleAndGap true"),
        RefuseOne(0, "WireExactRates", "true", "host 1 has WireExactRates false, and host 0 true"),
        RefuseOne(2, "ReferenceFaults", "lossy_pfc", "switch 2 has ReferenceFaults lossy_pfc"),
        RefuseOne(1, "TelemetryFeedback", "notification", "host 1 has TelemetryFeedback"),
        RefuseOne(1, "TelemetrySeal", seal, "host 1 has TelemetrySeal " + seal + ", and host 0"),
        RefuseOne(1, "Recovery", "selective_repeat", "host 1 has Recovery selective_repeat"),
        RefuseOne(1, "AckEvery", "64KB", "host 1 has AckEvery 64KB, and host 0 0B"),
    };
}

} // namespace tests
} // namespace ns3
