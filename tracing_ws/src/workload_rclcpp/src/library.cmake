# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Included where rclcpp is installed.

enable_language(C)
enable_language(CXX)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo)
endif()

find_package(rclcpp REQUIRED)
include(cmake/workload_rclcpp-extras.cmake)

add_library(workload_rclcpp SHARED
  src/measuring_node.cpp
  src/process.cpp
  src/settings.cpp
  src/summary_process.cpp)
target_compile_options(workload_rclcpp PRIVATE -Wall -Wextra -Wpedantic)
target_include_directories(workload_rclcpp PUBLIC
  "$<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>"
  "$<INSTALL_INTERFACE:include/${PROJECT_NAME}>")
target_link_libraries(workload_rclcpp PUBLIC rclcpp::rclcpp)

install(DIRECTORY include/ DESTINATION include/${PROJECT_NAME})
install(TARGETS workload_rclcpp EXPORT export_${PROJECT_NAME} DESTINATION lib)
ament_export_targets(export_${PROJECT_NAME})
ament_export_dependencies(rclcpp)
