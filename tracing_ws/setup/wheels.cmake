# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Initial cache for CMake projects built against the ROS wheels.

# Libraries of the wheels NEED others that only a running process resolves (libpython, bundled
# libraries with hashed names).
set(CMAKE_SHARED_LINKER_FLAGS "-Wl,--as-needed,--allow-shlib-undefined" CACHE STRING "")
set(CMAKE_MODULE_LINKER_FLAGS "-Wl,--as-needed,--allow-shlib-undefined" CACHE STRING "")
set(CMAKE_EXE_LINKER_FLAGS "-Wl,--as-needed,--allow-shlib-undefined" CACHE STRING "")
