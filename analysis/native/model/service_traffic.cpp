// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "model/service_traffic.hpp"

#include "model/dds/calls.hpp"
#include "model/service_calls.hpp"
#include "model/services.hpp"

namespace strata {

void ServiceTraffic::finish() {
  steps_.close();
  const auto clients = dds::Calls(context_, entities_, steps_).find();
  Services(context_, entities_, executions_, steps_).finish(clients);
  ServiceCalls(context_).finish(steps_);
}

}  // namespace strata
