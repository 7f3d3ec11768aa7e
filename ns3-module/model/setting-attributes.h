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
#include "ns3/uinteger.h"

#include <cstdint>
#include <limits>
#include <string>

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

/**
 * \ingroup hpcc
 * \brief Make a checker of whole numbers that says on standard error which value it refuses and
 * what it expects: ns-3 ends the program without either.
 * \param attribute name of the attribute
 * \param lowest the smallest value
 * \param highest the largest
 * \param checker what checks values of that range
 * \return the checker
 */
Ptr<const AttributeChecker> MakeTellingChecker(const std::string& attribute,
                                               uint64_t lowest,
                                               uint64_t highest,
                                               Ptr<const AttributeChecker> checker);

/**
 * \ingroup hpcc
 * \brief Make such a checker of one of C++'s types of whole numbers.
 * \tparam T the type
 * \param attribute name of the attribute
 * \param lowest the smallest value
 * \param highest the largest
 * \return the checker
 */
template <class T>
Ptr<const AttributeChecker>
MakeTellingChecker(const std::string& attribute,
                   T lowest,
                   T highest = std::numeric_limits<T>::max())
{
    return MakeTellingChecker(attribute,
                              uint64_t{lowest},
                              uint64_t{highest},
                              MakeUintegerChecker<T>(lowest, highest));
}

} // namespace ns3

#endif /* HPCC_SETTING_ATTRIBUTES_H */
