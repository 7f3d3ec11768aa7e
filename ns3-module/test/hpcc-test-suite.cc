/*
 * SPDX-License-Identifier: GPL-2.0-only
 */
#include "ns3/test.h"

using namespace ns3;

/**
 * \ingroup hpcc
 * \brief Tests of the hpcc module.
 */
class HpccTestSuite : public TestSuite
{
  public:
    HpccTestSuite()
        : TestSuite("hpcc", Type::UNIT)
    {
    }
};

static HpccTestSuite g_hpccTestSuite; //!< registers the suite
