/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_QUEUE_WATCH_H
#define HPCC_QUEUE_WATCH_H

#include "ns3/traced-callback.h"

#include <array>
#include <cstdint>

namespace ns3
{

class QbbFrame;
class QbbNetDevice;

/**
 * \ingroup hpcc
 * \brief Follows the lengths of a device's queues for its trace source QueuedBytes.
 */
class QueueWatch
{
  public:
    /**
     * \param device the device, which owns this
     */
    explicit QueueWatch(QbbNetDevice& device);

    /// A queue, its bytes before, its bytes now.
    using Source = TracedCallback<uint8_t, uint64_t, uint64_t>;

    /// \return the trace source
    Source& GetSource();

  private:
    /**
     * \brief A frame has come or gone.
     * \param frame the frame
     */
    void OnFrame(const QbbFrame& frame);

    QbbNetDevice& m_device;          //!< the device
    std::array<uint64_t, 8> m_bytes; //!< bytes of each queue at its last report
    Source m_source;                 //!< the trace source
};

} // namespace ns3

#endif /* HPCC_QUEUE_WATCH_H */
