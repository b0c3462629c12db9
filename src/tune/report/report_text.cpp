// The report of a tune for people.
#include <algorithm>
#include <map>
#include <ranges>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tune/report/report.h"

namespace collage {
namespace {

/// Plans that are no engines are listed as far as they are among the fastest.
constexpr std::size_t kMostPlansShown = 3;
/// Points of the curve that are told, and by how much they differ.
constexpr std::ptrdiff_t kMostPoints = 4;
constexpr double kStep = 0.003;
/// Gained in the second half of measuring, this makes a longer tune likely to gain, too.
constexpr double kWorthwhile = 0.01;
/// Of a plan, beside its time and ratio in 80 columns.
constexpr std::size_t kMostName = 43;

/// "1 step", "2 steps".
std::string counted(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string text_of(const ScheduleReport& report) {
  std::string text;
  if (report.known > 0) text += fmt::format("schedules of earlier tunes for {} candidates\n", report.known);
  if (report.tried == 0) return text;
  const auto faster =
      std::ranges::count_if(report.kernels, [](const TunedKernel& one) { return one.after_ns < one.before_ns; });
  text += fmt::format(
      "schedules: {} tried for {} kernels, {} faster; best cover {:.1f} us before, {:.1f} us after; {:.1f} s\n",
      report.tried, report.kernels.size(), faster, static_cast<double>(report.before_ns) / 1000,
      static_cast<double>(report.after_ns) / 1000, report.seconds);
  for (const TunedKernel& one : report.kernels)
    if (one.after_ns < one.before_ns)
      text += fmt::format("  {} {:>9.1f} -> {:>9.1f} us  {}x {}/{}\n", one.operators,
                          static_cast<double>(one.before_ns) / 1000, static_cast<double>(one.after_ns) / 1000,
                          one.places, one.backend, one.variant);
  return text;
}

/// Failures of libraries, one line for each library, stage and reason.
std::string failures_text(const std::vector<KeptRepro>& repros) {
  struct Failures {
    std::size_t count = 0;
    const KeptRepro* first = nullptr;
    const KeptRepro* kept = nullptr;  ///< the first with a bundle
  };
  std::map<std::tuple<std::string, std::string, std::string>, Failures> groups;
  for (const KeptRepro& one : repros) {
    Failures& group = groups[{one.backend, one.stage, std::string(name_of(one.refusal.reason))}];
    ++group.count;
    if (group.first == nullptr) group.first = &one;
    if (group.kept == nullptr && !one.folder.empty()) group.kept = &one;
  }
  std::string text;
  for (const auto& [key, group] : groups) {
    const auto& [backend, stage, reason] = key;
    const std::string where = stage.empty() || stage == reason ? "" : " at " + stage;
    text += fmt::format("{} failed{}: {}, {}, such as: {}; ", backend, where, reason,
                        counted(group.count, "kind") + " of candidates", group.first->refusal.detail);
    text += group.kept != nullptr ? fmt::format("see collage repro '{}'\n", group.kept->folder)
                                  : fmt::format("no reproduction bundle: {}\n", group.first->note);
  }
  return text;
}

std::string text_of(const RuleEffect& effect) {
  std::string text = "rule " + effect.rule + ": ";
  if (effect.matched == 0) return text + "matched nothing in this model" + effect.hint + "\n";
  const std::string_view what = std::string_view(effect.matches).substr(0, effect.matches.size() - 1);
  text += "matched " + counted(effect.matched, what);
  const bool is_of_nodes = effect.rule.starts_with("--");
  if (effect.removed > 0)
    text += fmt::format(", kept {} away", counted(effect.removed, is_of_nodes ? "candidate" : "region"));
  if (effect.added > 0)
    text +=
        fmt::format(", {} for them, {} of the plan", counted(effect.added, "candidate"), counted(effect.steps, "step"));
  if (is_idle(effect)) text += ", but made no difference: nobody else had offered or was kept away";
  return text + "\n";
}

std::string head_text(const TuneReport& report, bool is_replay) {
  const std::string time = is_replay ? "" : fmt::format(", {:.1f} us", report.measured_us);
  const std::string views = report.views == 0 ? "" : fmt::format(" ({} of them views: nothing runs)", report.views);
  std::string text = fmt::format("{}: {}{}{}, ships {}\n", report.plan, counted(report.steps, "step"), views, time,
                                 report.title.empty() ? report.shipped : report.title);
  for (const auto& [name, steps] : report.backends) {
    const auto share = report.shares.find(name);
    const std::string of_time = share == report.shares.end() ? ""
                                                             : fmt::format("{} {:>3.0f} % of the time",
                                                                           steps == 1 ? " " : "", 100 * share->second);
    text += fmt::format("  {:<28} {:>5} step{}{}\n", name, steps, steps == 1 ? "" : "s", of_time);
  }
  return text;
}

/// What stands between the plan and the least that is possible.
std::string bound_text(const TuneReport& report) {
  if (report.proven_bound_us <= 0 || report.measured_us <= 0) return {};
  if (report.measured_us <= report.proven_bound_us)
    return "no plan of these candidates is faster, as far as costs of single steps tell\n";
  return fmt::format("no plan of these candidates takes less than {:.1f} us, {:.0f} % less than this one\n",
                     report.proven_bound_us, 100 * (1 - report.proven_bound_us / report.measured_us));
}

/// How the best plan got better.
std::string curve_text(const TuneReport& report) {
  std::vector<BestSoFar> better;
  for (const BestSoFar& best : report.curve)
    if (better.empty() || best.us < (1 - kStep) * better.back().us) better.push_back(best);
  if (better.size() < 2) return {};
  if (better.size() > kMostPoints) better.erase(better.begin() + 1, better.end() - (kMostPoints - 1));
  std::string text = "the best plan so far took";
  for (std::size_t i = 0; i < better.size(); ++i)
    text += fmt::format("{} {:.1f} us after {:.0f} s", i == 0 ? "" : ",", better[i].us, better[i].seconds);
  return text + "\n";
}

/// What the second half of measuring gained, which says what a larger budget may. Plans are timed at the end alone:
/// their times do not tell.
std::string outlook_text(const TuneReport& report) {
  if (report.ended.why != Ending::kBudget || !report.second_half_gain) return {};
  const double gain = std::max(0.0, *report.second_half_gain);
  return fmt::format("the second half of measuring gained {:.1f} %: a larger budget is likely to give {}\n", 100 * gain,
                     gain > kWorthwhile ? "more" : "little more");
}

/// How many times faster what ships is, with its interval where there is one.
std::string ratio_text(const RivalTime& rival, double measured_us) {
  if (rival.ratio)
    return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", rival.ratio->ratio, rival.ratio->low, rival.ratio->high);
  return fmt::format("{:.2f}x, few rounds", static_cast<double>(rival.median_ns) / 1000 / measured_us);
}

/// A line of 80 columns; a longer name has one of its own.
std::string text_of(const RivalTime& rival, const TuneReport& report) {
  std::size_t width = 0;
  for (const RivalTime& one : report.rivals) width = std::max(width, std::min(kMostName, one.title.size()));
  const bool is_long = rival.title.size() > width;
  return (is_long ? "  " + rival.title + "\n" : "") +
         fmt::format("  {:<{}} {:>10.1f} us  {}\n", is_long ? "" : rival.title, width,
                     static_cast<double>(rival.median_ns) / 1000, ratio_text(rival, report.measured_us));
}

/// What being part of a library costs, as far as it was timed.
std::string library_text(const TuneReport& report) {
  if (!report.for_library) return {};
  const std::string text = "for a library: only backends that can be linked into one run nodes";
  if (!report.library_cost) return text + "; no other plan ran, so what that costs is not known\n";
  return text + fmt::format(
                    "; this takes {:.2f} times as long as {}, the fastest other plan timed (mixed plans of all "
                    "backends were not searched)\n",
                    report.library_cost->ratio, report.library_cost->title);
}

}  // namespace

std::string to_text(const Ended& ended) {
  std::string text;
  switch (ended.why) {
    case Ending::kComplete:
      text = "ended complete: nothing was left that might have decided";
      break;
    case Ending::kBudget:
      text = "ended by the budget: a larger one goes on from here";
      break;
    case Ending::kInterrupted:
      text = fmt::format("stopped by a signal after {:.1f} s, in phase {}: the best plan so far", ended.stopped_s,
                         ended.phase);
      break;
  }
  if (ended.unmeasured() == 0) return text + "\n";
  text += fmt::format("\nnot measured: {}\n", counted(ended.unmeasured(), "candidate"));
  for (const auto& [count, reason] : {std::pair{ended.not_needed, "that no best plan would use, as forecasts say"},
                                      {ended.out_of_time, "that the budget had no time for"},
                                      {ended.not_before_stop, "that a signal came before"}})
    if (count > 0) text += fmt::format("  {:>5} {}\n", count, reason);
  return text;
}

std::string to_text(const TuneReport& report) {
  const bool is_replay = report.measured_us == 0;
  std::string text = head_text(report, is_replay);
  if (!report.rivals.empty()) text += "how many times faster that is than\n";
  std::size_t plans = 0;
  for (const RivalTime& rival : report.rivals)
    if (rival.is_engine || ++plans <= kMostPlansShown) text += text_of(rival, report);
  if (plans > kMostPlansShown)
    text += fmt::format("  {} more, all slower than those\n", counted(plans - kMostPlansShown, "mixed plan"));
  text += library_text(report);
  if (!is_replay) text += bound_text(report) + curve_text(report) + outlook_text(report);
  if (!is_replay)
    text += fmt::format("{} candidates: {} measured, {} reused, {} refused; {:.1f} s\n", report.candidates,
                        report.measured, report.reused, report.refused, report.tune_s) +
            to_text(report.ended);
  if (!report.passes_off.empty()) text += fmt::format("passes switched off: {}\n", fmt::join(report.passes_off, ", "));
  for (const RuleEffect& effect : report.rules) text += text_of(effect);
  text += text_of(report.schedules) + failures_text(report.repros);
  for (const std::string& note : report.notes) text += "note: " + note + "\n";
  return text;
}

}  // namespace collage
