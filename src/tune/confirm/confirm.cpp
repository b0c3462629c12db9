#include "tune/confirm/confirm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "api/run/loaded_plan.h"
#include "backend/roles.h"
#include "base/clock.h"
#include "numbers/output_bound.h"
#include "numbers/record.h"
#include "plan/realise.h"
#include "region/narrow_variant.h"
#include "region/value_json.h"
#include "timing/canary.h"
#include "timing/sampling.h"

namespace collage {
namespace {

/// How many times slower than the fastest a plan is that one round is enough for, where rough times will do.
constexpr double kOneRoundTells = 2.5;
/// A round of so many seconds tells that too, or all that is asked where rough times will do.
constexpr double kLongRoundSeconds = 1;
/// For the times of the steps of one plan: fewer runs where a run takes long.
constexpr std::int64_t kProfileNs = 1'000'000'000;
/// How many times slower than the fastest a plan may be whose steps are timed.
constexpr double kWorthAProfile = 1.25;

Result<std::vector<Tensor>> tensors_of(const Session& session, const Record& inputs) {
  std::vector<Tensor> tensors;
  for (const TensorPort& port : session.inputs()) {
    COLLAGE_TRY(Tensor tensor, inputs.tensor(port.name));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<void> set_inputs(Session& session, const Record& inputs) {
  COLLAGE_TRY(const std::vector<Tensor> tensors, tensors_of(session, inputs));
  return session.set_inputs(tensors);
}

Result<void> run_on(Session& session, const Record& inputs) {
  COLLAGE_TRY_VOID(set_inputs(session, inputs));
  return session.run();
}

/// A plan that has run once.
struct Ready {
  Session session;
  std::int64_t ran_ns = 0;
};

Result<Ready> ready(const PlanToTime& one, const ConfirmRequest& request, const Record& inputs, Registry& registry) {
  COLLAGE_TRY(const LoadedPlan plan, LoadedPlan::load(one.file, registry, {.threads = request.threads, .machine = {}}));
  COLLAGE_TRY(Session session, plan.make_session());
  COLLAGE_TRY_VOID(set_inputs(session, inputs));
  const std::int64_t begin = monotonic_ns();
  COLLAGE_TRY_VOID(session.run());
  const std::int64_t ran_ns = monotonic_ns() - begin;
  return Ready{.session = std::move(session), .ran_ns = ran_ns};
}

/// Judges the outputs of the last run, and gives the share of the bound that their largest error takes; the lane keeps
/// its first failure.
Result<double> judge_outputs(const Session& session, const OutputBound& bound, const Record& expected,
                             ConfirmLane& lane) {
  double share = 0;
  COLLAGE_TRY(const std::vector<Tensor> outputs, session.copy_outputs());
  for (std::size_t o = 0; o < outputs.size(); ++o) {
    const std::string& name = session.outputs()[o].name;
    COLLAGE_TRY(const Tensor wanted, expected.tensor(name));
    const JudgedOutput check = check_output(outputs[o], wanted, bound, expected.slack(name));
    share = std::max(share, check.share);
    if (!check.comparison.ok && lane.failure.empty())
      lane.failure = "output " + name + ": " + to_string(check.comparison);
  }
  return share;
}

/// Whether it stores or computes float32 numbers of the model in 16 bits, or may, as an engine at its default does.
bool uses_16_bits(const PlanBody& plan) {
  const auto is_stored_in_them = [](const PlanValue& value) { return value.place.format.narrow().has_value(); };
  const auto may_compute_in_them = [](const PlanStep& step) {
    return is_at_default_precision(step.backend) || is_narrow(Variant{.name = step.variant}) ||
           std::ranges::any_of(bodies_of(step), uses_16_bits);
  };
  return std::ranges::any_of(plan.values, is_stored_in_them) || std::ranges::any_of(plan.steps, may_compute_in_them);
}

/// On the timed inputs, and on the others where 16 bits may round more. The timed ones are in place before and after.
Result<void> judge_all(Session& session, bool is_right, const ConfirmRequest& request, const Record& inputs,
                       const Record& expected, ConfirmLane& lane) {
  const OutputBound bound = bound_in_plan(request.accuracy);
  COLLAGE_TRY(const double share, judge_outputs(session, bound, expected, lane));
  lane.share.add(share);
  if (is_right || request.more.empty() || !uses_16_bits(session.plan())) return {};
  for (const CheckedInputs& more : request.more) {
    COLLAGE_TRY(const Record other, Record::open(more.inputs));
    COLLAGE_TRY(const Record wanted, Record::open(more.expected));
    COLLAGE_TRY_VOID(run_on(session, other));
    COLLAGE_TRY(const double more_share, judge_outputs(session, bound, wanted, lane));
    lane.share.add(more_share);
  }
  return set_inputs(session, inputs);
}

/// What the last timed runs gave. Plans that came out wrong have no times.
Result<void> check_again(const std::vector<std::unique_ptr<Session>>& sessions, const std::vector<std::size_t>& lane_of,
                         const ConfirmRequest& request, const Record& expected, std::vector<ConfirmLane>& lanes) {
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    ConfirmLane& lane = lanes[lane_of[i]];
    COLLAGE_TRY_VOID(judge_outputs(*sessions[i], bound_in_plan(request.accuracy), expected, lane));
    if (!lane.failure.empty()) lane.lane.samples_ns.clear();
  }
  return {};
}

/// The times of steps in a plan say something of other plans: not those of a whole engine, which is one step, nor those
/// of a plan that is far behind.
bool is_worth_a_profile(const Plan& plan, const RaceLane& lane, std::int64_t fastest_ns) {
  return cover_steps(plan).size() > 1 &&
         static_cast<double>(lane.median_ns()) <= kWorthAProfile * static_cast<double>(fastest_ns);
}

int runs_to_profile(int asked, std::int64_t run_ns) {
  return std::clamp(static_cast<int>(kProfileNs / std::max<std::int64_t>(run_ns, 1)), 1, asked);
}

}  // namespace

Result<std::vector<ConfirmLane>> confirm_here(const ConfirmRequest& request, Registry& registry) {
  COLLAGE_TRY(const Record inputs, Record::open(request.inputs));
  std::optional<Record> expected;
  if (!request.expected.empty()) {
    COLLAGE_TRY(expected, Record::open(request.expected));
  }
  std::vector<ConfirmLane> lanes(request.plans.size());
  std::vector<std::unique_ptr<Session>> sessions;
  std::vector<Contender> contenders;
  std::vector<std::size_t> lane_of;
  for (std::size_t c = 0; c < request.plans.size(); ++c) {
    lanes[c].lane.name = request.plans[c].name;
    auto made = ready(request.plans[c], request, inputs, registry);
    if (!made) {
      lanes[c].failure = to_string(made.error());
      continue;
    }
    if (expected) {
      if (auto judged = judge_all(made->session, request.plans[c].is_right, request, inputs, *expected, lanes[c]);
          !judged)
        lanes[c].failure = to_string(judged.error());
      if (!lanes[c].failure.empty()) continue;
    }
    sessions.push_back(std::make_unique<Session>(std::move(made->session)));
    contenders.push_back({.name = request.plans[c].name,
                          .run = [s = sessions.back().get()] { return s->run(); },
                          .ran_ns = made->ran_ns});
    lane_of.push_back(c);
  }
  if (request.min_rounds == 0) return lanes;
  RaceOptions options;
  options.seconds = request.seconds;
  options.min_rounds = request.min_rounds;
  options.decided_rounds = request.decided_rounds;
  options.most_seconds = request.most_seconds;
  if (request.is_rough) {
    options.heat_ns = 0;
    options.hopeless_ratio = kOneRoundTells;
  }
  options.long_rounds = {
      .seconds = kLongRoundSeconds, .enough = request.is_rough ? std::size_t{1} : 0, .hopeless_ratio = kOneRoundTells};
  options.threads = request.threads;
  options.seed = request.seed;
  Canary canary;
  canary.learn(request.quiet_ns);
  options.slowness = [&canary] { return canary.slowness(); };
  COLLAGE_TRY(std::vector<RaceLane> raced, race(contenders, options));
  std::int64_t fastest_ns = std::numeric_limits<std::int64_t>::max();
  for (const RaceLane& lane : raced)
    if (const std::int64_t ns = lane.median_ns(); ns > 0) fastest_ns = std::min(fastest_ns, ns);
  for (std::size_t i = 0; i < raced.size(); ++i) {
    lanes[lane_of[i]].lane = std::move(raced[i]);
    if (request.profile_runs == 0 || !is_worth_a_profile(sessions[i]->plan(), lanes[lane_of[i]].lane, fastest_ns))
      continue;
    const double before = canary.slowness();
    const int runs = runs_to_profile(request.profile_runs, lanes[lane_of[i]].lane.median_ns());
    COLLAGE_TRY(const std::vector<std::int64_t> profile, sessions[i]->profile(runs));
    const double after = canary.slowness();
    for (const std::size_t s : cover_steps(sessions[i]->plan()))
      lanes[lane_of[i]].step_ns.push_back(std::llround(in_quiet(profile[s], before, after)));
  }
  if (expected) COLLAGE_TRY_VOID(check_again(sessions, lane_of, request, *expected, lanes));
  return lanes;
}

nlohmann::json to_json(const ConfirmRequest& request) {
  nlohmann::json plans = nlohmann::json::array();
  for (const PlanToTime& one : request.plans)
    plans.push_back({{"name", one.name}, {"file", one.file}, {"is_right", one.is_right}});
  nlohmann::json more = nlohmann::json::array();
  for (const CheckedInputs& one : request.more) more.push_back({{"inputs", one.inputs}, {"expected", one.expected}});
  return {{"type", "confirm"},
          {"plans", plans},
          {"more", more},
          {"inputs", request.inputs},
          {"expected", request.expected},
          {"accuracy", request.accuracy},
          {"threads", request.threads},
          {"seconds", request.seconds},
          {"min_rounds", request.min_rounds},
          {"decided_rounds", request.decided_rounds},
          {"most_seconds", request.most_seconds},
          {"rough", request.is_rough},
          {"profile_runs", request.profile_runs},
          {"seed", request.seed},
          {"quiet_ns", request.quiet_ns}};
}

Result<ConfirmRequest> confirm_request_from(const nlohmann::json& json) {
  return read_json("confirm job", [&] {
    ConfirmRequest request;
    for (const auto& one : json.at("plans"))
      request.plans.push_back({.name = one.at("name"), .file = one.at("file"), .is_right = one.at("is_right")});
    for (const auto& one : json.at("more"))
      request.more.push_back({.inputs = one.at("inputs"), .expected = one.at("expected")});
    request.inputs = json.at("inputs");
    request.expected = json.at("expected");
    request.accuracy = json.at("accuracy");
    request.threads = json.at("threads");
    request.seconds = json.at("seconds");
    request.min_rounds = json.at("min_rounds");
    request.decided_rounds = json.at("decided_rounds");
    request.most_seconds = json.at("most_seconds");
    request.is_rough = json.at("rough");
    request.profile_runs = json.at("profile_runs");
    request.seed = json.at("seed");
    request.quiet_ns = json.at("quiet_ns");
    return request;
  });
}

nlohmann::json to_json(const std::vector<ConfirmLane>& lanes) {
  nlohmann::json list = nlohmann::json::array();
  for (const ConfirmLane& lane : lanes)
    list.push_back({{"name", lane.lane.name},
                    {"samples_ns", lane.lane.samples_ns},
                    {"slowness", lane.lane.slowness},
                    {"step_ns", lane.step_ns},
                    {"failure", lane.failure},
                    {"share", {lane.share.largest, lane.share.least, lane.share.sets}}});
  return {{"lanes", list}};
}

Result<std::vector<ConfirmLane>> confirm_lanes_from(const nlohmann::json& json) {
  return read_json("confirm answer", [&] {
    std::vector<ConfirmLane> lanes;
    for (const auto& entry : json.at("lanes")) {
      ConfirmLane lane;
      lane.lane.name = entry.at("name");
      lane.lane.slowness = entry.at("slowness").get<std::vector<double>>();
      lane.lane.samples_ns = entry.at("samples_ns").get<std::vector<std::int64_t>>();
      lane.step_ns = entry.at("step_ns").get<std::vector<std::int64_t>>();
      lane.failure = entry.at("failure");
      const auto& share = entry.at("share");
      lane.share = {.largest = share_in(share.at(0)), .least = share_in(share.at(1)), .sets = share.at(2)};
      lanes.push_back(std::move(lane));
    }
    return lanes;
  });
}

}  // namespace collage
