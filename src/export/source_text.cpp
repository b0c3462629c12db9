#include <fmt/format.h>
#include <fmt/ranges.h>

#include "export/c_names.h"
#include "export/library/model.h"
#include "export/library_text.h"
#include "plan/file/plan_binary.h"

namespace collage {
namespace {

// {0} is what the names of the functions begin with, {1} that of the macros.
constexpr std::string_view kDefinitions = R"(
int {0}_abi(void) {{ return {1}_ABI; }}
size_t {0}_workspace_bytes(void) {{ return {1}_WORKSPACE_BYTES; }}
int {0}_init(void* workspace, size_t bytes, {0}_instance** instance) {{
  return collage_export_init(&model, workspace, bytes, (collage_export_instance**)instance);
}}
void* {0}_input({0}_instance* instance, size_t index) {{
  return collage_export_input((collage_export_instance*)instance, index);
}}
const void* {0}_output(const {0}_instance* instance, size_t index) {{
  return collage_export_output((const collage_export_instance*)instance, index);
}}
int {0}_run({0}_instance* instance, const void* const* inputs, void* const* outputs) {{
  return collage_export_run((collage_export_instance*)instance, inputs, outputs);
}}
const char* {0}_error(const {0}_instance* instance) {{
  return collage_export_error((const collage_export_instance*)instance);
}}
void {0}_free({0}_instance* instance) {{ collage_export_free((collage_export_instance*)instance); }}
)";

/// Bytes as an array of chars, in lines that every compiler takes.
std::string bytes_text(const std::string& name, std::string_view bytes) {
  constexpr std::size_t kLine = 96;
  std::string text = fmt::format("static const char {}[] =", name);
  for (std::size_t at = 0; at < bytes.size(); at += kLine) text += "\n  " + c_literal(bytes.substr(at, kLine));
  return text + (bytes.empty() ? " \"\";\n" : ";\n");
}

std::string codes_text(const std::vector<LinkedCode>& codes) {
  std::string text;
  std::string rows;
  std::size_t count = 0;
  for (std::size_t c = 0; c < codes.size(); ++c)
    for (std::size_t s = 0; s < codes[c].symbols.size(); ++s, ++count) {
      const std::string symbol = linked_symbol(c, s);
      text += fmt::format("extern __attribute__((visibility(\"hidden\"))) int {}(void** arguments);\n", symbol);
      rows +=
          fmt::format("  {{{}, {}, (void*){}}},\n", c_literal(codes[c].name), c_literal(codes[c].symbols[s]), symbol);
    }
  // A table of no rows has one that nothing asks for.
  text += "\nstruct collage_linked_symbol {\n  const char* code;\n  const char* symbol;\n  void* address;\n};\n";
  text += "const struct collage_linked_symbol collage_linked_symbols[] = {\n" + rows + "  {\"\", \"\", 0}};\n";
  return text + fmt::format("const size_t collage_linked_symbol_count = {};\n\n", count);
}

std::string artifacts_text(const RealisedPlan& plan) {
  std::string text;
  std::string rows;
  std::size_t i = 0;
  for (const auto& [hash, bytes] : plan.artifacts) {
    const std::string name = fmt::format("artifact_{}", i++);
    text += bytes_text(name, bytes.text());
    rows += fmt::format("  {{{}, {}, {}}},\n", c_literal(hash), name, bytes.size());
  }
  return text + "static const collage_export_bytes artifacts[] = {\n" + rows + "  {\"\", 0, 0}};\n\n";
}

std::string ports_text(const Plan& plan, const std::vector<PlanIndex>& values, const std::vector<std::size_t>& offsets,
                       const std::string& name) {
  std::string text = fmt::format("static const collage_export_port {}[] = {{", name);
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{{{}, {}}}, ", offsets[i], plan.values[values[i]].bytes);
  return text + "{0, 0}};\n";
}

}  // namespace

std::string linked_symbol(std::size_t code, std::size_t symbol) {
  return fmt::format("collage_code_{}_{}", code, symbol);
}

std::string source_text(const LinkedParts& parts, const std::string& name) {
  const Plan& plan = parts.plan.plan;
  const WorkspaceLayout layout = workspace_layout(plan);
  const std::string binary = plan_to_binary(plan);
  std::string text = "#include \"header.h\"\n\n#include \"collage_export_model.h\"\n\n";
  text += codes_text(parts.codes) + artifacts_text(parts.plan) + bytes_text("plan", binary);
  text += ports_text(plan, plan.inputs, layout.inputs, "inputs");
  text += ports_text(plan, plan.outputs, layout.outputs, "outputs");
  text += "extern __attribute__((visibility(\"hidden\"))) const unsigned char collage_export_weights[];\n\n";
  text += fmt::format(
      "static const collage_export_model model = {{plan, {}, collage_export_weights, {}, artifacts, {}, inputs, {}, "
      "outputs, {}, {}, {}, {}}};\n",
      binary.size(), plan.weights_bytes, parts.plan.artifacts.size(), plan.inputs.size(), plan.outputs.size(),
      layout.arena, plan.arena_bytes, layout.bytes);
  return text + fmt::format(kDefinitions, name, upper_case(name));
}

std::string weights_text() {
  return ".section .rodata.collage_weights,\"a\",@progbits\n"
         ".balign 4096\n"
         ".globl collage_export_weights\n"
         ".hidden collage_export_weights\n"
         "collage_export_weights:\n"
         ".incbin \"weights.bin\"\n"
         ".balign 64\n"
         ".section .note.GNU-stack,\"\",@progbits\n";
}

std::string exports_text(const std::string& name) {
  return fmt::format("{{\n  global: {};\n  local: *;\n}};\n", fmt::join(functions_of(name), "; "));
}

}  // namespace collage
