/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_TESTS_H
#define HPCC_TESTS_H

#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/nstime.h"
#include "ns3/qbb-frame.h"
#include "ns3/qbb-helper.h"
#include "ns3/qbb-net-device.h"
#include "ns3/rdma-client.h"
#include "ns3/test.h"

#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

/// Test cases of one subject; the suite that takes them owns them.
using TestCases = std::vector<TestCase*>;

/// \return tests of the turns of engines and ns-3
TestCases MakeTurnTests();
/// \return tests of the core's random streams
TestCases MakeRandomStreamTests();
/// \return tests of QbbNetDevice and QbbFrame
TestCases MakeNetDeviceTests();
/// \return tests of QbbSwitch
TestCases MakeSwitchTests();
/// \return tests of RdmaHost, and of flows as programs see them
TestCases MakeHostTests();
/// \return tests of congestion notifications by switches, and of attackers
TestCases MakeFastCnpTests();
/// \return tests of congestion control that a program brings
TestCases MakeOwnControlTests();
/// \return tests of the clock that such a congestion control sees
TestCases MakeControllerClockTests();
/// \return tests of congestion controls of single flows
TestCases MakeFlowControlTests();
/// \return tests of load balancers that a program brings
TestCases MakeOwnBalancerTests();
/// \return tests of helpers for shapes and patterns
TestCases MakeFabricTests();
/// \return tests of HpccScenarioHelper
TestCases MakeScenarioTests();
/// \return tests of links that fail and come up
TestCases MakeLinkTests();
/// \return tests of trace sources and of helpers for programs
TestCases MakeTraceTests();
/// \return tests of what NS_LOG tells
TestCases MakeLogTests();
/// \return tests of ns-3's error models
TestCases MakeErrorModelTests();
/// \return tests of attributes
TestCases MakeAttributeTests();
/// \return tests of what a program must not do
TestCases MakeMisuseTests();

/**
 * \brief Expect that something ends the program.
 * \param what names the misuse
 * \param misuse does it
 * \param reason what the message must hold
 * \return the test
 */
TestCase* MakeMisuseTest(const std::string& what,
                         std::function<void()> misuse,
                         const std::string& reason);

/**
 * \ingroup hpcc
 * \brief A test that leaves simulator and defaults as it found them.
 */
class HpccTestCase : public TestCase
{
  protected:
    using TestCase::TestCase;

    void DoTeardown() override;
};

/**
 * \ingroup hpcc
 * \brief A network with the parameters of the runs whose results the 2019 simulator printed.
 */
class TestNetwork
{
  public:
    /**
     * \param faults the 2019 simulator's faults that the network repeats
     */
    explicit TestNetwork(const std::string& faults = "none");

    /**
     * \brief Choose the congestion control of hosts to be installed, with the parameters that it
     * has in those runs. At first it is hpcc.
     * \param algorithm its name
     */
    void SetControl(const std::string& algorithm);

    /**
     * \brief Link hosts to one switch, each by 100 Gb/s and 1 us. Does not start the network.
     * \param hosts how many
     */
    void MakeStar(uint32_t hosts);

    /**
     * \brief Link two nodes by 100 Gb/s and 1 us.
     * \param a one node
     * \param b the other node
     * \return the devices at both ends
     */
    NetDeviceContainer Link(Ptr<Node> a, Ptr<Node> b);

    /**
     * \brief Add an application that sends one flow.
     * \param src the source among the hosts
     * \param dst the destination among the hosts
     * \param size bytes
     * \param start when
     * \return the application
     */
    Ptr<RdmaClient> AddFlow(uint32_t src, uint32_t dst, uint64_t size, Time start = Time(0));

    /**
     * \param host a host
     * \return its first device
     */
    Ptr<QbbNetDevice> GetHostDevice(uint32_t host) const;

    QbbHelper helper;                      //!< builds the network
    NodeContainer hosts;                   //!< the hosts
    NodeContainer switches;                //!< the switches
    std::vector<NetDeviceContainer> links; //!< devices of each link

  private:
    /**
     * \brief Set an attribute of hosts to be installed.
     * \param name the attribute
     * \param value its value; empty: as without being set
     */
    void SetParameter(const std::string& name, const std::string& value);
};

} // namespace tests
} // namespace ns3

#endif /* HPCC_TESTS_H */
