/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "setting-attributes.h"

#include "ns3-bridge/src/settings.rs.h"
#include "settings-owner.h"

#include "ns3/attribute.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/object-base.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <array>
#include <charconv>
#include <iostream>
#include <utility>

namespace ns3
{

namespace
{

/**
 * \brief Make an empty value of the kind that a setting has.
 * \param kind the kind
 * \return the value
 */
Ptr<AttributeValue>
MakeValue(hpcc::SettingKind kind)
{
    switch (kind)
    {
    case hpcc::SettingKind::Switch:
        return Create<BooleanValue>();
    case hpcc::SettingKind::Whole:
        return Create<UintegerValue>();
    case hpcc::SettingKind::Real:
        return Create<DoubleValue>();
    case hpcc::SettingKind::Time:
        return Create<TimeValue>();
    case hpcc::SettingKind::Rate:
        return Create<DataRateValue>();
    case hpcc::SettingKind::Text:
        break;
    }
    return Create<StringValue>();
}

/**
 * \brief Name the type of a setting's values, as ns-3 lists it.
 * \param kind the setting's kind
 * \return the name
 */
std::string
NameOf(hpcc::SettingKind kind)
{
    switch (kind)
    {
    case hpcc::SettingKind::Switch:
        return "ns3::BooleanValue";
    case hpcc::SettingKind::Whole:
        return "ns3::UintegerValue";
    case hpcc::SettingKind::Real:
        return "ns3::DoubleValue";
    case hpcc::SettingKind::Time:
        return "ns3::TimeValue";
    case hpcc::SettingKind::Rate:
        return "ns3::DataRateValue";
    case hpcc::SettingKind::Text:
        break;
    }
    return "ns3::StringValue";
}

/**
 * \brief Give a value as text, exactly.
 * \param value the value
 * \param checker the attribute's checker
 * \return the text
 */
std::string
TextOf(const AttributeValue& value, Ptr<const AttributeChecker> checker)
{
    if (const auto real = dynamic_cast<const DoubleValue*>(&value))
    {
        // ns-3 writes six digits; these are as many as it takes.
        std::array<char, 32> text{};
        const auto end = std::to_chars(text.begin(), text.end(), real->Get()).ptr;
        return {text.begin(), end};
    }
    if (const auto time = dynamic_cast<const TimeValue*>(&value))
    {
        return std::to_string(time->Get().GetNanoSeconds()) + "ns";
    }
    if (const auto rate = dynamic_cast<const DataRateValue*>(&value))
    {
        return std::to_string(rate->Get().GetBitRate()) + "bps";
    }
    return value.SerializeToString(checker);
}

/// Takes what the core accepts for a setting.
class SettingChecker : public AttributeChecker
{
  public:
    /**
     * \param info the setting
     */
    explicit SettingChecker(hpcc::SettingInfo info)
        : m_info(std::move(info)),
          m_initial(m_info.initial)
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        const std::string text = TextOf(value, this);
        if (text == m_initial)
        {
            return true;
        }
        try
        {
            hpcc::new_settings()->set(m_info, text);
        }
        catch (const rust::Error& error)
        {
            std::cerr << "hpcc: attribute " << std::string(m_info.attribute) << ": " << error.what()
                      << std::endl;
            return false;
        }
        return true;
    }

    std::string GetValueTypeName() const override
    {
        return NameOf(m_info.kind);
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return std::string(m_info.expected);
    }

    Ptr<AttributeValue> Create() const override
    {
        return MakeValue(m_info.kind);
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        return destination.DeserializeFromString(TextOf(source, this), this);
    }

  private:
    hpcc::SettingInfo m_info; //!< the setting
    std::string m_initial;    //!< its value in new settings
};

/// Reads and writes a setting of a SettingsOwner.
class SettingAccessor : public AttributeAccessor
{
  public:
    /**
     * \param info the setting
     */
    explicit SettingAccessor(hpcc::SettingInfo info)
        : m_info(std::move(info)),
          m_initial(m_info.initial)
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        const auto owner = dynamic_cast<SettingsOwner*>(object);
        if (!owner)
        {
            return false;
        }
        const std::string text = TextOf(value, nullptr);
        hpcc::Settings& settings = owner->GetSettings();
        // ns-3 sets every attribute of a new object to its initial value.
        if (settings.is_new() ? text == m_initial : std::string(settings.get(m_info)) == text)
        {
            return true;
        }
        try
        {
            settings.set(m_info, text);
        }
        catch (const rust::Error&)
        {
            return false; // the checker has said why
        }
        return true;
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const auto owner = dynamic_cast<const SettingsOwner*>(object);
        return owner &&
               value.DeserializeFromString(std::string(owner->GetSettings().get(m_info)), nullptr);
    }

    bool HasGetter() const override
    {
        return true;
    }

    bool HasSetter() const override
    {
        return true;
    }

  private:
    hpcc::SettingInfo m_info; //!< the setting
    std::string m_initial;    //!< its value in new settings
};

} // namespace

TypeId
AddSettings(TypeId tid, const rust::Vec<hpcc::SettingInfo>& settings)
{
    for (const auto& info : settings)
    {
        const Ptr<AttributeValue> initial = MakeValue(info.kind);
        initial->DeserializeFromString(std::string(info.initial), nullptr);
        tid.AddAttribute(std::string(info.attribute),
                         std::string(info.help),
                         *initial,
                         Create<SettingAccessor>(info),
                         Create<SettingChecker>(info));
    }
    return tid;
}

} // namespace ns3
