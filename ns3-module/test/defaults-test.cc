/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"
#include "ns3-bridge/src/settings.rs.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/double.h"
#include "ns3/fast-cnp-host.h"
#include "ns3/fast-cnp-switch.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/object-factory.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/system-path.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace ns3
{
namespace tests
{

namespace
{

/// What the flows of both forms are.
constexpr uint32_t SENDERS = 4;
/// Bytes of each.
constexpr uint64_t SIZE = 400'000;

/**
 * \brief Find the algorithms that there are.
 * \return their names
 */
std::vector<std::string>
ListAlgorithms()
{
    const auto settings = hpcc::host_settings();
    const auto control =
        std::find_if(settings.begin(), settings.end(), [](const hpcc::SettingInfo& info) {
            return info.attribute == "CongestionControl";
        });
    NS_ABORT_MSG_IF(control == settings.end(), "hosts have no congestion control");
    // "hpcc", "dcqcn"
    std::istringstream expected{std::string(control->expected)};
    std::vector<std::string> names;
    for (std::string text; std::getline(expected, text, '"') && std::getline(expected, text, '"');)
    {
        names.push_back(text);
    }
    return names;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Flows of several hosts to another one, as a file and as a program.
 */
class BothFormsTest : public HpccTestCase
{
  protected:
    /**
     * \param name what is tested
     */
    explicit BothFormsTest(const std::string& name)
        : HpccTestCase(name)
    {
    }

    /// What both forms say.
    struct Scenario
    {
        std::string algorithm;      //!< the congestion control
        std::string rate{"25Gbps"}; //!< that of all links
        bool isExact{false};        //!< whether links keep their rate exactly
        uint32_t flows{1};          //!< flows of each sender, all of which start at once
    };

    /**
     * \brief Run the flows as a file describes them.
     * \param scenario what it says
     * \return their completion times in ns, in the order of the senders, and of their flows
     */
    std::vector<int64_t> RunFile(const Scenario& scenario);

    /**
     * \brief Run the flows as a program makes them.
     * \param scenario what it says
     * \return their completion times in ns, in the order of the senders, and of their flows
     */
    static std::vector<int64_t> RunProgram(const Scenario& scenario);
};

/**
 * \ingroup hpcc
 * \brief A program in which nothing is set but the algorithm does what a file does that says no
 * more.
 */
class DefaultsTest : public BothFormsTest
{
  public:
    DefaultsTest()
        : BothFormsTest("Programs have the defaults of files")
    {
    }

  private:
    void DoRun() override
    {
        const std::vector<std::string> algorithms = ListAlgorithms();
        NS_TEST_EXPECT_MSG_GT(algorithms.size(), 5, "algorithms");
        std::vector<std::vector<int64_t>> times;
        for (const std::string& algorithm : algorithms)
        {
            const std::vector<int64_t> ofFile = RunFile({algorithm});
            NS_TEST_EXPECT_MSG_EQ(ofFile.size(), SENDERS, "flows of the file with " << algorithm);
            NS_TEST_EXPECT_MSG_EQ((RunProgram({algorithm}) == ofFile),
                                  true,
                                  "completion times with " << algorithm);
            times.push_back(ofFile);
        }
        std::sort(times.begin(), times.end());
        const auto distinct = std::unique(times.begin(), times.end()) - times.begin();
        NS_TEST_EXPECT_MSG_GT(distinct, 5, "the algorithms differ");
    }
};

/**
 * \ingroup hpcc
 * \brief Links of 800 Gb/s, on which a packet takes 10.48 ns.
 */
class ExactRatesTest : public BothFormsTest
{
  public:
    ExactRatesTest()
        : BothFormsTest("Links keep their rates to the picosecond if they are told to")
    {
    }

  private:
    void DoRun() override
    {
        // 1600 packets of 1048 bytes share the last link: 16768 ns, or 16000 by 10 ns each.
        NS_TEST_EXPECT_MSG_EQ_TOL(RunBoth(true) - RunBoth(false), 768, 2, "what rounding loses");
    }

    /**
     * \param isExact whether links keep their rate exactly
     * \return when the last flow ends, ns
     */
    int64_t RunBoth(bool isExact)
    {
        const Scenario scenario{"none", "800Gbps", isExact};
        const std::vector<int64_t> times = RunFile(scenario);
        NS_TEST_EXPECT_MSG_EQ((RunProgram(scenario) == times), true, "file and program differ");
        return *std::max_element(times.begin(), times.end());
    }
};

/**
 * \ingroup hpcc
 * \brief Hosts that start several flows at the very beginning, when no port has sent anything.
 */
class FlowsAtOnceTest : public BothFormsTest
{
  public:
    FlowsAtOnceTest()
        : BothFormsTest("The first flow of a host is the first to send, in files and programs")
    {
    }

  private:
    void DoRun() override
    {
        const Scenario scenario{"none", "25Gbps", false, 3};
        const std::vector<int64_t> times = RunFile(scenario);
        NS_TEST_EXPECT_MSG_EQ((RunProgram(scenario) == times), true, "file and program differ");
        NS_TEST_EXPECT_MSG_LT(times[0], times[1], "the first flow ends before the second");
        NS_TEST_EXPECT_MSG_LT(times[1], times[2], "the second flow ends before the third");
    }
};

std::vector<int64_t>
BothFormsTest::RunFile(const Scenario& scenario)
{
    const std::string& algorithm = scenario.algorithm;
    const std::string config = CreateTempDirFilename(algorithm + ".toml");
    std::ofstream file(config);
    file << "[run]\nstop = \"1s\"\n[congestion_control]\nalgorithm = \"" << algorithm
         << "\"\n[topology]\nkind = \"star\"\nhosts = 5\nrate = \"" << scenario.rate
         << "\"\ndelay = \"1us\"\n[wire]\nexact_rates = " << std::boolalpha << scenario.isExact
         << "\n";
    for (uint32_t flow = 0; flow < SENDERS * scenario.flows; ++flow)
    {
        file << "[[traffic]]\nkind = \"flow\"\nsrc = " << flow / scenario.flows
             << "\ndst = 4\nsize = " << SIZE << "\n";
    }
    file.close();
    const std::string out = CreateTempDirFilename(algorithm);
    HpccScenarioHelper helper;
    NS_TEST_EXPECT_MSG_EQ(helper.Load(config, {}), true, algorithm << " was refused");
    NS_TEST_EXPECT_MSG_EQ(helper.Run(out), HpccScenarioHelper::FINISHED, "flows have not finished");
    std::vector<int64_t> times(SENDERS * scenario.flows);
    std::ifstream fct(SystemPath::Append(out, "fct.txt"));
    std::string src;
    std::string rest;
    for (int64_t fields[6]; fct >> src >> rest;)
    {
        for (int64_t& field : fields)
        {
            fct >> field;
        }
        // Hosts are 0x0b000001, 0x0b000101 and so on; source and destination port, size, start
        // and time follow. Source ports count the flows of a host from 10000 on.
        const std::size_t host = std::stoul(src, nullptr, 16) >> 8 & 0xff;
        times.at(host * scenario.flows + fields[0] - 10'000) = fields[4];
    }
    return times;
}

std::vector<int64_t>
BothFormsTest::RunProgram(const Scenario& scenario)
{
    // As files run.
    UseSimulator("ns3::WheelSimulatorImpl");
    Config::SetDefault("ns3::WheelSimulatorImpl::CanonicalOrder", BooleanValue(true));
    NodeContainer hosts(SENDERS + 1);
    NodeContainer center(1);
    QbbHelper network;
    network.SetHostAttribute("CongestionControl", StringValue(scenario.algorithm));
    network.SetHostAttribute("WireExactRates", BooleanValue(scenario.isExact));
    network.SetSwitchAttribute("WireExactRates", BooleanValue(scenario.isExact));
    network.InstallHosts(hosts);
    network.InstallSwitches(center);
    for (uint32_t host = 0; host < hosts.GetN(); ++host)
    {
        network.Link(hosts.Get(host), center.Get(0), DataRate(scenario.rate), MicroSeconds(1));
    }
    network.Start();
    std::vector<Ptr<RdmaClient>> flows;
    for (uint32_t flow = 0; flow < SENDERS * scenario.flows; ++flow)
    {
        flows.push_back(CreateObject<RdmaClient>());
        flows.back()->SetPeer(hosts.Get(SENDERS));
        flows.back()->SetAttribute("Size", UintegerValue(SIZE));
        hosts.Get(flow / scenario.flows)->AddApplication(flows.back());
    }
    Simulator::Stop(Seconds(1));
    Simulator::Run();
    std::vector<int64_t> times;
    for (const auto& flow : flows)
    {
        times.push_back(flow->GetFlow().completion.GetNanoSeconds());
    }
    Simulator::Destroy();
    return times;
}

/**
 * \ingroup hpcc
 * \brief A host of a program's own, with an attribute that is no setting.
 */
class HostOfOnesOwn : public RdmaHost
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::HostOfOnesOwn")
                                .SetParent<RdmaHost>()
                                .AddConstructor<HostOfOnesOwn>()
                                .AddAttribute("Own",
                                              "A number",
                                              UintegerValue(3),
                                              MakeUintegerAccessor(&HostOfOnesOwn::m_own),
                                              MakeUintegerChecker<uint32_t>());
        return tid;
    }

  private:
    uint32_t m_own; //!< the attribute
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
        : HpccTestCase("nodes installed together have the same attributes, each its own; so have "
                       "the ends of a "
                       "link")
    {
    }

  private:
    void DoRun() override
    {
        Config::SetDefault("ns3::RdmaHost::HpccEta", DoubleValue(0.9));
        Config::SetDefault("ns3::FastCnpSwitch::Enabled", BooleanValue(true));
        QbbHelper network;
        network.SetHostAttribute("AckPriority", UintegerValue(5));
        network.SetSwitchAttribute("Buffer", StringValue("9MB"));
        NodeContainer hosts(3);
        NodeContainer switches(2);
        network.InstallHosts(hosts);
        network.InstallSwitches(switches);
        CheckAlike<RdmaHost>(hosts.Get(0), hosts.Get(2));
        CheckAlike<FastCnpHost>(hosts.Get(0), hosts.Get(2));
        CheckAlike<QbbSwitch>(switches.Get(0), switches.Get(1));
        CheckAlike<FastCnpSwitch>(switches.Get(0), switches.Get(1));
        NS_TEST_EXPECT_MSG_EQ(Read<RdmaHost>(hosts.Get(2), "HpccEta"), "0.9", "ns-3's default");
        NS_TEST_EXPECT_MSG_EQ(Read<RdmaHost>(hosts.Get(2), "AckPriority"), "5", "the helper's");
        NS_TEST_EXPECT_MSG_EQ(Read<FastCnpSwitch>(switches.Get(1), "Enabled"), "true", "its own");

        hosts.Get(2)->GetObject<RdmaHost>()->SetAttribute("HpccEta", DoubleValue(0.8));
        NS_TEST_EXPECT_MSG_EQ(Read<RdmaHost>(hosts.Get(0), "HpccEta"), "0.9", "not its copy's");

        // The default changes from one installation to the next.
        Config::SetDefault("ns3::RdmaHost::HpccEta", DoubleValue(0.7));
        NodeContainer later(2);
        network.InstallHosts(later);
        NS_TEST_EXPECT_MSG_EQ(Read<RdmaHost>(later.Get(1), "HpccEta"), "0.7", "of that time");

        ObjectFactory own;
        own.SetTypeId(HostOfOnesOwn::GetTypeId());
        own.Set("Own", UintegerValue(8));
        NodeContainer others(2);
        network.Install(others, own);
        const Ptr<HostOfOnesOwn> other = others.Get(1)->GetObject<HostOfOnesOwn>();
        NS_TEST_ASSERT_MSG_NE(other, nullptr, "no RdmaHost in its place");
        NS_TEST_EXPECT_MSG_EQ(Read<HostOfOnesOwn>(others.Get(1), "Own"), "8", "as the first");

        network.SetDeviceAttribute("Mtu", UintegerValue(9000));
        const NetDeviceContainer ends =
            network.Link(hosts.Get(0), switches.Get(0), DataRate("25Gbps"), MicroSeconds(1));
        const auto end = DynamicCast<QbbNetDevice>(ends.Get(1));
        CheckAlike<QbbNetDevice>(*DynamicCast<QbbNetDevice>(ends.Get(0)), *end);
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
    std::string ReadOf(const Object& object, const std::string& attribute)
    {
        StringValue value;
        object.GetAttribute(attribute, value);
        return value.Get();
    }

    /**
     * \tparam Part a type
     * \param node a node with an object of that type
     * \param attribute name of an attribute
     * \return its value there
     */
    template <class Part>
    std::string Read(Ptr<Node> node, const std::string& attribute)
    {
        return ReadOf(*node->GetObject<Part>(), attribute);
    }

    /**
     * \brief Compare all attributes of the objects of two nodes.
     * \tparam Part their type
     * \param first the node of one
     * \param other the node of the other
     */
    template <class Part>
    void CheckAlike(Ptr<Node> first, Ptr<Node> other)
    {
        CheckAlike<Part>(*first->GetObject<Part>(), *other->GetObject<Part>());
    }

    /**
     * \brief Compare all attributes of two objects.
     * \tparam Part their type
     * \param first one
     * \param other the other
     */
    template <class Part>
    void CheckAlike(const Part& first, const Part& other)
    {
        NS_TEST_ASSERT_MSG_NE(&other, &first, "one for both");
        NS_TEST_EXPECT_MSG_EQ(other.GetInstanceTypeId(), Part::GetTypeId(), "the copy's type");
        for (TypeId tid = Part::GetTypeId(); tid != Object::GetTypeId(); tid = tid.GetParent())
        {
            for (std::size_t i = 0; i < tid.GetAttributeN(); ++i)
            {
                const std::string name = tid.GetAttribute(i).name;
                NS_TEST_EXPECT_MSG_EQ(ReadOf(other, name), ReadOf(first, name), name);
            }
        }
    }
};

TestCases
MakeDefaultsTests()
{
    return {new DefaultsTest, new ExactRatesTest, new FlowsAtOnceTest, new AlikeTest};
}

} // namespace tests
} // namespace ns3
