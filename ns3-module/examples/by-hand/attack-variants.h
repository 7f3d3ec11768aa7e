/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef BY_HAND_ATTACK_VARIANTS_H
#define BY_HAND_ATTACK_VARIANTS_H

#include "changes.h"

namespace ns3
{
namespace byhand
{

/**
 * \return what makes each variant of attacks.toml
 */
Changes AttackVariants();

} // namespace byhand
} // namespace ns3

#endif /* BY_HAND_ATTACK_VARIANTS_H */
