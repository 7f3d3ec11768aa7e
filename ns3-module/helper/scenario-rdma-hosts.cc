/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "scenario-rdma-hosts.h"

#include "ns3-bridge/src/results.rs.h"
#include "qbb-helper.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(ScenarioRdmaHosts);

namespace
{

/// A flow of an RDMA host.
class RdmaScenarioFlow : public ScenarioFlow
{
  public:
    /**
     * \param host its source, which outlives it
     * \param queuePair its queue pair there
     * \param firstSeq its RdmaFlow::firstSeq
     */
    RdmaScenarioFlow(const RdmaHost& host, uint32_t queuePair, uint64_t firstSeq)
        : m_host(host),
          m_queuePair(queuePair),
          m_firstSeq(firstSeq)
    {
    }

    // Inherited
    uint64_t GetAckedBytes() const override
    {
        return m_host.GetAckedBytes(m_queuePair, m_firstSeq);
    }

    RdmaControl GetControl() const override
    {
        return m_host.GetControl(m_queuePair);
    }

    RdmaFlow GetFlow() const override
    {
        return *m_host.FindFlow(m_queuePair, m_firstSeq);
    }

  private:
    const RdmaHost& m_host; //!< its source
    uint32_t m_queuePair;   //!< its queue pair there
    uint64_t m_firstSeq;    //!< sequence number of its first byte
};

} // namespace

TypeId
ScenarioRdmaHosts::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ScenarioRdmaHosts")
                            .SetParent<ScenarioHosts>()
                            .SetGroupName("Hpcc")
                            .AddConstructor<ScenarioRdmaHosts>();
    return tid;
}

void
ScenarioRdmaHosts::Install(const NodeContainer& nodes, QbbHelper& network)
{
    network.InstallHosts(nodes);
}

void
ScenarioRdmaHosts::Prepare(const hpcc::Scenario&, const QbbHelper& network)
{
    m_network = &network;
}

std::unique_ptr<ScenarioFlow>
ScenarioRdmaHosts::StartFlow(const RdmaFlow& flow, FinishCallback done)
{
    const Ptr<RdmaHost> host = m_network->GetHost(flow.src);
    const Ptr<RdmaHost> peer = m_network->GetHost(flow.dst);
    const uint32_t queuePair = host->StartFlow(peer, flow, done);
    if (queuePair == RdmaHost::ELSEWHERE)
    {
        return nullptr;
    }
    const uint64_t firstSeq = host->GetFlow(queuePair).firstSeq;
    return std::make_unique<RdmaScenarioFlow>(*host, queuePair, firstSeq);
}

void
ScenarioRdmaHosts::Count(hpcc::RunTotals& totals) const
{
    hpcc::HostCounters& sum = totals.hosts;
    for (uint32_t index = 0; index < m_network->GetNNodes(); ++index)
    {
        if (const auto host = DynamicCast<RdmaHost>(m_network->GetNode(index)))
        {
            const RdmaCounters counters = host->GetCounters();
            sum.resent += counters.resent;
            sum.timeouts += counters.timeouts;
            sum.probes += counters.probes;
            sum.feedback += counters.feedback;
            sum.rejected_by_seal += counters.rejectedBySeal;
            sum.rejected_by_guard += counters.rejectedByGuard;
            sum.baseline_resets += counters.baselineResets;
            sum.moves += counters.pathMoves;
            sum.cnps += counters.cnps;
            sum.unsent_acks += counters.unsentAcks;
            sum.unasked_cnps += counters.unaskedCnps;
            sum.marks_merged += counters.marksMerged;
            sum.marks_heard += counters.marksHeard;
            sum.unsealed_answers += counters.unsealedAnswers;
            sum.receive_dropped += counters.receiveDropped;
            sum.receive_pauses += counters.receivePauses;
        }
    }
}

} // namespace ns3
