// The functions of the table about strings, sequences, optionals and maps (api/c/collage.h says what each does).
#pragma once

#include <cstddef>

#include "api/c/collage.h"

namespace collage::c_api {

collage_status* plan_input_type(const collage_plan* plan, std::size_t index, const char** type) noexcept;
collage_status* plan_output_type(const collage_plan* plan, std::size_t index, const char** type) noexcept;
collage_status* session_set_strings(collage_session* session, std::size_t index, const collage_string* strings,
                                    std::size_t count) noexcept;
collage_status* session_output_strings(collage_session* session, std::size_t index, collage_strings* strings) noexcept;
collage_status* session_set_json(collage_session* session, std::size_t index, const char* json,
                                 std::size_t bytes) noexcept;
collage_status* session_output_json(collage_session* session, std::size_t index, const char** json,
                                    std::size_t* bytes) noexcept;

}  // namespace collage::c_api
