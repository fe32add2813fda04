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

find_package(driver_tracepoints REQUIRED)
find_package(lifecycle_msgs REQUIRED)
find_package(nlohmann_json 3.10 REQUIRED)
find_package(rclcpp REQUIRED)
find_package(rclcpp_components REQUIRED)
find_package(rclcpp_lifecycle REQUIRED)
find_package(sensor_msgs REQUIRED)
find_package(std_srvs REQUIRED)
find_package(tf2_msgs QUIET)
find_package(workload_rclcpp REQUIRED)

# From packets to points, without ROS: its loops are optimized, which rclcpp's templates need not be.
add_library(lidar_pipeline_scans STATIC
  src/driver/images.cpp
  src/driver/points.cpp
  src/driver/projection.cpp
  src/driver/scan_assembly.cpp
  src/driver/sensor_client.cpp
  src/driver/udp_source.cpp)
set_target_properties(lidar_pipeline_scans PROPERTIES POSITION_INDEPENDENT_CODE ON)
# A product and a sum in one rounding would differ from NumPy's.
target_compile_options(lidar_pipeline_scans PRIVATE
  -Wall -Wextra -Wpedantic -O3 -ffp-contract=off)
target_link_libraries(lidar_pipeline_scans
  PUBLIC driver_tracepoints::driver_tracepoints
  PRIVATE nlohmann_json::nlohmann_json)

add_library(lidar_pipeline_nodes SHARED
  src/column_times.cpp
  src/driver/counts_file.cpp
  src/driver/driver_node.cpp
  src/driver/driver_program.cpp
  src/driver/messages.cpp
  src/driver/publishing.cpp
  src/driver/reading.cpp
  src/driver/settings.cpp
  src/driver/transforms.cpp
  src/driver/watch.cpp
  src/perf_node.cpp
  src/perf_node_program.cpp)
target_compile_options(lidar_pipeline_nodes PRIVATE -Wall -Wextra -Wpedantic -ffp-contract=off)
target_link_libraries(lidar_pipeline_nodes
  PUBLIC
    rclcpp::rclcpp
    rclcpp_components::component
    workload_rclcpp::workload_rclcpp
    ${sensor_msgs_TARGETS}
  PRIVATE
    lidar_pipeline_scans
    rclcpp_lifecycle::rclcpp_lifecycle
    ${lifecycle_msgs_TARGETS}
    ${std_srvs_TARGETS})
if(tf2_msgs_FOUND)
  target_compile_definitions(lidar_pipeline_nodes PRIVATE LIDAR_PIPELINE_HAS_TF2_MSGS)
  target_link_libraries(lidar_pipeline_nodes PRIVATE ${tf2_msgs_TARGETS})
else()
  message(STATUS "tf2_msgs is not installed: the driver in C++ sends no static transforms")
endif()
rclcpp_components_register_nodes(lidar_pipeline_nodes
  lidar_pipeline::OusterDriver
  lidar_pipeline::PerfNode)
install(TARGETS lidar_pipeline_nodes DESTINATION lib)

# Named apart from the Python executables, which lie in the same directory.
add_executable(perf_node_cpp src/perf_main.cpp)
add_executable(ouster_driver_cpp src/driver/driver_main.cpp)
add_executable(composed_cpp src/driver/composed_main.cpp)
set(executables perf_node_cpp ouster_driver_cpp composed_cpp)
foreach(executable ${executables})
  target_compile_options(${executable} PRIVATE -Wall -Wextra -Wpedantic)
  target_link_libraries(${executable} PRIVATE lidar_pipeline_nodes)
endforeach()
install(TARGETS ${executables} DESTINATION lib/${PROJECT_NAME})
