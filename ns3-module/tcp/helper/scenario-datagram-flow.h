/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SCENARIO_DATAGRAM_FLOW_H
#define SCENARIO_DATAGRAM_FLOW_H

#include "scenario-stack-hosts.h"

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
class ScenarioDatagramFlow : public ScenarioStackFlow
{
  public:
    /**
     * \param id the flow's number
     * \param size its bytes
     * \param client sends its datagrams, from now on
     * \param done called when the flow has finished; may delete this
     */
    ScenarioDatagramFlow(uint32_t id,
                         uint64_t size,
                         Ptr<DatagramClient> client,
                         FinishCallback done);
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
    uint16_t GetSourcePort() const override;

  private:
    uint32_t m_id;                //!< the flow's number
    uint64_t m_size;              //!< its bytes
    Ptr<DatagramClient> m_client; //!< sends
    FinishCallback m_done;        //!< is told when it has finished
    uint64_t m_arrived{0};        //!< payload bytes that have arrived
};

} // namespace ns3

#endif /* SCENARIO_DATAGRAM_FLOW_H */
