// A session as a class of Python: arrays in, arrays out.
// In:  a mapping from names to arrays, or a sequence of arrays. Out: the outputs as new arrays or in those given.
// How: inputs are copied into the session's memory, or bound where they lie if they are large and aligned to 64 bytes.
//      New outputs are copied out; outputs that the caller gave are bound under the same conditions.
// Threads: one at a time; a second one gets session/in-use. The interpreter's lock is free during copies and the run.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/c/collage.h"
#include "array_view.h"

namespace collage::python {

class Plan;

class Session {
 public:
  explicit Session(const Plan& plan);

  /// `feed`: a mapping by name gives a dict of outputs, a sequence by position (or one array) a list.
  /// `timeout`: seconds or None; `cancel`: a Cancel or None.
  [[nodiscard]] nanobind::object run(nanobind::handle feed, nanobind::handle out, nanobind::handle timeout,
                                     nanobind::handle cancel);
  /// The outputs of these positions as a list; with null all.
  [[nodiscard]] nanobind::list run_list(nanobind::dict feed, nanobind::handle positions);
  /// `shapes`: a mapping by name, or a sequence.
  void set_shapes(nanobind::handle shapes);

  [[nodiscard]] nanobind::list inputs();
  [[nodiscard]] nanobind::list outputs();

 private:
  struct Free {
    void operator()(collage_session* session) const;
  };
  /// Makes other threads' calls fail while one is under way.
  class Use {
   public:
    explicit Use(Session& session);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    Session& session_;
  };
  struct Input {
    std::string name;
    nanobind::object key;  ///< the name as a str of Python
    const ElementFacts* facts = nullptr;
    std::vector<Py_ssize_t> extents;  ///< that are set now
    std::size_t bytes = 0;
    std::byte* own = nullptr;                ///< the session's memory of it, which runs read unless another is bound
    const void* bound = nullptr;             ///< the caller's memory that runs read
    ArrayView array;                         ///< of the run under way
    std::string held_type;                   ///< of what is no array of numbers, as text; empty else
    std::string json;                        ///< such a value of the run under way
    std::vector<std::int64_t> held_extents;  ///< of strings in it
  };
  struct Output {
    std::string name;
    nanobind::object key;
    const ElementFacts* facts = nullptr;
    nanobind::object dtype;  ///< of NumPy; null until first used
    nanobind::object shape;  ///< a tuple; null when only a run knows
    std::vector<Py_ssize_t> extents;
    std::size_t bytes = 0;
    void* bound = nullptr;
    std::string held_type;    ///< as of an input
    nanobind::object given;   ///< the caller's array for the run under way; null for a new one
    nanobind::object result;  ///< what the run under way gives
    ArrayView array;
  };

  void read_names(const Plan& plan);
  /// What is known of the ports at the shape that is set now.
  void read_ports();
  void read_feed(nanobind::handle feed);
  void read_mapping(nanobind::dict feed);
  void read_sequence(nanobind::handle feed);
  void read_input(Input& input, nanobind::handle object);
  void read_out(nanobind::handle out);
  /// Sets the shapes of the arrays of `inputs_` if others are set.
  void choose_shapes();
  void apply_shapes(const std::vector<collage_shape>& shapes);
  void unbind_all();
  void place_input(std::size_t index);
  void place_output(std::size_t index);
  void execute(const collage_run_options* options = nullptr);
  /// What the run gave becomes the result: as elements of its type where NumPy itself does not have the type.
  void take_output(std::size_t index);
  /// Strings, a sequence, an optional or a map.
  [[nodiscard]] nanobind::object held_output(std::size_t index);
  /// Copies an output whose shape only the run knew; returns that shape.
  [[nodiscard]] nanobind::object copy_late_output(std::size_t index);
  [[nodiscard]] nanobind::object new_array(Output& output, nanobind::handle shape, std::size_t bytes);
  void drop_arrays();

  std::unique_ptr<collage_session, Free> handle_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  bool is_open_ = false;    ///< do calls choose the shapes?
  bool has_shape_ = false;  ///< is one set?
  std::atomic<bool> in_use_ = false;
};

void bind_session(nanobind::module_& module);

}  // namespace collage::python
