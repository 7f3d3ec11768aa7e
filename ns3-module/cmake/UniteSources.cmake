# SPDX-License-Identifier: GPL-2.0-only
#
# Compiles the sources of a module several at a time (CMake's unity builds), which takes a third of the time: the
# larger part of a source's compilation is that of its headers. Asked for by HPCC_UNITE_SOURCES, for trees of ns-3 3.37.

function(hpcc_unite_sources)
  # Sources that define what another one of their module does, too.
  set(sources_apart
      flow-monitor/model/ipv6-flow-classifier.cc
      network/utils/mac48-address.cc
      network/utils/mac64-address.cc
      stats/model/sqlite-output.cc
      traffic-control/model/codel-queue-disc.cc
  )
  foreach(module ${libs_to_build} hpcc)
    if(NOT TARGET ${lib${module}-obj})
      continue()
    endif()
    # Few for each of our own, which wait for cargo, so that all processors have some at the end.
    set(batch 24)
    if(module STREQUAL "hpcc")
      set(batch 12)
    endif()
    # Each source has a static variable g_log; together each gets a name of its own.
    set_target_properties(
      ${lib${module}-obj}
      PROPERTIES
        UNITY_BUILD ON
        UNITY_BUILD_BATCH_SIZE ${batch}
        UNITY_BUILD_UNIQUE_ID HPCC_SOURCE
        UNITY_BUILD_CODE_BEFORE_INCLUDE "#undef g_log\n#define g_log HPCC_SOURCE"
    )
    foreach(source ${sources_apart})
      if(source MATCHES "^${module}/")
        set_source_files_properties(
          "${PROJECT_SOURCE_DIR}/src/${source}"
          TARGET_DIRECTORY ${lib${module}-obj}
          PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
        )
      endif()
    endforeach()
  endforeach()
endfunction()

if(HPCC_UNITE_SOURCES)
  # Each of them brings the same declarations.
  set_source_files_properties(${hpcc_bridge_source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  # When the targets are there: ns-3 takes its own modules after those of contrib/.
  cmake_language(DEFER DIRECTORY "${PROJECT_SOURCE_DIR}" CALL hpcc_unite_sources)
endif()
