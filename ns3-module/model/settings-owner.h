/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SETTINGS_OWNER_H
#define SETTINGS_OWNER_H

#include "core-pointer.h"

namespace ns3
{

/**
 * \ingroup hpcc Holds settings of the core, where they are declared; attributes
 * (setting-attributes.h) read and write the object held here.
 */
class SettingsOwner
{
  public:
    SettingsOwner();

    /**
     * \brief Copy the settings, which may be changed again.
     * \param other owner of the settings
     */
    SettingsOwner(const SettingsOwner& other);

    virtual ~SettingsOwner();

    /// \return the settings
    hpcc::Settings& GetSettings() const;

    /**
     * \brief Replace all settings.
     * \param settings the new ones
     */
    void SetSettings(CorePointer<hpcc::Settings> settings);

    /// The settings have been taken over: attributes that change from now on would have no effect,
    /// and are refused.
    void Freeze();

    /// \return whether the settings have been taken over
    bool IsFrozen() const;

  private:
    CorePointer<hpcc::Settings> m_settings; //!< the settings
    bool m_isFrozen{false};                 //!< whether they have been taken over
};

} // namespace ns3

#endif /* SETTINGS_OWNER_H */
