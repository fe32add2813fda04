// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "endpoints.hpp"

#include <map>

namespace relay_chain {

// One file each, made of typed_endpoints.cpp.in.
extern const Endpoints kTiming;
extern const Endpoints kTimingFixed256;
extern const Endpoints kTimingFixed1k;
extern const Endpoints kTimingFixed4k;
extern const Endpoints kTimingFixed16k;
extern const Endpoints kTimingFixed64k;
extern const Endpoints kTimingFixed256k;
extern const Endpoints kTimingFixed1m;
extern const Endpoints kTimingFixed4m;

const Endpoints& endpoints_of(const std::string& type) {
  static const std::map<std::string, const Endpoints*> known{
      {"Timing", &kTiming},
      {"TimingFixed256", &kTimingFixed256},
      {"TimingFixed1k", &kTimingFixed1k},
      {"TimingFixed4k", &kTimingFixed4k},
      {"TimingFixed16k", &kTimingFixed16k},
      {"TimingFixed64k", &kTimingFixed64k},
      {"TimingFixed256k", &kTimingFixed256k},
      {"TimingFixed1m", &kTimingFixed1m},
      {"TimingFixed4m", &kTimingFixed4m},
  };
  return *known.at(type);
}

}  // namespace relay_chain
