# Copyright 2026 The Strata Authors
# SPDX-License-Identifier: Apache-2.0
# Source with the prefix of a virtual environment that holds the ROS wheels: sets what ROS needs.
# The wheels' bundled libraries lie in several `ros_*.libs` directories.
_prefix=$(cd "$1" && pwd)
_packages=$(echo "$_prefix"/lib/python3.*/site-packages)
_libraries=$(printf '%s:' "$_packages"/ros_*.libs)
export LD_LIBRARY_PATH="$_prefix/lib:$_libraries${LD_LIBRARY_PATH:-}"
export AMENT_PREFIX_PATH="$_prefix${AMENT_PREFIX_PATH:+:$AMENT_PREFIX_PATH}"
export CMAKE_PREFIX_PATH="$_prefix${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
export PYTHONPATH="$_packages${PYTHONPATH:+:$PYTHONPATH}"
export PATH="$_prefix/bin:$PATH"
export LIBRARY_PATH="$_libraries${LIBRARY_PATH:-}"
# The wheels' start-up hook would execute Python again to set LD_LIBRARY_PATH.
export _ROS_WHEELS_BOOTSTRAP_COMPLETE=1
unset _prefix _packages _libraries
