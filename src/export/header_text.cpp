#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/pages.h"
#include "export/c_names.h"
#include "export/library/model.h"
#include "export/library_text.h"

namespace collage {
namespace {

// NAME and PREFIX are replaced.
constexpr std::string_view kHead = R"(/* One model as a library, written by `collage export`. C99 and C++.
   In: bytes of the inputs. Out: bytes of the outputs. Tensors are row-major without gaps, little-endian.

       static unsigned char memory[PREFIX_WORKSPACE_BYTES] __attribute__((aligned(PREFIX_ALIGNMENT)));
       NAME_instance* model = NULL;
       int status = NAME_init(memory, sizeof memory, &model);
       if (status == PREFIX_GOOD) status = NAME_run(model, inputs, outputs);
       if (status != PREFIX_GOOD) fprintf(stderr, "%s\n", NAME_error(model));
       NAME_free(model);

   Memory: all values of an instance lie in its workspace. NAME_init also takes memory from the heap, for its list of
       steps; NAME_run takes none.
   Threads: an instance is used by one thread at a time. Instances share nothing that changes, so each thread may have
       one and use it at the same time.
   No file is read, written or loaded at run time. A processor that lacks the instructions gets PREFIX_UNSUPPORTED. */
)";

constexpr std::string_view kFunctions = R"(
typedef struct NAME_instance NAME_instance;

/* PREFIX_ABI of the library; another one than the header's means that they do not belong together. */
PREFIX_EXPORT int NAME_abi(void);

/* PREFIX_WORKSPACE_BYTES of the library. */
PREFIX_EXPORT size_t NAME_workspace_bytes(void);

/* Makes an instance in the workspace: `bytes` of at least PREFIX_WORKSPACE_BYTES at a multiple of PREFIX_ALIGNMENT, which
   outlives the instance. On another status than PREFIX_GOOD the instance, where it is not NULL, serves NAME_error and
   NAME_free alone. PREFIX_USAGE: the workspace is too small, or not at a
   multiple of PREFIX_ALIGNMENT. */
PREFIX_EXPORT int NAME_init(void* workspace, size_t bytes, NAME_instance** instance);

/* The memory of an input, to be written before NAME_run, and of an output, valid until the next run. It lies in the
   workspace, aligned to PREFIX_ALIGNMENT. NULL when there is no such input or output. */
PREFIX_EXPORT void* NAME_input(NAME_instance* instance, size_t index);
PREFIX_EXPORT const void* NAME_output(const NAME_instance* instance, size_t index);

/* Computes the outputs. Inputs are copied from inputs[i], outputs to outputs[i], which may lie anywhere; where an entry
   is NULL, or the array is, the memory of NAME_input and NAME_output is used as it is, without a copy. */
PREFIX_EXPORT int NAME_run(NAME_instance* instance, const void* const* inputs, void* const* outputs);

/* What was wrong in the last call, in words; "" when it went well. Valid until the next call with the instance. */
PREFIX_EXPORT const char* NAME_error(const NAME_instance* instance);

/* The workspace can be used again. NULL does nothing. */
PREFIX_EXPORT void NAME_free(NAME_instance* instance);
)";

std::string filled(std::string_view text, const std::string& name) {
  std::string out;
  while (!text.empty()) {
    if (text.starts_with("NAME_")) {
      out += name;
      text.remove_prefix(4);
    } else if (text.starts_with("PREFIX_")) {
      out += upper_case(name);
      text.remove_prefix(6);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

/// The macros of one input or output.
std::string port_text(const PlanValue& value, const std::string& macro) {
  const Extents extents = value.type.extents();
  std::string text = fmt::format("#define {}_NAME {}\n", macro, c_literal(value.name));
  text += fmt::format("#define {}_TYPE {} /* {}, by ONNX's number */\n", macro, static_cast<int>(value.type.element),
                      name_of(value.type.element));
  text += fmt::format("#define {}_RANK {}\n", macro, extents.size());
  if (!extents.empty()) text += fmt::format("#define {}_SHAPE {{{}}}\n", macro, fmt::join(extents, ", "));
  return text + fmt::format("#define {}_BYTES {}\n", macro, value.bytes);
}

/// Those of all, and lists of them.
std::string ports_text(const Plan& plan, const std::vector<PlanIndex>& values, const std::string& kind) {
  std::string text = fmt::format("\n#define {}_COUNT {}\n", kind, values.size());
  std::set<std::string> named;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const PlanValue& value = plan.values[values[i]];
    text += port_text(value, fmt::format("{}_{}", kind, i));
    const std::string word = "INDEX_" + upper_case(c_identifier(value.name));
    if (named.insert(word).second) text += fmt::format("#define {}_{} {}\n", kind, word, i);
  }
  const auto list = [&](const char* what, const auto& of_value) {
    std::vector<std::string> entries;
    for (const PlanIndex index : values) entries.push_back(of_value(plan.values[index]));
    text += fmt::format("#define {}_{} {{{}}}\n", kind, what, fmt::join(entries, ", "));
  };
  list("NAMES", [](const PlanValue& value) { return c_literal(value.name); });
  list("TYPES", [](const PlanValue& value) { return std::to_string(static_cast<int>(value.type.element)); });
  list("SIZES", [](const PlanValue& value) { return std::to_string(value.bytes); });
  return text;
}

}  // namespace

std::string header_text(const Plan& plan, const std::string& name) {
  const std::string prefix = upper_case(name);
  std::string text = filled(kHead, name);
  text += fmt::format("#ifndef {0}_LIBRARY_H\n#define {0}_LIBRARY_H\n\n#include <stddef.h>\n\n", prefix);
  text += fmt::format(
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n#if defined(__GNUC__)\n#define {0}_EXPORT "
      "__attribute__((visibility(\"default\")))\n#else\n#define {0}_EXPORT\n#endif\n\n",
      prefix);
  text += fmt::format("#define {}_ABI 1\n#define {}_THREADS {}\n", prefix, prefix, plan.threads);
  text += fmt::format("#define {}_ALIGNMENT {}\n#define {}_WORKSPACE_BYTES {}\n", prefix, COLLAGE_EXPORT_ALIGNMENT,
                      prefix, workspace_layout(plan).bytes);
  text += ports_text(plan, plan.inputs, prefix + "_INPUT");
  text += ports_text(plan, plan.outputs, prefix + "_OUTPUT");
  text += "\n/* Statuses: the numbers of collage.h and of the command `collage`. */\nenum {\n";
  constexpr std::array<std::tuple<std::string_view, ExitCode, std::string_view>, 6> kStatuses = {{
      {"GOOD", ExitCode::kGood, ""},
      {"USAGE", ExitCode::kUsage, "the program called something wrongly"},
      {"BAD_INPUT", ExitCode::kBadInput, "an input value that a step cannot take, such as an index beyond the end"},
      {"UNSUPPORTED", ExitCode::kUnsupported, "the processor lacks instructions"},
      {"LIMIT", ExitCode::kLimit, "no memory"},
      {"BUG", ExitCode::kBug, "a fault of the library"},
  }};
  for (const auto& [word, code, meaning] : kStatuses)
    text += fmt::format("  {}_{} = {}{}{}\n", prefix, word, static_cast<int>(code), code == ExitCode::kBug ? "" : ",",
                        meaning.empty() ? "" : fmt::format(" /* {} */", meaning));
  text += "};\n" + filled(kFunctions, name);
  return text + "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
}

WorkspaceLayout workspace_layout(const Plan& plan) {
  WorkspaceLayout layout{.inputs = {}, .outputs = {}, .arena = COLLAGE_EXPORT_HEAD_BYTES, .bytes = 0};
  layout.bytes = aligned_up(layout.arena + plan.arena_bytes);
  const auto place = [&](const std::vector<PlanIndex>& values, std::vector<std::size_t>& offsets) {
    for (const PlanIndex value : values) {
      offsets.push_back(layout.bytes);
      layout.bytes += aligned_up(std::max<std::size_t>(plan.values[value].bytes, 1));
    }
  };
  place(plan.inputs, layout.inputs);
  place(plan.outputs, layout.outputs);
  return layout;
}

std::vector<std::string> functions_of(const std::string& name) {
  std::vector<std::string> functions;
  for (const char* const word : {"abi", "workspace_bytes", "init", "input", "output", "run", "error", "free"})
    functions.push_back(name + "_" + word);
  return functions;
}

}  // namespace collage
