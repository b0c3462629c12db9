// What a plan decides as text, read from its JSON, for tests that compare plans.
#pragma once

#include <string>

#include "base/json.h"
#include "plan/file/plan_json.h"

namespace collage::test {

inline void write_decisions(const Json& body, const std::string& indent, std::string& text) {
  const auto values = [&](const char* arrow, const Json& indices) {
    text += arrow;
    for (const Json& index : indices) {
      const Json& value = body.at("values").at(index.get<std::size_t>());
      text += " " + value.at("name").get<std::string>() + ":" + value.at("format").dump();
    }
  };
  for (const Json& step : body.at("steps")) {
    text += indent;
    for (const char* key : {"kind", "backend", "variant"}) text += step.at(key).get<std::string>() + " ";
    text += step.at("nodes").dump();
    values(" |", step.at("inputs"));
    values(" ->", step.at("outputs"));
    text += "\n";
    if (!step.contains("bodies")) continue;
    for (const Json& inner : step.at("bodies")) {
      text += indent + "  body " + inner.at("name").get<std::string>() + "\n";
      write_decisions(inner, indent + "    ", text);
    }
  }
}

/// One line a step in order: kind, backend, variant, nodes, values with formats; the steps of bodies below the step
/// that holds them. Plans with equal text run the same kernels on the same values in the same order.
inline std::string decisions_text(const Plan& plan) {
  std::string text;
  write_decisions(Json::parse(to_json(plan)), "", text);
  return text;
}

}  // namespace collage::test
