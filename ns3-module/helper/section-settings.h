/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef SECTION_SETTINGS_H
#define SECTION_SETTINGS_H

#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * \ingroup hpcc
 * \brief Keys and values of a section of scenario files, as text.
 */
class SectionSettings
{
  public:
    /**
     * \brief Set a key of the section.
     * \param key the key, as in a file: `./hpcc explain` lists them
     * \param value its value, as in a file, without quotes: "100Gbps", "0-7", "[1, 2]"
     */
    void Set(const std::string& key, const std::string& value)
    {
        m_entries.emplace_back(key, value);
    }

    /**
     * \brief Set a key of the section to a number, or to true or false.
     * \tparam Number type of the number
     * \param key the key, as in a file
     * \param number its value
     */
    template <class Number, std::enable_if_t<std::is_arithmetic_v<Number>, bool> = true>
    void Set(const std::string& key, Number number)
    {
        std::ostringstream text;
        text << std::boolalpha << number;
        Set(key, text.str());
    }

  protected:
    std::vector<std::pair<std::string, std::string>> m_entries; //!< what was set
};

} // namespace ns3

#endif /* SECTION_SETTINGS_H */
