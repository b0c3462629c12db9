#include "api/c_tune/context.h"

#include "api/c/cancel.h"
#include "api/c/sized_struct.h"
#include "api/c_tune/texts.h"
#include "api/tune/option_texts.h"
#include "api/tune/worker_program.h"

namespace collage::c_api {
namespace {

Progress progress_of(const collage_context& given) {
  if (given.progress == nullptr) return {};
  return [call = given.progress, data = given.progress_data](const ProgressEvent& event) {
    const collage_progress progress = {.size = sizeof progress,
                                       .phase = event.phase.c_str(),
                                       .done = event.done,
                                       .total = event.total,
                                       .refused = event.refused,
                                       .best_us = event.best_us,
                                       .left_s = event.left_s.value_or(-1),
                                       .note = event.note.c_str(),
                                       .rival = event.rival.c_str(),
                                       .speedup = event.speedup};
    call(&progress, data);
  };
}

}  // namespace

std::vector<std::string> Context::places() const { return module_places(modules); }

Result<std::vector<std::string>> Context::worker_argv() const {
  if (!worker.empty()) return worker;
  return worker_command(modules);
}

Result<ModelReader> Context::model_reader() const {
  ModelReader reader{.worker = {}, .limits = limits};
  if (trusts_models) return reader;
  // The helper program starts sooner than one that somebody else made.
  auto helper = worker_command({});
  if (!helper && worker.empty()) return std::unexpected(helper.error());
  reader.worker = helper ? *std::move(helper) : worker;
  return reader;
}

Result<Context> context_of(const collage_context* given) {
  COLLAGE_TRY(const collage_context known, options_of(given, "collage_context"));
  Context context;
  context.store = text_of(known.store);
  COLLAGE_TRY(context.modules, texts_of(known.modules, "collage_context.modules"));
  COLLAGE_TRY(context.module_kinds, take_modules(context.modules, option_label("collage_context.modules")));
  COLLAGE_TRY(context.worker, texts_of(known.worker, "collage_context.worker"));
  context.trusts_models = known.trust_models != 0;
  if (known.reserved != 0)
    return fail(ExitCode::kUsage, "api/unknown-option", "collage_context.reserved", std::to_string(known.reserved),
                "0");
  COLLAGE_TRY(const std::vector<std::string> limits, texts_of(known.limits, "collage_context.limits"));
  for (const std::string& limit : limits)
    if (const auto set = set_limit(context.limits, limit); !set)
      return bad_option(option_label("collage_context.limits"), set.error().saw, set.error().allowed);
  context.progress = progress_of(known);
  if (known.cancel != nullptr) context.stop = known.cancel->source.get_token();
  return context;
}

}  // namespace collage::c_api
