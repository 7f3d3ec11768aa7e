/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// Load balancers that a program brings.
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/pointer.h"
#include "ns3/qbb-fabric-helper.h"
#include "ns3/qbb-load-balancer.h"
#include "ns3/qbb-switch.h"
#include "ns3/random-variable-stream.h"
#include "ns3/rdma-traffic-helper.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/system-path.h"
#include "ns3/traced-value.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <fstream>
#include <iterator>

namespace ns3
{
namespace tests
{

namespace
{

/// What balancers have noticed that is wrong.
uint32_t g_wrong;
/// Events that balancers have scheduled for the time of a call, and that came then.
uint32_t g_events;
/// A switch that balancers call, if a test sets it.
Ptr<QbbSwitch> g_asked;

} // namespace

/**
 * \ingroup hpcc
 * \brief One of several rules.
 */
class RuleBalancer : public QbbLoadBalancer
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::RuleBalancer")
                                .SetParent<QbbLoadBalancer>()
                                .AddConstructor<RuleBalancer>()
                                .AddAttribute("Rule",
                                              "hash, draw, stream, or none",
                                              StringValue("hash"),
                                              MakeStringAccessor(&RuleBalancer::m_rule),
                                              MakeStringChecker())
                                .AddAttribute("Stream",
                                              "Random numbers of the rule stream",
                                              StringValue("ns3::UniformRandomVariable[Stream=7]"),
                                              MakePointerAccessor(&RuleBalancer::m_stream),
                                              MakePointerChecker<RandomVariableStream>())
                                .AddTraceSource("Choices",
                                                "Packets so far",
                                                MakeTraceSourceAccessor(&RuleBalancer::m_choices),
                                                "ns3::TracedValueCallback::Uint32");
        return tid;
    }

    uint16_t Choose(const Choice& choice) override
    {
        ++m_choices;
        const Time now = choice.now;
        g_wrong += Simulator::Now() != now || choice.hops.size() != 2 || choice.priority != 3 ||
                   choice.hops[0].rate != DataRate("100Gbps") || choice.dst > 7;
        Simulator::ScheduleNow([now] { g_events += Simulator::Now() == now; });
        if (g_asked)
        {
            g_asked->GetMarks();
        }
        return m_rule == "none" ? 77 : choice.hops[Rule(choice) % choice.hops.size()].port;
    }

  private:
    /**
     * \param choice a packet
     * \return a number
     */
    uint32_t Rule(const Choice& choice)
    {
        if (m_rule == "hash")
        {
            return choice.Hash(GetSwitch());
        }
        return m_rule == "draw" ? Draw() : m_stream->GetInteger();
    }

    std::string m_rule;                 //!< attribute
    Ptr<RandomVariableStream> m_stream; //!< attribute
    TracedValue<uint32_t> m_choices{0}; //!< trace source
};

NS_OBJECT_ENSURE_REGISTERED(RuleBalancer);

namespace
{

/// Name of the class.
const char* const RULES = "ns3::tests::RuleBalancer";

/// Bytes of each flow.
constexpr uint64_t SIZE = 100'000;

/// Completion times in ns.
using Times = std::vector<int64_t>;

/**
 * \brief Run a permutation over two leaves and two spines.
 * \param scheme how switches balance load
 * \param rule rule of the class
 * \param look is called before and after the simulation
 * \return when flows were over
 */
Times
RunFabric(const std::string& scheme,
          const std::string& rule = "hash",
          const std::function<void(const QbbFabric&)>& look = {})
{
    Config::SetDefault("ns3::tests::RuleBalancer::Rule", StringValue(rule));
    QbbHelper network;
    network.SetNetworkAttribute("CanonicalOrder", BooleanValue(true));
    network.SetNetworkAttribute("Recovery", StringValue("selective_repeat"));
    network.SetSwitchAttribute("LoadBalancingScheme", StringValue(scheme));
    QbbFabricHelper shape("leaf_spine");
    shape.Set("leaves", 2);
    shape.Set("spines", 2);
    shape.Set("hosts_per_leaf", 4);
    shape.Set("rate", "100Gbps");
    shape.Set("delay", "1us");
    const QbbFabric fabric = shape.Install(network);
    network.Start();
    RdmaTrafficHelper traffic("permutation");
    traffic.Set("size", SIZE);
    const ApplicationContainer flows = traffic.Install(network);
    if (look)
    {
        look(fabric);
    }
    Simulator::Run();
    Times times;
    for (uint32_t flow = 0; flow < flows.GetN(); ++flow)
    {
        times.push_back(
            DynamicCast<RdmaClient>(flows.Get(flow))->GetFlow().completion.GetNanoSeconds());
    }
    if (look)
    {
        look(fabric);
    }
    Simulator::Destroy();
    Config::Reset();
    return times;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Rules of the core, in C++.
 */
class OwnBalancerTest : public HpccTestCase
{
  public:
    OwnBalancerTest()
        : HpccTestCase("The same rule in C++ has the same results, in calls at the right time")
    {
    }

  private:
    void DoRun() override
    {
        g_wrong = 0;
        const Times hashed = RunFabric("ecmp");
        const Times sprayed = RunFabric("random");
        NS_TEST_ASSERT_MSG_EQ(hashed.size(), 8, "a flow of each host");
        NS_TEST_EXPECT_MSG_EQ((hashed == sprayed), false, "the rules differ");
        NS_TEST_EXPECT_MSG_EQ((RunFabric(RULES) == hashed), true, "ECMP");
        NS_TEST_EXPECT_MSG_EQ((RunFabric(RULES, "draw") == sprayed), true, "spraying");
        const Times streamed = RunFabric(RULES, "stream");
        NS_TEST_EXPECT_MSG_EQ((streamed == hashed || streamed == sprayed), false, "a third rule");
        NS_TEST_EXPECT_MSG_EQ((RunFabric(RULES, "stream") == streamed), true, "of a stream");
        NS_TEST_EXPECT_MSG_EQ(g_wrong, 0, "what a call tells");
    }
};

/**
 * \ingroup hpcc
 * \brief Paths of Config lead to balancers.
 */
class BalancerPathTest : public HpccTestCase
{
  public:
    BalancerPathTest()
        : HpccTestCase("Config sets attributes of balancers and connects to their traces; what "
                       "they schedule comes at its time")
    {
    }

  private:
    void DoRun() override
    {
        g_events = 0;
        const Times sprayed = RunFabric("random");
        uint32_t last = 0;
        bool isOver = false;
        const std::string path = "/NodeList/*/$ns3::QbbSwitch/LoadBalancer/$";
        const Times found = RunFabric(RULES, "hash", [&](const QbbFabric& fabric) {
            if (isOver)
            {
                return;
            }
            isOver = true;
            Config::Set(path + RULES + "/Rule", StringValue("draw"));
            Config::ConnectWithoutContext(
                path + RULES + "/Choices",
                Callback<void, uint32_t, uint32_t>([&](uint32_t, uint32_t) { ++last; }));
            const auto leaf = fabric.GetLeaves().Get(1)->GetObject<QbbSwitch>();
            NS_TEST_EXPECT_MSG_EQ(leaf->GetLoadBalancer()->GetSwitch(), 9, "of 8 hosts and it");
        });
        NS_TEST_EXPECT_MSG_EQ((found == sprayed), true, "the attribute counts");
        // Of eight flows four or more cross the spines, each of 100 packets.
        NS_TEST_EXPECT_MSG_GT(last, 100, "packets with a choice");
        NS_TEST_EXPECT_MSG_EQ(g_events, last, "events of balancers");
    }
};

/**
 * \ingroup hpcc
 * \brief A file that names the class.
 */
class BalancerScenarioTest : public HpccTestCase
{
  public:
    BalancerScenarioTest()
        : HpccTestCase("A scenario file names a balancer of the program")
    {
    }

  private:
    void DoRun() override
    {
        const std::string own = "scheme = \"ns3::tests::RuleBalancer\"\n";
        const std::string hashed = Run("scheme = \"ecmp\"\n", false);
        const std::string sprayed = Run("scheme = \"random\"\n", false);
        NS_TEST_EXPECT_MSG_EQ((hashed.size() > 100 && hashed != sprayed), true, "results");
        for (const bool isOpen : {false, true})
        {
            NS_TEST_EXPECT_MSG_EQ(Run(own, isOpen), hashed, "ECMP");
            NS_TEST_EXPECT_MSG_EQ(Run(own + "Rule = \"draw\"\n", isOpen), sprayed, "spraying");
        }
    }

    /**
     * \brief Run a scenario.
     * \param section its section [load_balancing]
     * \param isOpen whether it is run as nodes
     * \return its fct.csv
     */
    std::string Run(const std::string& section, bool isOpen)
    {
        const std::string config = CreateTempDirFilename("balanced.toml");
        std::ofstream(config) << "[run]\nstop = \"5ms\"\n"
                                 "[topology]\nkind = \"leaf_spine\"\nleaves = 2\nspines = 2\n"
                                 "hosts_per_leaf = 4\nrate = \"100Gbps\"\ndelay = \"1us\"\n"
                                 "[transport]\nrecovery = \"selective_repeat\"\n"
                                 "[[traffic]]\nkind = \"permutation\"\nsize = \"100kB\"\n"
                                 "[load_balancing]\n"
                              << section;
        const std::string out = CreateTempDirFilename("balanced" + std::to_string(++m_runs));
        HpccScenarioHelper scenario;
        NS_TEST_EXPECT_MSG_EQ(scenario.Load(config, {}), true, "refused");
        if (isOpen)
        {
            NS_TEST_EXPECT_MSG_NE(scenario.Open(), nullptr, "not open");
        }
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(out), HpccScenarioHelper::FINISHED, section);
        Simulator::Destroy();
        std::ifstream stream(SystemPath::Append(out, "fct.csv"));
        return {std::istreambuf_iterator<char>(stream), {}};
    }

    uint32_t m_runs{0}; //!< runs so far
};

TestCases
MakeOwnBalancerTests()
{
    return {new OwnBalancerTest,
            new BalancerPathTest,
            new BalancerScenarioTest,
            MakeMisuseTest(
                "a balancer that chooses no next hop",
                [] { RunFabric(RULES, "none"); },
                "ns3::tests::RuleBalancer has chosen port 77 of switch"),
            MakeMisuseTest(
                "a balancer that asks its switch",
                [] {
                    RunFabric(RULES, "hash", [](const QbbFabric& fabric) {
                        g_asked = fabric.GetLeaves().Get(0)->GetObject<QbbSwitch>();
                    });
                },
                "cannot be called from inside a call of a congestion control or load balancer"),
            MakeMisuseTest(
                "a balancer of no class",
                [] { RunFabric("ns3::tests::NoBalancer"); },
                "no class ns3::tests::NoBalancer is registered")};
}

} // namespace tests
} // namespace ns3
