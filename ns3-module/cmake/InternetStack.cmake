# SPDX-License-Identifier: GPL-2.0-only
#
# TCP and UDP hosts, where ns-3's internet stack is built anyway; its applications are for tests and an example.
#   out: stack_sources, stack_headers, stack_tests, stack_libraries, stack_test_libraries; nothing in them without the stack
#
# A file of its own, for ns-3 takes each library that a module's CMakeLists.txt names for one that it must have.

set(stack_sources)
set(stack_headers)
set(stack_tests)
set(stack_libraries)
set(stack_test_libraries)
if("internet" IN_LIST ns3-all-enabled-modules AND "applications" IN_LIST ns3-all-enabled-modules)
  set(stack_sources
      tcp/helper/datagram-client-helper.cc
      tcp/helper/packet-host-helper.cc
      tcp/helper/scenario-datagram-flow.cc
      tcp/helper/scenario-datagram-hosts.cc
      tcp/helper/scenario-stack-hosts.cc
      tcp/helper/scenario-tcp-flow.cc
      tcp/helper/scenario-tcp-hosts.cc
      tcp/model/datagram-client.cc
      tcp/model/packet-headers.cc
      tcp/model/packet-host.cc
      tcp/model/tcp-hpcc-plus.cc
  )
  set(stack_headers
      tcp/helper/datagram-client-helper.h
      tcp/helper/packet-host-helper.h
      tcp/model/datagram-client.h
      tcp/model/packet-headers.h
      tcp/model/packet-host.h
      tcp/model/probe-client.h
      tcp/model/tcp-hpcc-plus.h
  )
  set(stack_tests
      tcp/test/datagram-client-test.cc
      tcp/test/packet-host-test.cc
      tcp/test/shared-host-test.cc
      tcp/test/stack-program-test.cc
      tcp/test/tcp-hpcc-plus-test.cc
      tcp/test/tcp-test-network.cc
  )
  set(stack_libraries ${libinternet} ${libapplications})
  if("flow-monitor" IN_LIST ns3-all-enabled-modules)
    list(APPEND stack_tests tcp/test/flow-monitor-test.cc)
    set(stack_test_libraries ${libflow-monitor})
  endif()
endif()
