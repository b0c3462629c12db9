// The functions of the table about sessions (api/c/collage.h says what each does), and what a session's handle holds.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/c/collage.h"
#include "api/c/port_view.h"
#include "api/run/loaded_plan.h"

namespace collage::c_api {

/// What C was given last of an output that is no bytes.
struct GivenText {
  std::vector<std::string> strings;
  std::vector<collage_string> views;  ///< of the strings
  Extents extents;
  std::string json;
};

}  // namespace collage::c_api

/// A session with what C was last told of it.
struct collage_session {  // NOLINT(readability-identifier-naming): a name of the C interface
  collage_session(collage::LoadedPlan of, collage::Session made);

  collage::LoadedPlan loaded;  ///< its ports have the names that C is given
  collage::Session session;
  bool has_shape = false;  ///< all extents of inputs are known
  bool has_run = false;    ///< outputs are those of the last run
  std::vector<collage::c_api::PortView> inputs;
  std::vector<collage::c_api::PortView> outputs;
  std::vector<collage::Extents> output_extents;  ///< of the last run
  std::vector<collage::Extents> shapes;          ///< of the last session_set_shapes: kept for its memory
  std::vector<collage::c_api::GivenText> texts;  ///< by output
};

namespace collage::c_api {

collage_status* session_create(const collage_plan* plan, const collage_session_options* options,
                               collage_session** session) noexcept;
void session_free(collage_session* session) noexcept;
collage_status* session_set_shapes(collage_session* session, const collage_shape* shapes, std::size_t count) noexcept;
collage_status* session_input_info(collage_session* session, std::size_t index, collage_tensor_info* info) noexcept;
collage_status* session_output_info(collage_session* session, std::size_t index, collage_tensor_info* info) noexcept;
collage_status* session_input_index(const collage_session* session, const char* name, std::size_t* index) noexcept;
collage_status* session_output_index(const collage_session* session, const char* name, std::size_t* index) noexcept;
collage_status* session_input(collage_session* session, std::size_t index, void** data, std::size_t* bytes) noexcept;
collage_status* session_copy_input(collage_session* session, std::size_t index, const void* data,
                                   std::size_t bytes) noexcept;
collage_status* session_output(collage_session* session, std::size_t index, collage_tensor* tensor) noexcept;
collage_status* session_copy_output(collage_session* session, std::size_t index, void* data,
                                    std::size_t bytes) noexcept;
collage_status* session_bind_input(collage_session* session, std::size_t index, const void* data,
                                   std::size_t bytes) noexcept;
collage_status* session_bind_output(collage_session* session, std::size_t index, void* data,
                                    std::size_t bytes) noexcept;
collage_status* session_run(collage_session* session) noexcept;
collage_status* session_run_with(collage_session* session, const collage_run_options* options) noexcept;

}  // namespace collage::c_api
