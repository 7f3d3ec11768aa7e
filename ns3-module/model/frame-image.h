/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef FRAME_IMAGE_H
#define FRAME_IMAGE_H

#include "qbb-frame.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief A frame as bytes, on its way to another process of the same program, and where it arrives
 * there.
 */
struct FrameImage
{
    /// Where and when a frame arrives.
    struct Arrival
    {
        uint64_t nanos; //!< when, in ns of simulated time
        uint32_t node;  //!< index of the node
        uint16_t port;  //!< port there, counted from 0
    };

    /**
     * \brief Append a frame to what is sent.
     * \param frame the frame; it carries no ns-3 packet
     * \param arrival where and when it arrives
     * \param bytes what is sent
     */
    static void Write(const QbbFrame& frame, const Arrival& arrival, std::vector<uint8_t>& bytes);

    /**
     * \brief Read a frame from what was received.
     * \param bytes what was received
     * \param place where the frame begins in it; behind the frame afterwards
     * \param pool where the frame comes from
     * \param arrival where and when it arrives
     * \return the frame
     */
    static QbbFrame* Read(const std::vector<uint8_t>& bytes,
                          std::size_t& place,
                          QbbFramePool& pool,
                          Arrival& arrival);
};

} // namespace ns3

#endif /* FRAME_IMAGE_H */
