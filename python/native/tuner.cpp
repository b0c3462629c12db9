#include "tuner.h"

#include <dlfcn.h>

#include <optional>
#include <string>

#include "call_options.h"
#include "plan.h"
#include "status.h"

namespace nb = nanobind;

namespace collage::python {
namespace {

/// The tuner lies beside the library that runs plans, under a name with the same version.
std::string tuner_path() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&collage_get_api), &info) == 0 || info.dli_fname == nullptr) return {};
  const std::string library = info.dli_fname;
  return library.substr(0, library.rfind('/') + 1) + "libcollage_tuner.so.0";
}

const collage_tune_api* open_tuner(std::string& reason) {
  void* const handle = ::dlopen(tuner_path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    reason = ::dlerror();
    return nullptr;
  }
  const auto get = reinterpret_cast<decltype(&collage_get_tune_api)>(::dlsym(handle, "collage_get_tune_api"));
  const collage_tune_api* const table = get == nullptr ? nullptr : get(COLLAGE_TUNE_API_VERSION);
  if (table == nullptr) reason = tuner_path() + " of another version";
  return table;
}

/// What all calls share, and the exception of a callback that failed.
class Context {
 public:
  explicit Context(CallOptions& options)
      : progress_(options.get("progress")), estimate_(options.get("estimate")), cancel_object_(options.get("cancel")) {
    context_.size = sizeof context_;
    context_.store = options.text("store");
    context_.modules = options.texts("modules");
    context_.worker = options.texts("worker");
    context_.limits = options.texts("limits");
    context_.trust_models = options.number<bool>("trust_models") ? 1 : 0;
    if (!cancel_object_.is_none()) context_.cancel = nb::cast<const Cancel&>(cancel_object_).handle();
    if (progress_.is_none()) return;
    context_.progress = &Context::tell;
    context_.progress_data = this;
  }

  [[nodiscard]] const collage_context* get() const { return &context_; }
  [[nodiscard]] bool has_failed() const { return failure_.has_value(); }
  [[noreturn]] void throw_failure() { throw nb::python_error(std::move(*failure_)); }

  /// The estimator, where there is one.
  void add_estimate(collage_tune_options& options) {
    if (estimate_.is_none()) return;
    options.estimate = &Context::estimate;
    options.estimate_data = this;
  }

 private:
  static void tell(const collage_progress* progress, void* self) {
    static_cast<Context*>(self)->tell_python(*progress);
  }
  void tell_python(const collage_progress& progress) {
    const nb::gil_scoped_acquire held;
    if (failure_) return;
    try {
      progress_(progress.phase, progress.done, progress.total, progress.refused, progress.best_us, progress.left_s,
                progress.note, progress.rival, progress.speedup);
    } catch (nb::python_error& error) {
      failure_.emplace(std::move(error));
      if (context_.cancel != nullptr) api().cancel_now(context_.cancel);
    }
  }

  static std::int32_t estimate(const char* candidate, double* us, void* self) {
    return static_cast<Context*>(self)->ask_python(candidate, *us);
  }
  std::int32_t ask_python(const char* candidate, double& us) {
    const nb::gil_scoped_acquire held;
    try {
      const nb::object answer = estimate_(candidate);
      if (answer.is_none()) return 0;
      us = nb::cast<double>(answer);
      return 1;
    } catch (nb::python_error& error) {
      if (!failure_) failure_.emplace(std::move(error));
      return -1;
    } catch (const std::exception&) {  // an answer that is no number
      return -1;
    }
  }

  nb::object progress_;
  nb::object estimate_;
  nb::object cancel_object_;
  collage_context context_{};
  std::optional<nb::python_error> failure_;
};

/// Makes the call without the interpreter's lock; throws what the callback threw, else what the status says.
template <class Made, class Handle, class Call>
Made* made_by(Context& context, Call call) {
  Handle* handle = nullptr;
  collage_status* status = nullptr;
  {
    const nb::gil_scoped_release released;
    status = call(&handle);
  }
  std::unique_ptr<Made> made(handle == nullptr ? nullptr : new Made(handle));
  if (context.has_failed()) {
    api().status_free(status);
    context.throw_failure();
  }
  check(status);
  return made.release();
}

template <class Options>
Report* report_of(collage_status* (*function)(const Options*, collage_report**), Options& options, Context& context) {
  options.context = context.get();
  return made_by<Report, collage_report>(context, [&](collage_report** report) { return function(&options, report); });
}

Report* tune(nb::dict given) {
  CallOptions from(std::move(given));
  Context context(from);
  collage_tune_options options{};
  options.size = sizeof options;
  options.model = from.text("model");
  from.bytes("model_bytes", options.model_bytes, options.model_byte_count);
  options.plan = from.text("plan");
  options.budget_s = from.number<double>("budget_s");
  options.schedule_budget_s = from.number<double>("schedule_budget_s");
  options.threads = from.number<std::int32_t>("threads");
  options.accuracy = from.text("accuracy");
  options.shapes = from.texts("shapes");
  options.at = from.texts("at");
  options.points = from.number<std::size_t>("points");
  options.backends = from.texts("backends");
  options.only = from.text("only");
  options.bans = from.texts("bans");
  options.pins = from.texts("pins");
  options.rules = from.text("rules");
  options.rules_text = from.text("rules_text");
  options.passes_off = from.texts("passes_off");
  options.input_ranges = from.texts("input_ranges");
  options.seed = from.number<std::uint64_t>("seed");
  options.memory_cap = from.number<std::int64_t>("memory_cap");
  context.add_estimate(options);
  options.estimates_only = from.number<bool>("estimates_only") ? 1 : 0;
  options.measure_all = from.number<bool>("measure_all") ? 1 : 0;
  options.for_library = from.number<bool>("for_library") ? 1 : 0;
  options.portable = from.number<bool>("portable") ? 1 : 0;
  return report_of(tuner().tune, options, context);
}

Plan* plan_of_model(nb::dict given) {
  CallOptions from(std::move(given));
  Context context(from);
  collage_model_options options{};
  options.size = sizeof options;
  options.model = from.text("model");
  from.bytes("model_bytes", options.model_bytes, options.model_byte_count);
  options.threads = from.number<std::int32_t>("threads");
  options.shapes = from.texts("shapes");
  options.context = context.get();
  return made_by<Plan, collage_plan>(context,
                                     [&](collage_plan** plan) { return tuner().plan_of_model(&options, plan); });
}

Report* bench(nb::dict given) {
  CallOptions from(std::move(given));
  Context context(from);
  collage_bench_options options{};
  options.size = sizeof options;
  options.plan = from.text("plan");
  options.model = from.text("model");
  options.shapes = from.texts("shapes");
  options.against = from.texts("against");
  options.threads = from.number<std::int32_t>("threads");
  options.seconds = from.number<double>("seconds");
  options.seed = from.number<std::uint64_t>("seed");
  options.input_ranges = from.texts("input_ranges");
  return report_of(tuner().bench, options, context);
}

/// For verify, recheck and explain.
Report* look_at(nb::dict given,
                collage_status* (*collage_tune_api::*function)(const collage_check_options*, collage_report**)) {
  CallOptions from(std::move(given));
  Context context(from);
  collage_check_options options{};
  options.size = sizeof options;
  options.plan = from.text("plan");
  options.model = from.text("model");
  options.shapes = from.texts("shapes");
  options.seeds = from.number<std::int32_t>("seeds");
  options.seed = from.number<std::uint64_t>("seed");
  options.always = from.number<bool>("always") ? 1 : 0;
  options.node = from.text("node");
  options.why_not = from.text("why_not");
  options.input_ranges = from.texts("input_ranges");
  return report_of(tuner().*function, options, context);
}

Report* backends(nb::dict given) {
  CallOptions from(std::move(given));
  Context context(from);
  return made_by<Report, collage_report>(
      context, [&](collage_report** report) { return tuner().backends(context.get(), report); });
}

}  // namespace

const collage_tune_api& tuner() {
  static const collage_tune_api* table = nullptr;
  if (table != nullptr) return *table;
  std::string reason;
  table = open_tuner(reason);
  if (table == nullptr)
    raise(COLLAGE_UNSUPPORTED, "tuner/missing", "collage", reason, "libcollage_tuner.so beside libcollage.so");
  return *table;
}

nb::dict Report::summary() const {
  collage_tune_summary of{};
  of.size = sizeof of;
  check(tuner().report_tune_summary(handle_.get(), &of));
  nb::dict found;
  found["tune_s"] = of.tune_s;
  found["measured_us"] = of.measured_us;
  found["best_rival_us"] = of.best_rival_us;
  found["model_bound_us"] = of.model_bound_us;
  found["proven_bound_us"] = of.proven_bound_us;
  found["steps"] = of.steps;
  found["candidates"] = of.candidates;
  found["measured"] = of.measured;
  found["reused"] = of.reused;
  found["refused"] = of.refused;
  found["interrupted"] = of.interrupted != 0;
  found["best_rival"] = of.best_rival;
  found["shipped"] = of.shipped;
  return found;
}

void bind_tuner(nb::module_& module) {
  nb::class_<Report>(module, "Report", "What a call of the tuner found.")
      .def_prop_ro("json", &Report::json)
      .def_prop_ro("text", &Report::text)
      .def_prop_ro("ok", &Report::ok)
      .def_prop_ro("summary", &Report::summary, nb::sig("def summary(self) -> dict[str, typing.Any]"));
  constexpr auto kOwn = nb::rv_policy::take_ownership;
  module.def("tune", &tune, nb::arg("options"), kOwn);
  module.def("plan_of_model", &plan_of_model, nb::arg("options"), kOwn);
  module.def("bench", &bench, nb::arg("options"), kOwn);
  module.def(
      "verify", [](nb::dict o) { return look_at(std::move(o), &collage_tune_api::verify); }, nb::arg("options"), kOwn);
  module.def(
      "recheck", [](nb::dict o) { return look_at(std::move(o), &collage_tune_api::recheck); }, nb::arg("options"),
      kOwn);
  module.def(
      "explain", [](nb::dict o) { return look_at(std::move(o), &collage_tune_api::explain); }, nb::arg("options"),
      kOwn);
  module.def(
      "serve_worker",
      [](int socket, nb::list modules) {
        nb::dict given;
        given["modules"] = std::move(modules);
        CallOptions from(std::move(given));
        const collage_texts places = from.texts("modules");
        const nb::gil_scoped_release released;
        return tuner().serve_worker(socket, places);
      },
      nb::arg("socket"), nb::arg("modules"));
  module.def("backends", &backends, nb::arg("options"), kOwn);
}

}  // namespace collage::python
