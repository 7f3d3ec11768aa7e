/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/qbb-node.h"
#include "ns3/rdma-host.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <map>

namespace ns3
{
namespace tests
{

void
HpccTestCase::DoTeardown()
{
    Simulator::Destroy();
    Config::Reset();
}

TestNetwork::TestNetwork(const std::string& faults)
{
    helper.SetReferenceFaults(faults);
    SetControl("hpcc");
    helper.SetTelemetry("reference");
    // As in the 2019 simulator, unless a test is about it.
    helper.SetHostAttribute("Timeout", StringValue("0s"));
}

void
TestNetwork::SetControl(const std::string& algorithm)
{
    helper.SetHostAttribute("CongestionControl", StringValue(algorithm));
    const std::map<std::string, std::string> prefixes{{"hpcc", "Hpcc"},
                                                      {"hpcc_plus", "HpccPlus"},
                                                      {"rx_hpcc", "RxHpcc"}};
    for (const auto& [name, prefix] : prefixes)
    {
        SetParameter(prefix + "MaxStage", name == algorithm ? "0" : "");
        SetParameter(prefix + "MinRate", name == algorithm ? "1000Mbps" : "");
    }
}

void
TestNetwork::SetParameter(const std::string& name, const std::string& value)
{
    TypeId::AttributeInformation known;
    NS_ABORT_MSG_UNLESS(RdmaHost::GetTypeId().LookupAttributeByName(name, &known),
                        "there is no attribute " << name);
    if (value.empty())
    {
        helper.SetHostAttribute(name, *known.initialValue);
    }
    else
    {
        helper.SetHostAttribute(name, StringValue(value));
    }
}

void
TestNetwork::MakeStar(uint32_t count)
{
    hosts.Create(count);
    switches.Create(1);
    helper.InstallHosts(hosts);
    helper.InstallSwitches(switches);
    for (uint32_t host = 0; host < count; ++host)
    {
        Link(hosts.Get(host), switches.Get(0));
    }
}

NetDeviceContainer
TestNetwork::Link(Ptr<Node> a, Ptr<Node> b)
{
    links.push_back(helper.Link(a, b, DataRate("100Gbps"), MicroSeconds(1)));
    return links.back();
}

Ptr<RdmaClient>
TestNetwork::AddFlow(uint32_t src, uint32_t dst, uint64_t size, Time start)
{
    auto client = CreateObject<RdmaClient>();
    client->SetPeer(hosts.Get(dst));
    client->SetAttribute("Size", UintegerValue(size));
    client->SetStartTime(start);
    hosts.Get(src)->AddApplication(client);
    return client;
}

Ptr<QbbNetDevice>
TestNetwork::GetHostDevice(uint32_t host) const
{
    return hosts.Get(host)->GetObject<QbbNode>()->GetPort(0);
}

/**
 * \ingroup hpcc
 * \brief Tests of the hpcc module.
 */
class HpccTestSuite : public TestSuite
{
  public:
    HpccTestSuite()
        : TestSuite("hpcc", Type::UNIT)
    {
        for (const auto make : {MakeTurnTests,
                                MakeRandomStreamTests,
                                MakeNetDeviceTests,
                                MakeSwitchTests,
                                MakeHostTests,
                                MakeFastCnpTests,
                                MakeOwnControlTests,
                                MakeControllerClockTests,
                                MakeFlowControlTests,
                                MakeOwnBalancerTests,
                                MakeFabricTests,
                                MakeScenarioTests,
                                MakeLinkTests,
                                MakeTraceTests,
                                MakeLogTests,
                                MakeErrorModelTests,
                                MakeAttributeTests,
                                MakeMisuseTests})
        {
            for (TestCase* test : make())
            {
                AddTestCase(test);
            }
        }
    }
};

static HpccTestSuite g_hpccTestSuite; //!< registers the suite

} // namespace tests
} // namespace ns3
