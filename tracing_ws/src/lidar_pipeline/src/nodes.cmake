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
find_package(sensor_msgs REQUIRED)
find_package(workload_rclcpp REQUIRED)

add_library(lidar_pipeline_nodes SHARED
  src/column_times.cpp src/perf_node.cpp src/perf_node_program.cpp)
target_compile_options(lidar_pipeline_nodes PRIVATE -Wall -Wextra -Wpedantic)
target_link_libraries(lidar_pipeline_nodes PUBLIC
  rclcpp::rclcpp
  rclcpp_components::component
  workload_rclcpp::workload_rclcpp
  ${sensor_msgs_TARGETS})
rclcpp_components_register_nodes(lidar_pipeline_nodes lidar_pipeline::PerfNode)
install(TARGETS lidar_pipeline_nodes DESTINATION lib)

# Named apart from the Python executable, which lies in the same directory.
add_executable(perf_node_cpp src/perf_main.cpp)
target_compile_options(perf_node_cpp PRIVATE -Wall -Wextra -Wpedantic)
target_link_libraries(perf_node_cpp PRIVATE lidar_pipeline_nodes)
install(TARGETS perf_node_cpp DESTINATION lib/${PROJECT_NAME})
