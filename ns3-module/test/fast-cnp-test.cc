/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "hpcc-tests.h"

namespace ns3
{
namespace tests
{

TestCases
MakeFastCnpTests()
{
    return {};
}

} // namespace tests
} // namespace ns3
