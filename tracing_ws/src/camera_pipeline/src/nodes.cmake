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

# From lib/camera_pipeline, and from lib, to the libraries of this workspace.
set(CMAKE_INSTALL_RPATH "$ORIGIN/..;$ORIGIN")

find_package(rclcpp REQUIRED)
find_package(rclcpp_components REQUIRED)
find_package(sensor_msgs REQUIRED)
find_package(workload_rclcpp REQUIRED)

add_library(camera_settings STATIC src/camera_settings.cpp)
target_compile_options(camera_settings PRIVATE -Wall -Wextra -Wpedantic)
target_link_libraries(camera_settings PUBLIC rclcpp::rclcpp workload_rclcpp::workload_rclcpp)
set_target_properties(camera_settings PROPERTIES POSITION_INDEPENDENT_CODE ON)

add_library(camera_pipeline_nodes SHARED
  src/image_subscriber.cpp
  src/image_subscriber_program.cpp
  src/serialized_image.cpp)
target_compile_options(camera_pipeline_nodes PRIVATE -Wall -Wextra -Wpedantic)
target_link_libraries(camera_pipeline_nodes PUBLIC
  rclcpp::rclcpp
  rclcpp_components::component
  workload_rclcpp::workload_rclcpp
  ${sensor_msgs_TARGETS}
  PRIVATE camera_settings)
rclcpp_components_register_nodes(camera_pipeline_nodes camera_pipeline::ImageSubscriber)
install(TARGETS camera_pipeline_nodes DESTINATION lib)

# Named apart from the Python executable, which lies in the same directory.
add_executable(image_subscriber_cpp src/subscriber_main.cpp)
target_compile_options(image_subscriber_cpp PRIVATE -Wall -Wextra -Wpedantic)
target_link_libraries(image_subscriber_cpp PRIVATE camera_pipeline_nodes)
install(TARGETS image_subscriber_cpp DESTINATION lib/${PROJECT_NAME})

# The camera needs GStreamer beside rclcpp.
if(GSTREAMER_FOUND)
  find_package(driver_tracepoints REQUIRED)
  add_library(camera_capture STATIC src/capture.c)
  target_compile_options(camera_capture PRIVATE -Wall -Wextra)
  target_link_libraries(camera_capture PUBLIC PkgConfig::GSTREAMER)
  set_target_properties(camera_capture PROPERTIES POSITION_INDEPENDENT_CODE ON)

  add_library(camera_source_nodes SHARED
    src/camera_source.cpp
    src/camera_source_component.cpp
    src/python_answers.cpp)
  target_compile_options(camera_source_nodes PRIVATE -Wall -Wextra -Wpedantic)
  target_link_libraries(camera_source_nodes
    PUBLIC
      rclcpp::rclcpp
      rclcpp_components::component
      workload_rclcpp::workload_rclcpp
      ${sensor_msgs_TARGETS}
    PRIVATE
      camera_capture
      camera_settings
      driver_tracepoints::driver_tracepoints)
  rclcpp_components_register_nodes(camera_source_nodes camera_pipeline::CameraSourceComponent)
  install(TARGETS camera_source_nodes DESTINATION lib)

  add_executable(camera_source_cpp src/source_main.cpp)
  target_compile_options(camera_source_cpp PRIVATE -Wall -Wextra -Wpedantic)
  target_link_libraries(camera_source_cpp PRIVATE camera_source_nodes)
  install(TARGETS camera_source_cpp DESTINATION lib/${PROJECT_NAME})
endif()
