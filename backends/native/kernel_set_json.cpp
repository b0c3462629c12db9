#include "kernel_set_json.h"

#include <stdexcept>

#include "base/json_numbers.h"

namespace collage::native {
namespace {

using nlohmann::json;

/// A factor, then the sizes.
json to_json(const Term& term) {
  json list = json::array({term.factor});
  for (const std::uint32_t size : term.sizes) list.push_back(size);
  return list;
}

Term term_of(const json& from) {
  Term term{.factor = from.at(0).get<std::int64_t>()};
  for (std::size_t i = 1; i < from.size(); ++i) term.sizes.push_back(from.at(i).get<std::uint32_t>());
  return term;
}

template <class T, class Function>
std::vector<T> list_of(const json& from, Function&& one) {
  if (!from.is_array()) throw std::runtime_error("no list");
  std::vector<T> list;
  for (const json& item : from) list.push_back(one(item));
  return list;
}

template <class List, class Function>
json list_to_json(const List& list, Function&& one) {
  json out = json::array();
  for (const auto& item : list) out.push_back(one(item));
  return out;
}

json terms_to_json(const Terms& terms) {
  return list_to_json(terms, [](const Term& term) { return to_json(term); });
}
Terms terms_of(const json& from) { return list_of<Term>(from, term_of); }

json to_json(const Symbol& symbol) {
  return {{"name", symbol.name},
          {"input", symbol.input},
          {"axis", symbol.axis},
          {"low", symbol.low},
          {"high", symbol.high}};
}

Symbol symbol_from(const json& from) {
  return {.name = from.at("name").get<std::string>(),
          .input = from.at("input").get<std::uint32_t>(),
          .axis = from.at("axis").get<std::uint32_t>(),
          .low = from.at("low").get<std::int64_t>(),
          .high = from.at("high").get<std::int64_t>()};
}

json to_json(const Size& size) { return json::array({size.symbol, size.add, size.divide, size.plus}); }

Size size_of(const json& from) {
  return {.symbol = from.at(0).get<std::uint32_t>(),
          .add = from.at(1).get<std::int64_t>(),
          .divide = from.at(2).get<std::int64_t>(),
          .plus = from.at(3).get<std::int64_t>()};
}

json to_json(const Member& member) {
  return {
      {"symbol", member.symbol},
      {"variant", member.variant},
      {"arguments", list_to_json(member.arguments, [](const TensorArgument& one) { return native::to_json(one); })},
      {"views",
       list_to_json(member.views,
                    [](const OpenView& view) {
                      return json{{"extents", terms_to_json(view.extents)}, {"strides", terms_to_json(view.strides)}};
                    })},
      {"guards", list_to_json(member.guards, [](const Guard& guard) {
         return json{{"term", to_json(guard.term)}, {"least", guard.least}};
       })}};
}

Member member_of(const json& from) {
  return {.symbol = from.at("symbol").get<std::string>(),
          .variant = from.at("variant").get<std::string>(),
          .arguments = list_of<TensorArgument>(from.at("arguments"), argument_of),
          .views = list_of<OpenView>(from.at("views"),
                                     [](const json& view) {
                                       return OpenView{.extents = terms_of(view.at("extents")),
                                                       .strides = terms_of(view.at("strides"))};
                                     }),
          .guards = list_of<Guard>(from.at("guards"), [](const json& guard) {
            return Guard{.term = term_of(guard.at("term")), .least = guard.at("least").get<std::int64_t>()};
          })};
}

json to_json(const SetCase& one) { return {{"low", one.low}, {"high", one.high}, {"member", one.member}}; }

SetCase case_of(const json& from) {
  return {.low = from.at("low").get<Extents>(),
          .high = from.at("high").get<Extents>(),
          .member = from.at("member").get<std::uint32_t>()};
}

}  // namespace

json to_json(const TensorArgument& argument) {
  return {{"kind", static_cast<int>(argument.kind)},
          {"index", argument.index},
          {"type", name_of(argument.type)},
          {"extents", argument.extents},
          {"strides", argument.strides}};
}

TensorArgument argument_of(const json& from) {
  const auto type = element_type_of(from.at("type").get<std::string>());
  const int kind = from.at("kind").get<int>();
  if (!type || kind < 0 || kind > 2) throw std::runtime_error("an argument of unknown kind");
  return {.kind = static_cast<ArgumentKind>(kind),
          .index = from.at("index").get<std::uint32_t>(),
          .type = *type,
          .extents = from.at("extents").get<Extents>(),
          .strides = from.at("strides").get<Extents>()};
}

json to_json(const KernelSet& set) {
  const auto plain = [](const auto& one) { return to_json(one); };
  return {{"symbols", list_to_json(set.symbols, plain)},       {"sizes", list_to_json(set.sizes, plain)},
          {"inputs", list_to_json(set.inputs, terms_to_json)}, {"outputs", list_to_json(set.outputs, terms_to_json)},
          {"members", list_to_json(set.members, plain)},       {"cases", list_to_json(set.cases, plain)}};
}

KernelSet kernel_set_of(const json& from) {
  return {.symbols = list_of<Symbol>(from.at("symbols"), symbol_from),
          .sizes = list_of<Size>(from.at("sizes"), size_of),
          .inputs = list_of<Terms>(from.at("inputs"), terms_of),
          .outputs = list_of<Terms>(from.at("outputs"), terms_of),
          .members = list_of<Member>(from.at("members"), member_of),
          .cases = list_of<SetCase>(from.at("cases"), case_of)};
}

}  // namespace collage::native
