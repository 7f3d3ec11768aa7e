/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
// What NS_LOG tells of a network under way, and that it changes nothing.
#include "hpcc-tests.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/qbb-switch.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <iostream>
#include <sstream>

namespace ns3
{
namespace tests
{

namespace
{

/// Components that tell what happens.
constexpr const char* COMPONENTS[] = {"QbbNetDevice", "QbbSwitch", "RdmaHost"};

/**
 * \param text lines
 * \param part a part of a line
 * \return how many lines have it
 */
[[maybe_unused]] uint64_t
CountLines(const std::string& text, const std::string& part)
{
    uint64_t count = 0;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
    {
        count += line.find(part) != std::string::npos;
    }
    return count;
}

} // namespace

/**
 * \ingroup hpcc
 * \brief Three hosts send to one by links that lose frames: each mark, pause, drop, loss and
 * timeout has a line, with its time.
 */
class LogTest : public HpccTestCase
{
  public:
    LogTest()
        : HpccTestCase("NS_LOG tells what happens, and changes nothing")
    {
    }

  private:
    /// What came of a run.
    struct Result
    {
        uint64_t marks{0};               //!< counted by the switch
        uint64_t drops{0};               //!< counted by the switch
        uint64_t pauses{0};              //!< counted by hosts' devices
        uint64_t losses{0};              //!< counted by the switch's devices
        uint64_t resends{0};             //!< counted by hosts
        uint64_t timeouts{0};            //!< counted by hosts
        std::vector<int64_t> completion; //!< times of flows, in ns
        int64_t lastEnd{0};              //!< when the last flow was over, in ns
    };

    void DoRun() override
    {
        const Result silent = Run();
        for (const char* component : COMPONENTS)
        {
            LogComponentEnable(component, LogLevel(LOG_LEVEL_INFO | LOG_PREFIX_TIME));
        }
        std::ostringstream text;
        std::streambuf* const before = std::clog.rdbuf(text.rdbuf());
        const Result logged = Run();
        std::clog.rdbuf(before);
        LogComponentDisableAll(LOG_ALL);
        NS_TEST_EXPECT_MSG_EQ((logged.completion == silent.completion), true, "the same times");
        NS_TEST_EXPECT_MSG_EQ(logged.marks, silent.marks, "the same marks");
        for (const uint64_t count : {silent.marks,
                                     silent.drops,
                                     silent.pauses,
                                     silent.losses,
                                     silent.resends,
                                     silent.timeouts})
        {
            NS_TEST_EXPECT_MSG_GT(count, 0, "each of these happens here");
        }
#ifdef NS3_LOG_ENABLE
        const std::string lines = text.str();
        NS_TEST_EXPECT_MSG_EQ(CountLines(lines, " marks data "), logged.marks, "marks");
        NS_TEST_EXPECT_MSG_EQ(CountLines(lines, ": priority 3 is paused"), logged.pauses, "pauses");
        NS_TEST_EXPECT_MSG_EQ(CountLines(lines, " drops data "), logged.drops, "drops");
        NS_TEST_EXPECT_MSG_EQ(CountLines(lines, "lost on the link to switch "),
                              logged.losses,
                              "losses");
        NS_TEST_EXPECT_MSG_EQ(CountLines(lines, " is sent again"), logged.resends, "resends");
        NS_TEST_EXPECT_MSG_EQ(CountLines(lines, ": its retransmission timer has fired"),
                              logged.timeouts,
                              "timeouts");
        NS_TEST_EXPECT_MSG_EQ(CountLines(lines, " is over after "),
                              logged.completion.size(),
                              "flows");
        // A line begins with the time as ns-3 prints it.
        const std::string last =
            lines.substr(lines.rfind('\n', lines.rfind(" is over after ")) + 1);
        NS_TEST_EXPECT_MSG_EQ(Time(last.substr(0, last.find('s') + 1)),
                              NanoSeconds(logged.lastEnd),
                              "times are ns-3's");
#endif
    }

    /// \return what comes of it
    Result Run()
    {
        TestNetwork network;
        network.SetControl("dcqcn");
        network.helper.SetHostAttribute("Timeout", StringValue("100us"));
        network.helper.SetSwitchAttribute("Buffer", UintegerValue(200'000));
        network.helper.SetSwitchAttribute("Headroom", StringValue("2000"));
        network.helper.SetSwitchAttribute("EcnKmin", UintegerValue(5'000));
        network.helper.SetSwitchAttribute("EcnKmax", UintegerValue(20'000));
        network.helper.SetSwitchAttribute("EcnPmax", DoubleValue(0.5));
        network.MakeStar(4);
        NetDeviceContainer atSwitch;
        for (const auto& link : network.links)
        {
            atSwitch.Add(link.Get(0)->GetNode() == network.switches.Get(0) ? link.Get(0)
                                                                           : link.Get(1));
        }
        network.helper.SetLoss(atSwitch, 0.01, 0);
        network.helper.Start();
        Result result;
        for (uint32_t src = 0; src < 3; ++src)
        {
            network.AddFlow(src, 3, 500'000);
            network.hosts.Get(src)->GetObject<RdmaHost>()->TraceConnectWithoutContext(
                "FlowFinish",
                Callback<void, const RdmaFlow&>([&result](const RdmaFlow& flow) {
                    result.completion.push_back(flow.completion.GetNanoSeconds());
                    result.lastEnd = Simulator::Now().GetNanoSeconds();
                }));
        }
        Simulator::Stop(MilliSeconds(20));
        Simulator::Run();
        const auto center = network.switches.Get(0)->GetObject<QbbSwitch>();
        result.marks = center->GetMarks();
        result.drops = center->GetDrops();
        for (uint32_t host = 0; host < 4; ++host)
        {
            const RdmaCounters counters =
                network.hosts.Get(host)->GetObject<RdmaHost>()->GetCounters();
            result.pauses += network.GetHostDevice(host)->GetPauses();
            result.losses += DynamicCast<QbbNetDevice>(atSwitch.Get(host))->GetLostFrames();
            result.resends += counters.resent;
            result.timeouts += counters.timeouts;
        }
        Simulator::Destroy();
        return result;
    }
};

TestCases
MakeLogTests()
{
    return {new LogTest};
}

} // namespace tests
} // namespace ns3
