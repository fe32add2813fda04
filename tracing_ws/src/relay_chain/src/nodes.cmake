# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# The nodes in C++. Included where rclcpp is installed.

enable_language(C)
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_package(rclcpp REQUIRED)
find_package(rclcpp_components REQUIRED)
find_package(strata_interfaces REQUIRED)
find_package(workload_rclcpp REQUIRED)

# What rclcpp makes of a message type costs seconds of compilation, so it is compiled once for all nodes.
set(typed)
foreach(size "" 256 1k 4k 16k 64k 256k 1m 4m)
  if(size STREQUAL "")
    set(type Timing)
    set(header timing)
  else()
    set(type TimingFixed${size})
    set(header timing_fixed${size})
  endif()
  configure_file(src/typed_endpoints.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/${type}.cpp @ONLY)
  list(APPEND typed ${CMAKE_CURRENT_BINARY_DIR}/${type}.cpp)
endforeach()

add_library(relay_chain_nodes SHARED
  ${typed}
  src/chain_node.cpp
  src/distractor.cpp
  src/endpoints.cpp
  src/listener.cpp
  src/make_node.cpp
  src/messages.cpp
  src/ping.cpp
  src/process.cpp
  src/programs.cpp
  src/receiver.cpp
  src/relay.cpp
  src/services.cpp
  src/sink.cpp
  src/source.cpp
  src/summary.cpp
  src/truth.cpp)
target_include_directories(relay_chain_nodes PRIVATE src)
target_compile_options(relay_chain_nodes PRIVATE -Wall -Wextra -Wpedantic)
target_link_libraries(relay_chain_nodes PUBLIC
  rclcpp::rclcpp
  rclcpp_components::component
  workload_rclcpp::workload_rclcpp
  ${strata_interfaces_TARGETS})
rclcpp_components_register_nodes(relay_chain_nodes
  relay_chain::Source
  relay_chain::Relay
  relay_chain::Listener
  relay_chain::Sink
  relay_chain::Ping
  relay_chain::Distractor
  relay_chain::Caller
  relay_chain::Forwarder
  relay_chain::Responder)
install(TARGETS relay_chain_nodes DESTINATION lib)

# Named apart from the Python executables, which lie in the same directory.
add_executable(chain_cpp src/chain_main.cpp)
set(executables chain_cpp)
foreach(kind source relay listener sink ping distractor caller forwarder responder)
  add_executable(${kind}_cpp src/node_main.cpp)
  target_compile_definitions(${kind}_cpp PRIVATE RELAY_CHAIN_NODE="${kind}")
  list(APPEND executables ${kind}_cpp)
endforeach()
foreach(executable ${executables})
  target_compile_options(${executable} PRIVATE -Wall -Wextra -Wpedantic)
  target_link_libraries(${executable} PRIVATE relay_chain_nodes)
endforeach()
install(TARGETS ${executables} DESTINATION lib/${PROJECT_NAME})
