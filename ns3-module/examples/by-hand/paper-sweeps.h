/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef BY_HAND_PAPER_SWEEPS_H
#define BY_HAND_PAPER_SWEEPS_H

#include "changes.h"

namespace ns3
{
namespace byhand
{

/**
 * \return the sweeps of configs/paper/
 */
Sweeps PaperSweeps();

} // namespace byhand
} // namespace ns3

#endif /* BY_HAND_PAPER_SWEEPS_H */
