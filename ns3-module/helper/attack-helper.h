/*
 * Copyright (c) 2026 The hpcc-ns3 authors
 *
 * SPDX-License-Identifier: GPL-2.0-only
 */
#ifndef ATTACK_HELPER_H
#define ATTACK_HELPER_H

#include "attacker.h"

#include "ns3/node.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

class QbbHelper;

/**
 * \ingroup hpcc
 * \brief Makes nodes of a network attackers.
 *
 * The settings are the keys of `[[attack]]` in files, as text: `victims`, `start`, `stop`, `rate`,
 * `spoofed_source`, `records`, `claim`, `share`, `delay`, `acknowledged`, `priority`;
 * `./hpcc explain attack` lists them.
 */
class AttackHelper
{
  public:
    /**
     * \param kind what attackers do, as `kind` of `[[attack]]` has it
     */
    explicit AttackHelper(const std::string& kind);

    /**
     * \brief Set something else.
     * \param key the setting
     * \param value its value, as in a file, without quotes
     */
    void Set(const std::string& key, const std::string& value);

    /**
     * \brief Make a node an attacker. Ends the program with the reason if it cannot be one.
     * \param node the node
     * \param network its network, which has started
     * \return the attacker; the attack ends with it
     */
    [[nodiscard]] std::unique_ptr<Attacker> Install(Ptr<Node> node, const QbbHelper& network) const;

  private:
    std::vector<std::pair<std::string, std::string>> m_settings; //!< what was set, as text
};

} // namespace ns3

#endif /* ATTACK_HELPER_H */
