// Plans and sessions for programs in C++17 and later: the table of collage.h behind types that own what they hold.
// In: a plan file or its bytes. Out: views of inputs and outputs as values of their type.
//
//     collage::Expected<collage::Plan> plan = collage::Plan::load("model.collage");
//     if (!plan) return report(plan.error());
//     collage::Expected<collage::Session> session = plan->make_session();
//     if (!session) return report(session.error());
//     if (auto done = session->copy_input("image", image.data(), image.size()); !done) return report(done.error());
//     if (auto done = session->run(); !done) return report(done.error());
//     collage::Expected<collage::Output<float>> scores = session->output<float>("scores");
//
// Errors are values: Expected<T> is std::expected<T, Error> where the library has it, else a small type with the same
// names. Nothing here throws but for memory (std::bad_alloc of containers).
// Threads: as in collage.h. A Plan may be used by many threads at once, a Session by one at a time.
// Names: all are in namespaces below collage that nothing in libcollage.so or the libraries behind it uses, so that a
// program has copies of its own. Beside the product's C++ headers it is included last; write collage::capi::Plan then.
#ifndef COLLAGE_HPP
#define COLLAGE_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "collage.h"
#include "expected.hpp"

namespace collage {
inline namespace capi {
inline namespace COLLAGE_CPP_LEVEL {

/// Elements in a row that somebody else owns.
template <class T>
class Span {
 public:
  using value_type = std::remove_cv_t<T>;
  Span() = default;
  Span(T* data, std::size_t size) : data_(data), size_(size) {}
  [[nodiscard]] T* data() const noexcept { return data_; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  [[nodiscard]] T* begin() const noexcept { return data_; }
  [[nodiscard]] T* end() const noexcept { return data_ + size_; }
  [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Which element type a type of C++ stands for. A program may specialise it, for a 16-bit float of its own for example.
template <class T>
struct ElementTypeOf;
template <std::int32_t kType>
struct ElementTypeIs {
  static constexpr std::int32_t value = kType;
};
// clang-format off
template <> struct ElementTypeOf<float> : ElementTypeIs<COLLAGE_FLOAT32> {};
template <> struct ElementTypeOf<double> : ElementTypeIs<COLLAGE_FLOAT64> {};
template <> struct ElementTypeOf<bool> : ElementTypeIs<COLLAGE_BOOL> {};
template <> struct ElementTypeOf<std::int8_t> : ElementTypeIs<COLLAGE_INT8> {};
template <> struct ElementTypeOf<std::int16_t> : ElementTypeIs<COLLAGE_INT16> {};
template <> struct ElementTypeOf<std::int32_t> : ElementTypeIs<COLLAGE_INT32> {};
template <> struct ElementTypeOf<std::int64_t> : ElementTypeIs<COLLAGE_INT64> {};
template <> struct ElementTypeOf<std::uint8_t> : ElementTypeIs<COLLAGE_UINT8> {};
template <> struct ElementTypeOf<std::uint16_t> : ElementTypeIs<COLLAGE_UINT16> {};
template <> struct ElementTypeOf<std::uint32_t> : ElementTypeIs<COLLAGE_UINT32> {};
template <> struct ElementTypeOf<std::uint64_t> : ElementTypeIs<COLLAGE_UINT64> {};
// clang-format on

using Extents = std::vector<std::int64_t>;

struct Dimension {
  std::int64_t extent = -1;  ///< -1 = open
  std::string symbol;        ///< the name of an open one; may be empty
};

/// What an input or output is.
struct TensorInfo {
  std::string name;
  std::int32_t element_type = COLLAGE_UNDEFINED;
  std::optional<std::vector<Dimension>> shape;  ///< nothing when the rank is not known
  std::size_t bytes = 0;                        ///< 0 while an extent is open
};

/// What a run gave; valid until the next call on the session that changes anything.
template <class T>
struct Output {
  Span<const T> values;
  Extents extents;
};

/// A tensor of strings that a run gave.
struct Strings {
  std::vector<std::string> values;
  Extents extents;
};

struct Verdict {
  int kind = COLLAGE_SAME;
  std::vector<std::string> reasons;
};

struct PlanOptions {
  int threads = 0;             ///< 0 = those the plan was tuned for
  bool borrow_memory = false;  ///< Plan::load_memory: use the bytes where they are
  bool copy_file = false;      ///< Plan::load: read the file into memory instead of mapping it
  std::string signed_by = {};  ///< public keys in PEM, of which one must have signed the plan; empty = any plan
};

/// One loop of a session. A pool calls it once for each index, on any threads.
class PoolTask {
 public:
  PoolTask(void (*task)(void*, std::size_t), void* data) : task_(task), data_(data) {}
  void operator()(std::size_t index) const { task_(data_, index); }

 private:
  void (*task_)(void*, std::size_t);
  void* data_;
};

/// Calls task(index) for each index below `count` on the program's threads, and returns when all calls have returned;
/// it may be called from several threads at once. `task` is gone then.
using ParallelFor = std::function<void(std::size_t count, const PoolTask& task)>;

struct SessionOptions {
  ParallelFor parallel_for;  ///< empty: threads of OpenMP and of the libraries of the plan's steps
  int pool_threads = 0;      ///< at most so many tasks in a loop; 0 = as many as Plan::threads()
};

/// An input or output by position or by name, for the length of a call.
class Port {
 public:
  template <class Index, class = std::enable_if_t<std::is_integral_v<Index>>>
  Port(Index index) : index_(static_cast<std::size_t>(index)) {}
  Port(const char* name) : name_(name) {}
  Port(const std::string& name) : name_(name.c_str()) {}
  [[nodiscard]] const char* name() const noexcept { return name_; }
  [[nodiscard]] std::size_t index() const noexcept { return index_; }

 private:
  const char* name_ = nullptr;  ///< null: by position
  std::size_t index_ = 0;
};

namespace detail {

/// Null when the library has no such version.
inline const collage_api* api() noexcept {
  static const collage_api* const table = collage_get_api(COLLAGE_API_VERSION);
  return table;
}

/// Takes the status.
inline Error error_of(collage_status* status) {
  const std::unique_ptr<collage_status, void (*)(collage_status*)> owner(status, api()->status_free);
  return {api()->status_code(status), api()->status_message(status), api()->status_where(status),
          api()->status_saw(status),  api()->status_allowed(status), api()->status_kind(status)};
}

inline Expected<void> checked(collage_status* status) {
  if (status == nullptr) return {};
  return Unexpected(error_of(status));
}

/// Whether the library has all that this header asks for.
inline Expected<void> check_library() {
  if (api() != nullptr && api()->size >= sizeof(collage_api)) return {};
  const std::string wanted = "an interface of version " + std::to_string(COLLAGE_API_VERSION) + " with " +
                             std::to_string(sizeof(collage_api)) + " bytes";
  return Unexpected(Error{"api/older-library", "error[api/older-library]: libcollage.so lacks " + wanted,
                          "libcollage.so", "an older interface", wanted, COLLAGE_UNSUPPORTED});
}

inline TensorInfo info_of(const collage_tensor_info& info) {
  TensorInfo made{info.name, info.element_type, std::nullopt, info.bytes};
  if (info.rank < 0) return made;
  made.shape.emplace();
  for (std::int32_t d = 0; d < info.rank; ++d)
    made.shape->push_back({info.extents[d], info.symbols[d] == nullptr ? std::string() : info.symbols[d]});
  return made;
}

/// What `ask`, a function of the table, says of a port.
template <class Ask, class Handle>
Expected<TensorInfo> ask_info(Ask ask, Handle* handle, std::size_t index) {
  collage_tensor_info info{};
  info.size = sizeof info;
  if (collage_status* const status = ask(handle, index, &info)) return Unexpected(error_of(status));
  return info_of(info);
}

/// All ports; there is no error that a handle of ours could meet.
template <class Ask, class Handle>
std::vector<TensorInfo> ask_all(Ask ask, Handle* handle, std::size_t count) {
  std::vector<TensorInfo> infos;
  for (std::size_t i = 0; i < count; ++i)
    if (Expected<TensorInfo> info = ask_info(ask, handle, i)) infos.push_back(*std::move(info));
  return infos;
}

template <class Find, class Handle>
Expected<std::size_t> find_port(Find find, Handle* handle, const Port& port) {
  std::size_t index = port.index();
  if (port.name() != nullptr)
    if (collage_status* const status = find(handle, port.name(), &index)) return Unexpected(error_of(status));
  return index;
}

template <class T>
Expected<void> check_type(std::int32_t seen, const char* name) {
  if (seen == ElementTypeOf<T>::value) return {};
  const std::string saw = "element type " + std::to_string(ElementTypeOf<T>::value);
  const std::string allowed = "element type " + std::to_string(seen);
  return Unexpected(Error{"api/wrong-type",
                          std::string("error[api/wrong-type]: ") + name + ": saw " + saw + "; allowed " + allowed, name,
                          saw, allowed, COLLAGE_USAGE});
}

}  // namespace detail

/// Asks calls to end early, from any thread. Copies are the same one.
class CancelToken {
 public:
  /// Null when the library is an older one, or out of memory: the calls then cannot be cancelled.
  CancelToken() {
    collage_cancel* made = nullptr;
    if (detail::check_library()) detail::api()->status_free(detail::api()->cancel_create(&made));
    if (made != nullptr) handle_.reset(made, detail::api()->cancel_free);
  }
  void cancel() const noexcept {
    if (handle_) detail::api()->cancel_now(handle_.get());
  }
  [[nodiscard]] const collage_cancel* handle() const noexcept { return handle_.get(); }

 private:
  std::shared_ptr<collage_cancel> handle_;
};

/// When a run ends before it is done.
struct RunOptions {
  std::chrono::nanoseconds time_limit{0};  ///< 0 = none
  std::optional<CancelToken> cancel;
};

/// The memory of one caller, with every kernel bound to it. Keeps what it needs of its plan.
class Session {
 public:
  /// With the extents that are set now.
  [[nodiscard]] std::vector<TensorInfo> inputs() const {
    return detail::ask_all(detail::api()->session_input_info, handle_.get(), input_count_);
  }
  [[nodiscard]] std::vector<TensorInfo> outputs() const {
    return detail::ask_all(detail::api()->session_output_info, handle_.get(), output_count_);
  }
  Expected<std::size_t> input_index(const Port& input) const {
    return detail::find_port(detail::api()->session_input_index, handle_.get(), input);
  }
  Expected<std::size_t> output_index(const Port& output) const {
    return detail::find_port(detail::api()->session_output_index, handle_.get(), output);
  }

  /// The extents of all inputs, in the plan's order.
  Expected<void> set_shapes(const std::vector<Extents>& inputs) {
    std::vector<collage_shape> shapes;
    for (const Extents& extents : inputs) shapes.push_back({extents.data(), extents.size()});
    return detail::checked(detail::api()->session_set_shapes(handle_.get(), shapes.data(), shapes.size()));
  }

  /// The session's own memory of an input, to be written before a run.
  template <class T>
  Expected<Span<T>> input(const Port& input) {
    Expected<std::size_t> index = typed_input<T>(input);
    if (!index) return Unexpected(std::move(index.error()));
    void* data = nullptr;
    std::size_t bytes = 0;
    if (collage_status* const status = detail::api()->session_input(handle_.get(), *index, &data, &bytes))
      return Unexpected(detail::error_of(status));
    return Span<T>(static_cast<T*>(data), bytes / sizeof(T));
  }
  /// Copies `count` values, as many as the input has.
  template <class T>
  Expected<void> copy_input(const Port& input, const T* values, std::size_t count) {
    Expected<std::size_t> index = typed_input<T>(input);
    if (!index) return Unexpected(std::move(index.error()));
    return detail::checked(detail::api()->session_copy_input(handle_.get(), *index, values, count * sizeof(T)));
  }
  /// Runs read the input from the caller's memory, of `count` values at an address that is a multiple of 64. Null: from
  /// the session's own again.
  template <class T>
  Expected<void> bind_input(const Port& input, const T* values, std::size_t count) {
    Expected<std::size_t> index = typed_input<T>(input);
    if (!index) return Unexpected(std::move(index.error()));
    return detail::checked(detail::api()->session_bind_input(handle_.get(), *index, values, count * sizeof(T)));
  }
  /// Likewise for an output.
  template <class T>
  Expected<void> bind_output(const Port& output, T* values, std::size_t count) {
    Expected<std::size_t> index = typed_output<T>(output);
    if (!index) return Unexpected(std::move(index.error()));
    return detail::checked(detail::api()->session_bind_output(handle_.get(), *index, values, count * sizeof(T)));
  }

  Expected<void> run() { return detail::checked(detail::api()->session_run(handle_.get())); }
  /// The same, with an early end. Errors session/cancelled, session/deadline.
  Expected<void> run(const RunOptions& options) {
    collage_run_options known{};
    known.size = sizeof known;
    known.time_limit_ns = options.time_limit.count();
    if (options.cancel) known.cancel = options.cancel->handle();
    return detail::checked(detail::api()->session_run_with(handle_.get(), &known));
  }

  /// What the last run gave.
  template <class T>
  Expected<Output<T>> output(const Port& output) {
    Expected<std::size_t> index = typed_output<T>(output);
    if (!index) return Unexpected(std::move(index.error()));
    collage_tensor tensor{};
    tensor.size = sizeof tensor;
    if (collage_status* const status = detail::api()->session_output(handle_.get(), *index, &tensor))
      return Unexpected(detail::error_of(status));
    return Output<T>{Span<const T>(static_cast<const T*>(tensor.data), tensor.bytes / sizeof(T)),
                     Extents(tensor.extents, tensor.extents + tensor.rank)};
  }

  /// Copies strings in UTF-8, row-major, as many as the input has.
  Expected<void> set_strings(const Port& input, const std::vector<std::string>& strings) {
    Expected<std::size_t> index = input_index(input);
    if (!index) return Unexpected(std::move(index.error()));
    std::vector<collage_string> views;
    for (const std::string& text : strings) views.push_back({text.data(), text.size()});
    return detail::checked(
        detail::api()->session_set_strings(handle_.get(), *index, views.data(), views.size()));
  }
  /// Copies of what the last run gave.
  Expected<Strings> output_strings(const Port& output) {
    Expected<std::size_t> index = output_index(output);
    if (!index) return Unexpected(std::move(index.error()));
    collage_strings given{};
    given.size = sizeof given;
    if (collage_status* const status = detail::api()->session_output_strings(handle_.get(), *index, &given))
      return Unexpected(detail::error_of(status));
    Strings made;
    for (std::size_t i = 0; i < given.count; ++i)
      made.values.emplace_back(given.strings[i].data, given.strings[i].bytes);
    made.extents.assign(given.extents, given.extents + given.rank);
    return made;
  }
  /// A value of any type in JSON, as collage.h says: the only way for sequences, optionals and maps.
  Expected<void> set_json(const Port& input, const std::string& json) {
    Expected<std::size_t> index = input_index(input);
    if (!index) return Unexpected(std::move(index.error()));
    return detail::checked(detail::api()->session_set_json(handle_.get(), *index, json.data(), json.size()));
  }
  Expected<std::string> output_json(const Port& output) {
    Expected<std::size_t> index = output_index(output);
    if (!index) return Unexpected(std::move(index.error()));
    const char* json = nullptr;
    std::size_t bytes = 0;
    if (collage_status* const status = detail::api()->session_output_json(handle_.get(), *index, &json, &bytes))
      return Unexpected(detail::error_of(status));
    return std::string(json, bytes);
  }

  /// For calls of the table that have no function here.
  [[nodiscard]] collage_session* handle() const noexcept { return handle_.get(); }

 private:
  friend class Plan;
  struct Free {
    void operator()(collage_session* session) const noexcept { detail::api()->session_free(session); }
  };

  Session(collage_session* handle, std::unique_ptr<ParallelFor> pool, std::size_t input_count, std::size_t output_count)
      : pool_(std::move(pool)), handle_(handle), input_count_(input_count), output_count_(output_count) {}

  static void on_pool(void* pool, std::size_t count, void (*task)(void*, std::size_t), void* data) {
    (*static_cast<const ParallelFor*>(pool))(count, PoolTask(task, data));
  }

  template <class T>
  Expected<std::size_t> typed_input(const Port& input) const {
    return typed<T>(input_index(input), detail::api()->session_input_info);
  }
  template <class T>
  Expected<std::size_t> typed_output(const Port& output) const {
    return typed<T>(output_index(output), detail::api()->session_output_info);
  }
  template <class T, class Ask>
  Expected<std::size_t> typed(Expected<std::size_t> index, Ask ask) const {
    if (!index) return index;
    collage_tensor_info info{};
    info.size = sizeof info;
    if (collage_status* const status = ask(handle_.get(), *index, &info)) return Unexpected(detail::error_of(status));
    if (Expected<void> fits = detail::check_type<T>(info.element_type, info.name); !fits)
      return Unexpected(std::move(fits.error()));
    return index;
  }

  std::unique_ptr<ParallelFor> pool_;  ///< outlives the handle, which calls it
  std::unique_ptr<collage_session, Free> handle_;
  std::size_t input_count_ = 0;
  std::size_t output_count_ = 0;
};

/// A plan file ready to run, shared by all sessions made of it.
class Plan {
 public:
  static Expected<Plan> load(const std::string& path, const PlanOptions& options = {}) {
    return load_with(options, [&](const collage_plan_options* known, collage_plan** plan) {
      return detail::api()->plan_load_file(path.c_str(), known, plan);
    });
  }
  /// The bytes are copied; with borrow_memory they stay unchanged until the plan and its sessions are gone.
  static Expected<Plan> load_memory(const void* bytes, std::size_t count, const PlanOptions& options = {}) {
    return load_with(options, [&](const collage_plan_options* known, collage_plan** plan) {
      return detail::api()->plan_load_memory(bytes, count, known, plan);
    });
  }

  /// Of a handle that another function of Collage made, such as plan_of_model() of collage_tune.hpp; it is freed here.
  static Plan take(collage_plan* handle) { return Plan(handle); }

  [[nodiscard]] const std::vector<TensorInfo>& inputs() const noexcept { return inputs_; }
  [[nodiscard]] const std::vector<TensorInfo>& outputs() const noexcept { return outputs_; }
  Expected<std::size_t> input_index(const Port& input) const {
    return detail::find_port(detail::api()->plan_input_index, handle_.get(), input);
  }
  Expected<std::size_t> output_index(const Port& output) const {
    return detail::find_port(detail::api()->plan_output_index, handle_.get(), output);
  }
  /// The whole type as text: "str[N]", "seq(f32[?])".
  Expected<std::string> input_type(const Port& input) const {
    return type_of(input_index(input), detail::api()->plan_input_type);
  }
  Expected<std::string> output_type(const Port& output) const {
    return type_of(output_index(output), detail::api()->plan_output_type);
  }
  [[nodiscard]] int threads() const {
    std::int32_t threads = 0;
    detail::api()->status_free(detail::api()->plan_threads(handle_.get(), &threads));
    return threads;
  }
  [[nodiscard]] Verdict verdict() const {
    collage_verdict given{};
    given.size = sizeof given;
    detail::api()->status_free(detail::api()->plan_verdict(handle_.get(), &given));
    return {given.kind, std::vector<std::string>(given.reasons, given.reasons + given.reason_count)};
  }
  /// JSON of schema collage.plan-metadata/1.
  [[nodiscard]] std::string metadata() const {
    const char* json = "";
    detail::api()->status_free(detail::api()->plan_metadata(handle_.get(), &json));
    return json;
  }

  Expected<Session> make_session(const SessionOptions& options = {}) const {
    std::unique_ptr<ParallelFor> pool;
    collage_session_options known{};
    known.size = sizeof known;
    known.pool_threads = options.pool_threads;
    if (options.parallel_for) {
      pool = std::make_unique<ParallelFor>(options.parallel_for);
      known.parallel_for = Session::on_pool;
      known.pool = pool.get();
    }
    collage_session* session = nullptr;
    if (collage_status* const status = detail::api()->session_create(handle_.get(), &known, &session))
      return Unexpected(detail::error_of(status));
    return Session(session, std::move(pool), inputs_.size(), outputs_.size());
  }

  /// For calls of the table that have no function here.
  [[nodiscard]] collage_plan* handle() const noexcept { return handle_.get(); }

 private:
  struct Free {
    void operator()(collage_plan* plan) const noexcept { detail::api()->plan_free(plan); }
  };

  template <class Ask>
  Expected<std::string> type_of(Expected<std::size_t> index, Ask ask) const {
    if (!index) return Unexpected(std::move(index.error()));
    const char* type = "";
    if (collage_status* const status = ask(handle_.get(), *index, &type)) return Unexpected(detail::error_of(status));
    return std::string(type);
  }

  explicit Plan(collage_plan* handle) : handle_(handle) {
    std::size_t count = 0;
    detail::api()->status_free(detail::api()->plan_input_count(handle, &count));
    inputs_ = detail::ask_all(detail::api()->plan_input_info, handle, count);
    detail::api()->status_free(detail::api()->plan_output_count(handle, &count));
    outputs_ = detail::ask_all(detail::api()->plan_output_info, handle, count);
  }

  template <class Load>
  static Expected<Plan> load_with(const PlanOptions& options, Load load) {
    if (Expected<void> fits = detail::check_library(); !fits) return Unexpected(std::move(fits.error()));
    collage_plan_options known{};
    known.size = sizeof known;
    known.threads = options.threads;
    known.borrow_memory = options.borrow_memory ? 1 : 0;
    known.copy_file = options.copy_file ? 1 : 0;
    if (!options.signed_by.empty()) known.signed_by = options.signed_by.c_str();
    collage_plan* plan = nullptr;
    if (collage_status* const status = load(&known, &plan)) return Unexpected(detail::error_of(status));
    return Plan(plan);
  }

  std::unique_ptr<collage_plan, Free> handle_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
};

}  // namespace COLLAGE_CPP_LEVEL
}  // namespace capi
}  // namespace collage

#endif
