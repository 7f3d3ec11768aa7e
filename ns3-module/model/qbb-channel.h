/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef QBB_CHANNEL_H
#define QBB_CHANNEL_H

#include "ns3/channel.h"
#include "ns3/nstime.h"

#include <array>

namespace ns3
{

class QbbNetDevice;

/**
 * \ingroup hpcc
 * \brief A full-duplex cable between two QbbNetDevices.
 */
class QbbChannel : public Channel
{
  public:
    /**
     * \brief Register this type.
     * \return The object TypeId.
     */
    static TypeId GetTypeId();

    QbbChannel();
    ~QbbChannel() override;

    /**
     * \brief Connect the two ends.
     * \param a one end
     * \param b the other end
     */
    void Connect(Ptr<QbbNetDevice> a, Ptr<QbbNetDevice> b);

    /// \return the propagation delay, one way
    Time GetDelay() const;

    /**
     * \brief Set the propagation delay; ends the program if devices are connected, which have told
     * all of their network.
     * \param delay the delay, one way
     */
    void SetDelay(Time delay);

    // Inherited
    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

  protected:
    void DoDispose() override;

  private:
    Time m_delay;                            //!< propagation delay, one way
    std::array<Ptr<QbbNetDevice>, 2> m_ends; //!< the two ends
};

} // namespace ns3

#endif /* QBB_CHANNEL_H */
