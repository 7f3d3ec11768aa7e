/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/hpcc-scenario-helper.h"
#include "ns3/rdma-congestion-ops.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <fstream>
#include <iostream>
#include <sstream>

namespace ns3
{
namespace tests
{

namespace
{

/// What all WilfulControls of a run share.
struct Wills
{
    uint64_t state{1};                 //!< of the random numbers
    std::vector<uint64_t> log;         //!< what was told and done, and when
    uint64_t wrong{0};                 //!< how often ns-3's clock stood elsewhere
    bool stops{false};                 //!< whether the simulator is to stop
    std::function<void(uint64_t)> act; //!< does something to the network; nothing: there is none
    bool isIdle{false};                //!< whether what they schedule does nothing

    /**
     * \param below a bound
     * \return the next random number below it
     */
    uint64_t Draw(uint64_t below)
    {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % below;
    }

    /**
     * \brief Note something.
     * \param what a number that says what
     */
    void Note(uint64_t what)
    {
        log.push_back(Simulator::Now().GetTimeStep());
        log.push_back(what);
    }
};

Wills g_wills; //!< those of the present run

} // namespace

/**
 * \ingroup hpcc
 * \brief A congestion control that does what comes to its mind: it schedules, stops the simulator,
 * begins flows and takes links down, and notes what it is told and what ns-3's clock then shows.
 */
class WilfulControl : public RdmaCongestionOps
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::WilfulControl")
                                .SetParent<RdmaCongestionOps>()
                                .AddConstructor<WilfulControl>();
        return tid;
    }

    void Start(const Limits&) override
    {
        Hear(0, Simulator::Now().GetTimeStep());
    }

    void OnSent(const Sent& sent) override
    {
        Hear(sent.seq, sent.now);
    }

    Decision OnTimer(uint8_t timer, uint64_t now) override
    {
        Hear(timer, now);
        return {};
    }

    Decision OnFeedback(const Feedback& feedback) override
    {
        Hear(feedback.ackSeq, feedback.now);
        if (g_wills.Draw(8) == 0)
        {
            Arm(g_wills.Draw(TIMERS), feedback.now + g_wills.Draw(3'000));
        }
        return {g_wills.Draw(4) > 0, DataRate(1'000'000'000 * (1 + g_wills.Draw(100))), 0};
    }

  private:
    /**
     * \brief Something is told.
     * \param what a number that says what
     * \param now the time that is told
     */
    static void Hear(uint64_t what, uint64_t now)
    {
        g_wills.wrong += static_cast<uint64_t>(Simulator::Now().GetTimeStep()) != now;
        g_wills.Note(what);
        if (const uint64_t will = g_wills.Draw(40); will < 3)
        {
            // At once, within the time of a packet, or later.
            const uint64_t wait = will * g_wills.Draw(will == 1 ? 100 : 5'000);
            const uint64_t at = now + wait;
            const uint64_t deed = g_wills.Draw(1'000);
            Simulator::Schedule(NanoSeconds(wait), [at, deed]() {
                g_wills.wrong += static_cast<uint64_t>(Simulator::Now().GetTimeStep()) != at;
                if (!g_wills.isIdle)
                {
                    g_wills.Note(deed);
                }
                if (g_wills.act)
                {
                    g_wills.act(deed);
                }
            });
        }
        else if (will == 3 && g_wills.act)
        {
            g_wills.stops = true;
            Simulator::Stop();
        }
    }
};

NS_OBJECT_ENSURE_REGISTERED(WilfulControl);

/**
 * \ingroup hpcc
 * \brief What congestion controls are told, see and do is the same whoever watches.
 */
class ControllerClockTest : public HpccTestCase
{
  public:
    ControllerClockTest()
        : HpccTestCase("Congestion controls in C++ see the time of what they are told")
    {
    }

  private:
    void DoRun() override
    {
        for (uint64_t seed = 1; seed <= 6; ++seed)
        {
            for (const bool isCanonical : {false, true})
            {
                m_isCanonical = isCanonical;
                const auto expected = Run(seed, false, 0);
                NS_TEST_EXPECT_MSG_GT(expected.size(), 1000, "something is told");
                NS_TEST_EXPECT_MSG_EQ((Run(seed, true, 0) == expected), true, "sinks: " << seed);
                NS_TEST_EXPECT_MSG_EQ((Run(seed, false, 7) == expected), true, "events: " << seed);
                NS_TEST_EXPECT_MSG_EQ((Run(seed, true, 100) == expected), true, "both: " << seed);
            }
        }
    }

    /**
     * \brief Run flows whose congestion controls have a will of their own.
     * \param seed of the random numbers
     * \param watches whether there are trace sinks, which do nothing
     * \param interval between events that do nothing, in ns; 0: there are none
     * \return what they were told and did, when the simulator stopped, and when flows finished
     */
    std::vector<uint64_t> Run(uint64_t seed, bool watches, uint64_t interval)
    {
        g_wills = {};
        g_wills.state = seed;
        TestNetwork network;
        network.helper.SetNetworkAttribute("CanonicalOrder", BooleanValue(m_isCanonical));
        network.SetControl("ns3::tests::WilfulControl");
        network.hosts.Create(4);
        network.switches.Create(4);
        network.helper.InstallHosts(network.hosts);
        network.helper.InstallSwitches(network.switches);
        for (uint32_t leaf = 0; leaf < 2; ++leaf)
        {
            network.Link(network.hosts.Get(2 * leaf), network.switches.Get(leaf));
            network.Link(network.hosts.Get(2 * leaf + 1), network.switches.Get(leaf));
            network.Link(network.switches.Get(leaf), network.switches.Get(2));
            network.Link(network.switches.Get(leaf), network.switches.Get(3));
        }
        network.helper.Start();
        uint32_t begun = 0;
        Time failed;
        const auto note = [](const RdmaFlow& flow) {
            g_wills.Note(flow.start.GetTimeStep());
            g_wills.Note(flow.completion.GetTimeStep());
        };
        const Callback<void, const RdmaFlow&> done(note);
        g_wills.act = [&](uint64_t deed) {
            if (deed % 5 == 0)
            {
                failed = Simulator::Now();
                network.helper.TakeLinkDown(network.switches.Get(0), network.switches.Get(2));
            }
            else if (deed % 5 == 1 && Simulator::Now() > failed + MicroSeconds(3))
            {
                network.helper.SetLinkUp(network.switches.Get(0), network.switches.Get(2));
            }
            else if (deed % 5 == 2)
            {
                g_wills.stops = true;
                Simulator::Stop();
            }
            else if (++begun <= 12)
            {
                RdmaFlow flow;
                flow.size = 1000 + 20 * deed;
                network.hosts.Get(deed % 2)->GetObject<RdmaHost>()->StartFlow(
                    network.hosts.Get(2 + deed / 2 % 2)->GetObject<RdmaHost>(),
                    flow,
                    done);
            }
        };
        if (watches)
        {
            Watch();
        }
        for (uint64_t at = 0; interval > 0 && at < 60'000; at += interval)
        {
            Simulator::Schedule(NanoSeconds(at), []() {});
        }
        network.AddFlow(0, 2, 100'000);
        network.AddFlow(1, 2, 100'000, MicroSeconds(3));
        network.AddFlow(3, 0, 50'000, MicroSeconds(4));
        do
        {
            g_wills.stops = false;
            Simulator::Run();
            if (g_wills.stops)
            {
                g_wills.Note(1);
            }
        } while (g_wills.stops);
        NS_TEST_EXPECT_MSG_EQ(g_wills.wrong, 0, "the clock stands at the time of what is told");
        g_wills.act = nullptr;
        Simulator::Destroy();
        return g_wills.log;
    }

    /// Connect sinks that do nothing.
    static void Watch()
    {
        const Callback<void, const QbbFrame&> frames([](const QbbFrame&) {});
        const std::string devices = "/NodeList/*/DeviceList/*/$ns3::QbbNetDevice/";
        for (const char* source : {"TxBegin", "RxEnd", "Dequeue"})
        {
            Config::ConnectWithoutContext(devices + source, frames);
        }
        const Callback<void, const RdmaFlow&, const RdmaControl&> controls(
            [](const RdmaFlow&, const RdmaControl&) {});
        Config::ConnectWithoutContext("/NodeList/*/$ns3::RdmaHost/Control", controls);
    }

    bool m_isCanonical{false}; //!< whether events come in canonical order
};

/**
 * \ingroup hpcc
 * \brief The same in a scenario file.
 */
class ScenarioClockTest : public HpccTestCase
{
  public:
    ScenarioClockTest()
        : HpccTestCase("ns-3's simulator goes along with a file whose control is in C++")
    {
    }

  private:
    void DoRun() override
    {
        const std::string alone = Run(HpccScenarioHelper::FINISHED);
        NS_TEST_EXPECT_MSG_GT(g_wills.log.size(), 1000, "something is told");
        uint64_t events = 0;
        uint64_t last = 0;
        for (uint64_t at = 50; at < 2'000'000; at += 50)
        {
            Simulator::Schedule(NanoSeconds(at), [&]() {
                ++events;
                last = Simulator::Now().GetTimeStep();
            });
        }
        g_wills.isIdle = true;
        NS_TEST_EXPECT_MSG_EQ(Run(HpccScenarioHelper::FINISHED), alone, "amid events");
        NS_TEST_EXPECT_MSG_EQ(events, 39'999, "all of them");
        NS_TEST_EXPECT_MSG_EQ(last, 1'999'950, "until the end");
        Simulator::Stop(NanoSeconds(5'001));
        Run(HpccScenarioHelper::STOPPED);
        NS_TEST_EXPECT_MSG_NE(m_summary.find("Simulator::Stop() was called"),
                              std::string::npos,
                              m_summary);
        for (size_t noted = 0; noted < g_wills.log.size(); noted += 2)
        {
            NS_TEST_EXPECT_MSG_LT(g_wills.log[noted], 5'001, "told before it stops");
        }
        Simulator::Schedule(NanoSeconds(7), []() {});
        Simulator::Run();
        NS_TEST_EXPECT_MSG_EQ(Simulator::Now(), NanoSeconds(7), "the simulator is restored");
        std::ostringstream said;
        std::streambuf* usual = std::cerr.rdbuf(said.rdbuf());
        Run(HpccScenarioHelper::BAD_INPUT);
        std::cerr.rdbuf(usual);
        NS_TEST_EXPECT_MSG_NE(said.str().find("is under way"), std::string::npos, said.str());
    }

    /**
     * \brief Run the file.
     * \param expected what becomes of it
     * \return the flows that finished
     */
    std::string Run(HpccScenarioHelper::Outcome expected)
    {
        const bool isIdle = g_wills.isIdle;
        g_wills = {};
        g_wills.isIdle = isIdle;
        const std::string path = CreateTempDirFilename("clock.toml");
        std::ofstream(path) << "[run]\nstop = \"2ms\"\n"
                               "[topology]\nkind = \"star\"\nhosts = 4\nrate = \"100Gbps\"\n"
                               "delay = \"1us\"\n"
                               "[[traffic]]\nkind = \"all_to_all\"\nsize = \"100KB\"\n"
                               "[congestion_control]\nalgorithm = \"ns3::tests::WilfulControl\"\n";
        const std::string out = CreateTempDirFilename("clock");
        HpccScenarioHelper scenario;
        scenario.BeQuiet();
        NS_TEST_EXPECT_MSG_EQ(scenario.Load(path, {}), true, "a scenario");
        NS_TEST_EXPECT_MSG_EQ(scenario.Run(out), expected, "what becomes of it");
        NS_TEST_EXPECT_MSG_EQ(g_wills.wrong, 0, "the clock stands at the time of what is told");
        m_summary = Read(out + "/summary.json");
        return Read(out + "/fct.txt");
    }

    /**
     * \param path a file
     * \return what is in it
     */
    static std::string Read(const std::string& path)
    {
        std::stringstream text;
        text << std::ifstream(path).rdbuf();
        return text.str();
    }

    std::string m_summary; //!< of the last run
};

TestCases
MakeControllerClockTests()
{
    return {new ControllerClockTest, new ScenarioClockTest};
}

} // namespace tests
} // namespace ns3
