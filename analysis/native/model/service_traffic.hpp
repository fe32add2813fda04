// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0

// Services, clients, what they sent and took, and their calls.
#pragma once

#include "model/context.hpp"
#include "model/entities.hpp"
#include "model/event.hpp"
#include "model/executions.hpp"
#include "model/service_steps.hpp"

namespace strata {

class ServiceTraffic {
 public:
  ServiceTraffic(Context& context, const Entities& entities, Executions& executions)
      : context_(context),
        entities_(entities),
        executions_(executions),
        steps_(context, executions) {}

  static constexpr bool wants(EventType type) { return ServiceSteps::wants(type); }
  // Publications have their rows by then.
  void on(const Event& event) { steps_.on(event); }
  void finish();

 private:
  Context& context_;
  const Entities& entities_;
  Executions& executions_;
  ServiceSteps steps_;
};

}  // namespace strata
