/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef RDMA_CLIENT_H
#define RDMA_CLIENT_H

#include "rdma-host.h"

#include "ns3/application.h"
#include "ns3/data-rate.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief An application that sends one flow from its node to another when it starts.
 *
 * If failed links have cut off the destination by then, the flow waits, and sends once there is a
 * way: IsCutOff() and QbbHelper::PrintUnfinished() say so meanwhile. Its completion time counts
 * from its start.
 *
 * When the application stops, its flow ends with one more packet. An application that stops before
 * it starts, as where ApplicationContainer::Stop() has an earlier time than Start(), sends nothing;
 * IsFinished() stays false, and QbbHelper::PrintUnfinished() does not list it. Attributes are those
 * of the flow, and cannot be set once it has begun.
 */
class RdmaClient : public Application
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    RdmaClient();
    ~RdmaClient() override;

    /**
     * \param peer node of the destination host
     */
    void SetPeer(Ptr<Node> peer);

    /// \return whether the last acknowledgement has arrived
    bool IsFinished() const;

    /// \return whether the flow is in progress and failed links have cut off its destination, so
    /// that it waits for a way
    bool IsCutOff() const;

    /// \return the flow's queue pair at its host, once the application has started
    uint32_t GetQueuePair() const;

    /// \return the flow; its endpoints are valid once the application has started, its completion
    /// time is valid once it has finished
    const RdmaFlow& GetFlow() const;

  protected:
    void DoDispose() override;

  private:
    void StartApplication() override;
    void StopApplication() override;

    /**
     * \brief The flow has finished.
     * \param flow the flow
     */
    void OnFinish(const RdmaFlow& flow);

    /// End the program if the flow has begun, which attributes no longer change.
    void CheckNotStarted() const;

    /**
     * \brief Set an attribute.
     * \tparam Member pointer to its member
     * \param value the value
     */
    template <auto Member, class T = std::decay_t<decltype(std::declval<RdmaClient>().*Member)>>
    void Change(T value)
    {
        CheckNotStarted();
        this->*Member = value;
    }

    /**
     * \brief Get an attribute.
     * \tparam Member pointer to its member
     * \return the value
     */
    template <auto Member, class T = std::decay_t<decltype(std::declval<RdmaClient>().*Member)>>
    T Get() const
    {
        return this->*Member;
    }

    Ptr<Node> m_peer;                              //!< node of the destination host
    RdmaFlow m_flow;                               //!< the flow
    uint64_t m_size{0};                            //!< attribute
    uint8_t m_priority{};                          //!< attribute
    uint16_t m_dport{0};                           //!< attribute
    DataRate m_maxRate;                            //!< attribute
    int16_t m_nic{-1};                             //!< attribute
    std::string m_control;                         //!< attribute
    uint32_t m_queuePair{0};                       //!< the flow's queue pair
    bool m_isStarted{false};                       //!< whether the application has started
    bool m_isStopped{false};                       //!< whether the application has stopped
    bool m_finished{false};                        //!< whether the last acknowledgement has arrived
    TracedCallback<const RdmaFlow&> m_finishTrace; //!< trace source
};

} // namespace ns3

#endif /* RDMA_CLIENT_H */
