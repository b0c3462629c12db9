#include "tune/tune_task.h"

#include "timing/machine.h"

namespace collage {
namespace {

/// "" when all passes run, so that older answers hold.
std::string passes_text(const TuneOptions& options) {
  std::string text;
  for (const std::string& name : options.passes_off) text += "|-" + name;
  return text;
}

}  // namespace

std::string shapes_text(const TuneOptions& options) {
  std::string text;
  for (const auto& [name, shape] : options.shapes.entries) text += name + "=" + shape + ";";
  return text;
}

namespace {

/// Where it may be the user's: which plans are right depends on it.
std::string bound_text(const TuneOptions& options) {
  return options.accuracy == Accuracy::kFast ? "|" + to_string(options.output_bound()) : "";
}

}  // namespace

std::string timing_question(const TuneTask& task) {
  return machine_print() + "|" + task.prepared.imported.model_hash + "|" + shapes_text(task.options) + "|" +
         std::to_string(task.options.threads) + passes_text(task.options) + bound_text(task.options);
}

std::string tune_question(const TuneTask& task, Registry& registry) {
  const TuneOptions& options = task.options;
  std::string text =
      timing_question(task) + "|" + std::string(name_of(options.accuracy)) + "|" + std::to_string(options.seed);
  for (const UserRule& rule : options.user_rules) text += "|" + rule.text;
  for (const std::string& name : task.who.backends) text += "|" + name + " " + (*registry.get(name))->info().build;
  if (options.ablations.any()) text += "|without " + to_text(options.ablations);
  return text;
}

}  // namespace collage
