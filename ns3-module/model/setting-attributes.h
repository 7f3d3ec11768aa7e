/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef HPCC_SETTING_ATTRIBUTES_H
#define HPCC_SETTING_ATTRIBUTES_H

#include "ns3-bridge/src/settings.rs.h"
#include "rust/cxx.h"

#include "ns3/type-id.h"

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Add settings of the core to a type as attributes. Its objects must be SettingsOwners.
 *
 * An attribute takes any value whose text the core can read, so that a StringValue always does;
 * what cannot be used is refused when it is set, with what was expected on standard error.
 *
 * \param tid the type
 * \param settings the settings
 * \return the type
 */
TypeId AddSettings(TypeId tid, const rust::Vec<hpcc::SettingInfo>& settings);

} // namespace ns3

#endif /* HPCC_SETTING_ATTRIBUTES_H */
