#include "bench/operators/report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace collage::bench {
namespace {

/// A row is lost when the rival is faster for certain: the whole interval lies below this.
constexpr double kEven = 1.0;

const Contender* find(const Outcome& outcome, const std::string& name) {
  const auto found = std::ranges::find(outcome.contenders, name, &Contender::name);
  return found == outcome.contenders.end() ? nullptr : &*found;
}

std::string text_of_us(double us) {
  if (us >= 1000) return fmt::format("{:.0f}", us);
  return us >= 100 ? fmt::format("{:.1f}", us) : fmt::format("{:.2f}", us);
}

RaceLane lane_of(const Contender& contender) { return {.name = contender.name, .samples_ns = contender.samples_ns}; }

const Contender* opponent_of(const Outcome& outcome, const std::string& of, Opponent opponent) {
  switch (opponent) {
    case Opponent::kBestRival:
      return best_rival(outcome, of);
    case Opponent::kOnnxRuntime:
      return of == "onnxruntime" ? nullptr : find(outcome, "onnxruntime");
    case Opponent::kOpenVino:
      return of == "openvino" ? nullptr : find(outcome, "openvino");
  }
  return nullptr;
}

std::string_view text_of(Opponent opponent) {
  switch (opponent) {
    case Opponent::kBestRival:
      return "the best rival";
    case Opponent::kOnnxRuntime:
      return "ONNX Runtime";
    case Opponent::kOpenVino:
      return "OpenVINO";
  }
  return "";
}

std::string class_of_case(const Outcome& outcome) { return outcome.case_name.substr(0, outcome.case_name.find('/')); }

struct Mean {
  double log_sum = 0;
  std::size_t count = 0;
  void add(const std::optional<Ratio>& ratio) {
    if (!ratio) return;
    log_sum += std::log(ratio->ratio);
    ++count;
  }
  [[nodiscard]] double value() const { return count > 0 ? std::exp(log_sum / static_cast<double>(count)) : 0; }
  [[nodiscard]] std::string text() const { return count > 0 ? fmt::format("{:.2f}x", value()) : "-"; }
};

std::string why_not(const Outcome& outcome, const std::string& contender) {
  if (!outcome.error.empty()) return outcome.error;
  if (const auto failure = outcome.failures.find(contender); failure != outcome.failures.end())
    return "failed: " + failure->second;
  // oneDNN says no for both of its contenders at once.
  for (const std::string& name : {contender, contender.substr(0, contender.find(' '))})
    if (const auto refusal = outcome.refusals.find(name); refusal != outcome.refusals.end())
      return refusal->second.starts_with("missing") ? refusal->second : "refused: " + refusal->second;
  return "-";
}

std::string short_reason(const std::string& why) { return why.substr(0, why.find(':')); }

/// Libraries' messages run to pages.
std::string clipped(const std::string& why) {
  constexpr std::size_t kLongest = 240;
  return why.size() <= kLongest ? why : why.substr(0, kLongest) + "...";
}

std::string means_table(const std::vector<Outcome>& outcomes, const ReportOptions& options) {
  std::string text = fmt::format(
      "\n| class | rows | {} ran | against the best rival | against ONNX Runtime | against OpenVINO |\n"
      "|---|---:|---:|---:|---:|---:|\n",
      options.of);
  for (const OperatorClass& which : kOperatorClasses) {
    std::size_t rows = 0;
    std::size_t ran = 0;
    Mean best;
    Mean onnxruntime;
    Mean openvino;
    for (const Outcome& outcome : outcomes) {
      if (class_of_case(outcome) != which.name) continue;
      ++rows;
      ran += find(outcome, options.of) != nullptr;
      best.add(ratio_against(outcome, options.of, Opponent::kBestRival));
      onnxruntime.add(ratio_against(outcome, options.of, Opponent::kOnnxRuntime));
      openvino.add(ratio_against(outcome, options.of, Opponent::kOpenVino));
    }
    if (rows > 0)
      text += fmt::format("| {} | {} | {} | {} | {} | {} |\n", which.name, rows, ran, best.text(), onnxruntime.text(),
                          openvino.text());
  }
  return text;
}

std::string_view goal_of(const Outcome& outcome) {
  for (const OperatorClass& which : kOperatorClasses)
    if (which.name == class_of_case(outcome)) return which.goal;
  return {};
}

std::string goals_table(const std::vector<Outcome>& outcomes, const ReportOptions& options) {
  std::string text = fmt::format(
      "\n| goal | against | wanted | mean | rows | {} did not run | the other did not | met |\n"
      "|---|---|---:|---:|---:|---:|---:|---|\n",
      options.of);
  for (const Goal& goal : kGoals) {
    Mean mean;
    std::size_t rows = 0;
    std::size_t lost = 0;
    std::size_t alone = 0;
    for (const Outcome& outcome : outcomes) {
      if (goal_of(outcome) != goal.name) continue;
      ++rows;
      mean.add(ratio_against(outcome, options.of, goal.opponent));
      if (find(outcome, options.of) == nullptr)
        ++lost;
      else if (opponent_of(outcome, options.of, goal.opponent) == nullptr)
        ++alone;
    }
    if (rows == 0) continue;
    text +=
        fmt::format("| {} | {} | {:.2f}x | {} | {} | {} | {} | {} |\n", goal.title, text_of(goal.opponent), goal.ratio,
                    mean.text(), rows, lost, alone, mean.value() >= goal.ratio && lost == 0 ? "yes" : "no");
  }
  return text;
}

/// Why `of` lost; nothing when it did not.
std::optional<std::string> loss_of(const Outcome& outcome, const std::string& of) {
  const Contender* own = find(outcome, of);
  if (own == nullptr) return why_not(outcome, of);
  const Contender* rival = best_rival(outcome, of);
  const auto ratio = ratio_against(outcome, of, Opponent::kBestRival);
  if (!ratio || ratio->high >= kEven) return std::nullopt;
  return fmt::format("{:.2f}x: {} runs {}; {} runs {}", ratio->ratio, of, own->variant, rival->name, rival->variant);
}

std::string lost_rows(const std::vector<Outcome>& outcomes, const ReportOptions& options) {
  std::string text;
  for (const Outcome& outcome : outcomes)
    if (const auto why = loss_of(outcome, options.of))
      text += fmt::format("- {}: {}\n", outcome.case_name, clipped(*why));
  return text.empty() ? "\nNo row lost.\n" : "\nLost rows:\n\n" + text;
}

std::string compile_table(const std::vector<Outcome>& outcomes) {
  std::map<std::string, std::vector<double>> seconds;
  for (const Outcome& outcome : outcomes)
    for (const auto& [contender, one] : outcome.compile_s)
      seconds[contender].insert(seconds[contender].end(), one.begin(), one.end());
  std::string text = "\n| compiling | kernels | median s | 90 % within s | longest s |\n|---|---:|---:|---:|---:|\n";
  for (auto& [contender, all] : seconds) {
    std::ranges::sort(all);
    text += fmt::format("| {} | {} | {:.3f} | {:.3f} | {:.3f} |\n", contender, all.size(), all[all.size() / 2],
                        all[all.size() * 9 / 10], all.back());
  }
  return text;
}

/// Variants that were wrong, of anybody.
std::string failed_variants(const std::vector<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& outcome : outcomes)
    for (const auto& [contender, why] : outcome.failures)
      text += fmt::format("- {}: {}: {}\n", outcome.case_name, contender, clipped(why));
  return text.empty() ? "" : "\nVariants that failed or gave wrong numbers, and so were not timed:\n\n" + text;
}

}  // namespace

const Contender* best_rival(const Outcome& outcome, const std::string& of) {
  const Contender* best = nullptr;
  for (const Contender& contender : outcome.contenders)
    if (backend_of(contender.name) != backend_of(of) && (best == nullptr || contender.median_us < best->median_us))
      best = &contender;
  return best;
}

std::optional<Ratio> ratio_against(const Outcome& outcome, const std::string& of, Opponent opponent) {
  const Contender* own = find(outcome, of);
  const Contender* other = opponent_of(outcome, of, opponent);
  if (own == nullptr || other == nullptr) return std::nullopt;
  return paired_ratio(lane_of(*other), lane_of(*own));
}

std::string table_head(const ReportOptions& options) {
  std::string text = "| case |";
  std::string rule = "|---|";
  for (const std::string& contender : options.contenders) {
    text += fmt::format(" {} us |", contender);
    rule += "---:|";
  }
  return text + " best rival | against it |\n" + rule + "---|---:|\n";
}

std::string table_row(const Outcome& outcome, const ReportOptions& options) {
  std::string text = fmt::format("| {} |", outcome.case_name);
  for (const std::string& name : options.contenders) {
    const Contender* contender = find(outcome, name);
    text += contender ? fmt::format(" {} |", text_of_us(contender->median_us))
                      : fmt::format(" {} |", short_reason(why_not(outcome, name)));
  }
  const Contender* rival = best_rival(outcome, options.of);
  const auto ratio = ratio_against(outcome, options.of, Opponent::kBestRival);
  text += fmt::format(" {} |", rival ? rival->name : "-");
  text += ratio ? fmt::format(" {:.2f}x [{:.2f}, {:.2f}] |", ratio->ratio, ratio->low, ratio->high) : " - |";
  return text + '\n';
}

std::string summary(const std::vector<Outcome>& outcomes, const ReportOptions& options) {
  return means_table(outcomes, options) + goals_table(outcomes, options) + compile_table(outcomes) +
         lost_rows(outcomes, options) + failed_variants(outcomes);
}

}  // namespace collage::bench
