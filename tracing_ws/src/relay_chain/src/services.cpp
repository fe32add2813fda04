// Copyright 2026 The Strata Authors
// SPDX-License-Identifier: Apache-2.0
#include "services.hpp"

#include <cstdio>
#include <rclcpp_components/register_node_macro.hpp>
#include <utility>

namespace relay_chain {

namespace {

std::optional<std::string> unserved(const rclcpp::ClientBase& client) {
  if (client.service_is_ready()) {
    return std::nullopt;
  }
  return std::string("no service ") + client.get_service_name();
}

Arrival arrival_of(const TimingCall::Request& request) {
  return {request.msgid, request.nanosec, static_cast<std::int64_t>(request.payload.size())};
}

}  // namespace

Caller::Caller(const rclcpp::NodeOptions& options)
    : ChainNode("caller", options),
      service_(setting(*this, "service", std::string("/service_0"))),
      messages_(setting(*this, "messages", std::int64_t{500}, 1)),
      rate_(hz(*this, "rate", 100.0)),
      peers_(static_cast<std::size_t>(setting(*this, "peers", std::int64_t{0}, 0))),
      timeout_(static_cast<std::int64_t>(
          setting(*this, "timeout_s", std::chrono::duration<double>(kAfterLast).count(), 0) * 1e9)),
      client_(create_client<TimingCall>(service_, topic(service_).qos)) {
  if (counts_losses()) {
    last_ = endpoints_of("Timing").sending(*this, {kLastTopic, last_qos()}, 0, false);
  }
}

std::optional<std::string> Caller::missing() {
  if (auto lacks = unserved(*client_)) {
    return lacks;
  }
  return missing_peers(peers_);
}

void Caller::begin() {
  std::fprintf(stderr, "%s: all connected, sending %lld requests\n", get_name(),
               static_cast<long long>(messages_));
  const std::chrono::nanoseconds period(static_cast<std::int64_t>(1e9 / rate_));
  timer_ = create_wall_timer(period, [this] { on_timer(); });
}

void Caller::on_timer() {
  const auto started_ns = now_ns();
  const auto number = sent();
  if (number == messages_) {
    if (!done() && started_ns - last_ns_ > timeout_.count()) {
      end();
    }
    return;
  }
  round_trips_.emplace_back();
  auto request = std::make_shared<TimingCall::Request>();
  request->msgid = number;
  request->source = get_name();
  request->payload.resize(static_cast<std::size_t>(payload()));
  const auto stamp_ns = now_ns();
  request->nanosec = stamp_ns;
  last_ns_ = stamp_ns;
  client_->async_send_request(
      request, [this, number, stamp_ns](rclcpp::Client<TimingCall>::SharedFuture /*answer*/) {
        on_answer(number, stamp_ns);
      });
  truth().add("cb_start", number, started_ns, stamp_ns);
  truth().add("request", number, stamp_ns, stamp_ns);
  truth().add("cb_end", number, now_ns(), stamp_ns);
  if (sent() == messages_ && counts_losses()) {
    last_.send(messages_, now_ns());
  }
}

void Caller::on_answer(std::int64_t number, std::int64_t stamp_ns) {
  const auto at_ns = now_ns();
  round_trips_[static_cast<std::size_t>(number)] = at_ns - stamp_ns;
  truth().add("response", number, at_ns, stamp_ns);
  if (++answered_ == messages_) {
    end();
  }
}

void Caller::end() {
  timer_->cancel();
  finish();
}

std::optional<std::string> Caller::says() const {
  return std::to_string(answered_) + " of " + std::to_string(sent()) + " requests answered";
}

bool Caller::sum_up(Summary& summary) const {
  summary.add("payload", std::optional(payload()));
  summary.add("rate", std::optional(rate_));
  summary.add("sent", std::optional(sent()));
  summary.add("answered", std::optional(answered_));
  summary.add("lost", std::optional(sent() - answered_));
  summary.add("round_trips_ns", round_trips_);
  return true;
}

Forwarder::Forwarder(const rclcpp::NodeOptions& options) : ChainNode("forwarder", options) {
  const auto input = setting(*this, "input", std::string("/service_0"));
  const auto output = setting(*this, "output", std::string("/service_1"));
  client_ = create_client<TimingCall>(output, topic(output).qos);
  if (choice(*this, "answers", {"at_once", "after_next"}) == "after_next") {
    const auto serve = [this](const Service::SharedPtr server,
                              const std::shared_ptr<rmw_request_id_t> id,
                              const TimingCall::Request::SharedPtr request) {
      pass_on(request, [server, id](const TimingCall::Response& answer) {
        auto response = answer;
        server->send_response(*id, response);
      });
    };
    server_ = create_service<TimingCall>(input, serve, topic(input).qos);
    return;
  }
  const auto serve = [this](const TimingCall::Request::SharedPtr request,
                            const TimingCall::Response::SharedPtr response) {
    pass_on(request, [](const TimingCall::Response& /*answer*/) {});
    response->msgid = request->msgid;
  };
  server_ = create_service<TimingCall>(input, serve, topic(input).qos);
}

void Forwarder::pass_on(const TimingCall::Request::SharedPtr& request,
                        std::function<void(const TimingCall::Response& answer)> act) {
  const auto started_ns = now_ns();
  work();
  const auto stamp_ns = now_ns();
  client_->async_send_request(
      request, [act = std::move(act)](rclcpp::Client<TimingCall>::SharedFuture answer) {
        act(*answer.get());
      });
  truth().add("cb_start", request->msgid, started_ns, request->nanosec);
  truth().add("request", request->msgid, stamp_ns, request->nanosec);
  truth().add("cb_end", request->msgid, now_ns(), request->nanosec);
}

std::optional<std::string> Forwarder::missing() { return unserved(*client_); }

Responder::Responder(const rclcpp::NodeOptions& options)
    : Receiver("responder", options, "requests") {
  const auto input = setting(*this, "input", std::string("/service_1"));
  const auto serve = [this](const TimingCall::Request::SharedPtr request,
                            const TimingCall::Response::SharedPtr response) {
    const auto started_ns = now_ns();
    work();
    response->msgid = request->msgid;
    truth().add("cb_start", request->msgid, started_ns, request->nanosec);
    truth().add("cb_end", request->msgid, now_ns(), request->nanosec);
    receive(started_ns, arrival_of(*request));
  };
  server_ = create_service<TimingCall>(input, serve, topic(input).qos);
}

}  // namespace relay_chain

RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Caller)
RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Forwarder)
RCLCPP_COMPONENTS_REGISTER_NODE(relay_chain::Responder)
