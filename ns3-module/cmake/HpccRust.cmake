# SPDX-License-Identifier: GPL-2.0-only
#
# Builds the Rust core with cargo.
#   in : hpcc_rust_dir, the cargo workspace
#   out: target hpcc-rust (imported static library), hpcc_bridge_source, hpcc_bridge_include

find_program(HPCC_CARGO cargo HINTS "$ENV{CARGO_HOME}/bin" "$ENV{HOME}/.cargo/bin")
if(NOT HPCC_CARGO)
  file(STRINGS "${hpcc_rust_dir}/Cargo.toml" wanted REGEX "^rust-version = ")
  string(REGEX MATCH "[0-9.]+" wanted "${wanted}")
  message(FATAL_ERROR "hpcc needs cargo (Rust ${wanted} or newer) on the PATH or in ~/.cargo/bin")
endif()

# Where cargo puts what it builds unless it is told otherwise, so that the hpcc command and other trees share it.
set(hpcc_cargo_dir "${hpcc_rust_dir}/target")
if(DEFINED ENV{CARGO_TARGET_DIR})
  get_filename_component(hpcc_cargo_dir "$ENV{CARGO_TARGET_DIR}" ABSOLUTE BASE_DIR "${hpcc_rust_dir}")
endif()
set(HPCC_CARGO_PROFILE release CACHE STRING "Profile of the Rust core: release, or checked (arithmetic that overflows ends the program)")
set(hpcc_rust_library "${hpcc_cargo_dir}/${HPCC_CARGO_PROFILE}/libhpcc_ns3.a")
set(hpcc_bridge_include "${hpcc_cargo_dir}/cxxbridge")
# Each source of the bridge with a cxx module has a generated C++ side.
set(hpcc_bridge_source)
set(hpcc_bridge_headers "${hpcc_bridge_include}/rust/cxx.h")
file(GLOB hpcc_bridge_modules RELATIVE "${hpcc_rust_dir}" CONFIGURE_DEPENDS "${hpcc_rust_dir}/ns3-bridge/src/*.rs")
foreach(module ${hpcc_bridge_modules})
  file(STRINGS "${hpcc_rust_dir}/${module}" is_bridge LIMIT_COUNT 1 REGEX "^#\\[cxx::bridge\\(")
  if(is_bridge)
    list(APPEND hpcc_bridge_source "${hpcc_bridge_include}/${module}.cc")
    list(APPEND hpcc_bridge_headers "${hpcc_bridge_include}/${module}.h")
  endif()
endforeach()
file(MAKE_DIRECTORY "${hpcc_bridge_include}")

# cargo knows what is out of date, so it always runs; without news it takes 0.1 s and touches nothing.
add_custom_target(
  hpcc-cargo
  COMMAND ${CMAKE_COMMAND} -E env "CARGO_TARGET_DIR=${hpcc_cargo_dir}"
          "${HPCC_CARGO}" build --locked --quiet --profile ${HPCC_CARGO_PROFILE} --package ns3-bridge --features ns3
  BYPRODUCTS "${hpcc_rust_library}" ${hpcc_bridge_source} ${hpcc_bridge_headers}
  WORKING_DIRECTORY "${hpcc_rust_dir}"
  COMMENT "cargo build --package ns3-bridge"
  VERBATIM
)
add_library(hpcc-rust STATIC IMPORTED GLOBAL)
set_target_properties(hpcc-rust PROPERTIES IMPORTED_LOCATION "${hpcc_rust_library}")
add_dependencies(hpcc-rust hpcc-cargo)
