/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "settings-owner.h"

#include "call-rust.h"
#include "ns3-bridge/src/settings.rs.h"

#include <utility>

namespace ns3
{

SettingsOwner::SettingsOwner()
    : m_settings(FromRust(hpcc::new_settings()))
{
}

SettingsOwner::SettingsOwner(const SettingsOwner& other)
    : m_settings(FromRust(other.m_settings->duplicate()))
{
}

SettingsOwner::~SettingsOwner() = default;

hpcc::Settings&
SettingsOwner::GetSettings() const
{
    return *m_settings;
}

void
SettingsOwner::SetSettings(CorePointer<hpcc::Settings> settings)
{
    m_settings = std::move(settings);
}

void
SettingsOwner::Freeze()
{
    m_isFrozen = true;
}

bool
SettingsOwner::IsFrozen() const
{
    return m_isFrozen;
}

} // namespace ns3
