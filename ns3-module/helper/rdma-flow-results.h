/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_FLOW_RESULTS_H
#define RDMA_FLOW_RESULTS_H

#include "qbb-helper.h"

#include "ns3/rdma-host.h"

#include <ostream>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Results of all flows of a network. It needs the QbbHelper in its constructor only.
 */
class RdmaFlowResults
{
  public:
    /**
     * \brief Follow the flows that start from now on.
     * \param network the network; ends the program if it has not been started
     */
    explicit RdmaFlowResults(const QbbHelper& network);

    /// Follow them no longer.
    ~RdmaFlowResults();

    RdmaFlowResults(const RdmaFlowResults&) = delete;
    RdmaFlowResults& operator=(const RdmaFlowResults&) = delete;

    /// A flow that has finished.
    struct Result
    {
        RdmaFlow flow;      //!< the flow
        double slowdown{1}; //!< its completion time over its ideal time
    };

    /// \return the flows that have finished, in that order
    const std::vector<Result>& GetFinished() const;

    /// \return the number of flows that have started
    uint64_t GetStarted() const;

    /**
     * \brief Write a line for each flow that has finished, with times in ns:
     * src,dst,sport,dport,size_bytes,start_ns,fct_ns,slowdown
     * \param os where to, behind a line with these names
     */
    void WriteCsv(std::ostream& os) const;

  private:
    /**
     * \brief A flow begins.
     * \param flow the flow
     */
    void OnStart(const RdmaFlow& flow);

    /**
     * \brief A flow has finished.
     * \param flow the flow
     */
    void OnFinish(const RdmaFlow& flow);

    std::vector<Ptr<RdmaHost>> m_hosts; //!< hosts by index; nullptr for other nodes
    uint64_t m_started{0};              //!< flows that have started
    std::vector<Result> m_finished;     //!< flows that have finished
};

} // namespace ns3

#endif /* RDMA_FLOW_RESULTS_H */
