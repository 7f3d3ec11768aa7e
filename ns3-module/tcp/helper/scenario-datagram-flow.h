/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_DATAGRAM_FLOW_H
#define SCENARIO_DATAGRAM_FLOW_H

#include "../../helper/scenario-hosts.h"

#include "ns3/datagram-client.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A flow of a scenario in UDP datagrams, which nothing acknowledges.
 *
 * It begins with its first datagram and has finished when all of its bytes have arrived. A lost
 * datagram is not repeated: then the flow never finishes.
 */
class ScenarioDatagramFlow : public ScenarioFlow
{
  public:
    /**
     * \param flow the request
     * \param client sends its datagrams, from now on
     * \param done called when the flow has finished; may delete this
     */
    ScenarioDatagramFlow(const RdmaFlow& flow,
                         Ptr<DatagramClient> client,
                         ScenarioHosts::FinishCallback done);
    ~ScenarioDatagramFlow() override;

    /**
     * \param bytes payload bytes of a datagram
     * \return whether all will have arrived with it
     */
    bool IsLast(uint32_t bytes) const;

    /**
     * \brief A datagram has arrived.
     * \param bytes its payload bytes
     */
    void OnArrival(uint32_t bytes);

    // Inherited
    uint64_t GetAckedBytes() const override;
    RdmaFlow GetFlow() const override;

  private:
    RdmaFlow m_flow;                      //!< the request
    Ptr<DatagramClient> m_client;         //!< sends
    ScenarioHosts::FinishCallback m_done; //!< is told when it has finished
    uint64_t m_arrived{0};                //!< payload bytes that have arrived
};

} // namespace ns3

#endif /* SCENARIO_DATAGRAM_FLOW_H */
