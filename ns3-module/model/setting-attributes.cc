/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "setting-attributes.h"

#include "call-rust.h"
#include "ns3-bridge/src/settings.rs.h"
#include "settings-owner.h"

#include "ns3/attribute.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/integer.h"
#include "ns3/nstime.h"
#include "ns3/object-base.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <array>
#include <charconv>
#include <iostream>
#include <memory>
#include <typeinfo>
#include <utility>

namespace ns3
{

namespace
{

/// ns-3's types for the values of one kind of settings.
struct ValueType
{
    const char* name;              //!< of their type
    Ptr<AttributeValue> (*make)(); //!< makes an empty value
    /// Compares two of them.
    bool (*areEqual)(const AttributeValue& a, const AttributeValue& b);
};

/**
 * \tparam Value a type of values
 * \param name its name
 * \return its description
 */
template <class Value>
ValueType
MakeValueType(const char* name)
{
    return {name,
            []() -> Ptr<AttributeValue> { return Create<Value>(); },
            [](const AttributeValue& a, const AttributeValue& b) {
                return static_cast<const Value&>(a).Get() == static_cast<const Value&>(b).Get();
            }};
}

/**
 * \param kind a kind of settings
 * \return the type of their values
 */
ValueType
TypeOf(hpcc::SettingKind kind)
{
    switch (kind)
    {
    case hpcc::SettingKind::Switch:
        return MakeValueType<BooleanValue>("ns3::BooleanValue");
    case hpcc::SettingKind::Whole:
        return MakeValueType<UintegerValue>("ns3::UintegerValue");
    case hpcc::SettingKind::Real:
        return MakeValueType<DoubleValue>("ns3::DoubleValue");
    case hpcc::SettingKind::Time:
        return MakeValueType<TimeValue>("ns3::TimeValue");
    case hpcc::SettingKind::Rate:
        return MakeValueType<DataRateValue>("ns3::DataRateValue");
    case hpcc::SettingKind::Text:
        break;
    }
    return MakeValueType<StringValue>("ns3::StringValue");
}

/**
 * \brief Ask whether a value has a text of its own: others need a checker of their own type.
 * \param value the value
 * \return whether it is of a type that a setting may be set by
 */
bool
HasText(const AttributeValue& value)
{
    if (dynamic_cast<const StringValue*>(&value))
    {
        return true;
    }
    for (const auto& type : {&typeid(BooleanValue),
                             &typeid(DataRateValue),
                             &typeid(DoubleValue),
                             &typeid(IntegerValue),
                             &typeid(TimeValue),
                             &typeid(UintegerValue)})
    {
        if (typeid(value) == *type)
        {
            return true;
        }
    }
    return false;
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
        // ns-3 writes six digits. This writes as many as give the same number when read again.
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

/**
 * \brief Give a value the meaning of a text.
 * \param value the value
 * \param text the text
 * \return whether the value can have it
 */
bool
Assign(AttributeValue& value, const std::string& text)
{
    if (const auto whole = dynamic_cast<StringValue*>(&value))
    {
        // StringValue itself would read up to the first space only, and refuse an empty text.
        whole->Set(text);
        return true;
    }
    return value.DeserializeFromString(text, nullptr);
}

/// A setting that is an attribute.
struct SettingAttribute
{
    /**
     * \param setting the core's description
     */
    explicit SettingAttribute(hpcc::SettingInfo setting)
        : info(std::move(setting)),
          type(TypeOf(info.kind)),
          initial(type.make())
    {
        initial->DeserializeFromString(std::string(info.initial), nullptr);
    }

    /**
     * \brief Tell the initial value without looking at its text: ns-3 sets every attribute of every
     * new object to it, and has that checked.
     * \param value a value
     * \return whether it is the initial value, and of its type
     */
    bool IsInitial(const AttributeValue& value) const
    {
        return typeid(value) == typeid(*initial) && type.areEqual(value, *initial);
    }

    const hpcc::SettingInfo info;      //!< the core's description
    const ValueType type;              //!< the type of its values
    const Ptr<AttributeValue> initial; //!< its value in new settings
};

/// The text of a value of a setting.
class SettingText : public StringValue
{
  public:
    /**
     * \param setting the setting
     */
    explicit SettingText(std::shared_ptr<const SettingAttribute> setting)
        : m_setting(std::move(setting))
    {
    }

    // ns-3 calls this once more after the checker has refused a text, and said why.
    bool DeserializeFromString(std::string text, Ptr<const AttributeChecker>) override
    {
        const auto set = [&] { hpcc::new_settings()->set(m_setting->info, text); };
        if (!TryRust(set).empty())
        {
            return false;
        }
        Set(text);
        return true;
    }

  private:
    std::shared_ptr<const SettingAttribute> m_setting; //!< the setting
};

/// Takes what the core accepts for a setting.
class SettingChecker : public AttributeChecker
{
  public:
    /**
     * \param setting the setting
     */
    explicit SettingChecker(std::shared_ptr<const SettingAttribute> setting)
        : m_setting(std::move(setting))
    {
    }

    bool Check(const AttributeValue& value) const override
    {
        if (m_setting->IsInitial(value))
        {
            return true;
        }
        const hpcc::SettingInfo& info = m_setting->info;
        if (!HasText(value))
        {
            std::cerr << "hpcc: attribute " << std::string(info.attribute)
                      << ": no setting is set by a value of this type; expected ns3::StringValue, "
                         "or what ns-3 lists as the attribute's type, "
                      << m_setting->type.name << std::endl;
            return false;
        }
        const std::string wrong =
            TryRust([&] { hpcc::new_settings()->set(info, TextOf(value, this)); });
        if (!wrong.empty())
        {
            std::cerr << "hpcc: attribute " << std::string(info.attribute) << ": " << wrong
                      << std::endl;
        }
        return wrong.empty();
    }

    std::string GetValueTypeName() const override
    {
        return m_setting->type.name;
    }

    bool HasUnderlyingTypeInformation() const override
    {
        return true;
    }

    std::string GetUnderlyingTypeInformation() const override
    {
        return std::string(m_setting->info.expected);
    }

    Ptr<AttributeValue> Create() const override
    {
        return ns3::Create<SettingText>(m_setting);
    }

    bool Copy(const AttributeValue& source, AttributeValue& destination) const override
    {
        return Assign(destination, TextOf(source, this));
    }

  private:
    std::shared_ptr<const SettingAttribute> m_setting; //!< the setting
};

/// Reads and writes a setting of a SettingsOwner.
class SettingAccessor : public AttributeAccessor
{
  public:
    /**
     * \param setting the setting
     */
    explicit SettingAccessor(std::shared_ptr<const SettingAttribute> setting)
        : m_setting(std::move(setting))
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        const auto owner = dynamic_cast<SettingsOwner*>(object);
        if (!owner)
        {
            return false;
        }
        hpcc::Settings& settings = owner->GetSettings();
        if (settings.is_new() && m_setting->IsInitial(value))
        {
            return true;
        }
        const hpcc::SettingInfo& info = m_setting->info;
        const std::string text = TextOf(value, nullptr);
        if (std::string(settings.get(info)) == text)
        {
            return true;
        }
        if (owner->IsFrozen())
        {
            std::cerr << "hpcc: attribute " << std::string(info.attribute)
                      << ": it has been taken over, by QbbHelper::Start() or as a flow began, and "
                         "cannot change any more; set it before"
                      << std::endl;
            return false;
        }
        // The checker has said why, if it is refused.
        return TryRust([&] { settings.set(info, text); }).empty();
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        const auto owner = dynamic_cast<const SettingsOwner*>(object);
        return owner && Assign(value, std::string(owner->GetSettings().get(m_setting->info)));
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
    std::shared_ptr<const SettingAttribute> m_setting; //!< the setting
};

} // namespace

TypeId
AddSettings(TypeId tid, const rust::Vec<hpcc::SettingInfo>& settings)
{
    for (const auto& info : settings)
    {
        const auto setting = std::make_shared<const SettingAttribute>(info);
        tid.AddAttribute(std::string(info.attribute),
                         std::string(info.help),
                         *setting->initial,
                         Create<SettingAccessor>(setting),
                         Create<SettingChecker>(setting));
    }
    return tid;
}

} // namespace ns3
