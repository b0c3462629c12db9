#include "serve/model_metadata.h"

#include "base/json.h"
#include "serve/datatype.h"

namespace collage {
namespace {

Json extents_of(const ValueType& type, std::size_t first_axis) {
  Json extents = Json::array();
  for (std::size_t axis = first_axis; type.shape && axis < type.shape->size(); ++axis)
    extents.push_back((*type.shape)[axis].is_static() ? (*type.shape)[axis].extent : -1);
  return extents;
}

Json described(const std::vector<TensorPort>& ports) {
  Json list = Json::array();
  for (const TensorPort& port : ports)
    list.push_back(
        {{"name", port.name}, {"datatype", datatype_of(port.type.element)}, {"shape", extents_of(port.type, 0)}});
  return list;
}

Json configured(const std::vector<TensorPort>& ports, std::size_t first_axis) {
  Json list = Json::array();
  for (const TensorPort& port : ports)
    list.push_back({{"name", port.name},
                    {"data_type", "TYPE_" + std::string(datatype_of(port.type.element))},
                    {"dims", extents_of(port.type, first_axis)}});
  return list;
}

}  // namespace

std::string model_metadata_json(const std::string& name, const Model& model) {
  return to_line({{"name", name},
                  {"versions", {"1"}},
                  {"platform", "collage_plan"},
                  {"inputs", described(model.plan().inputs())},
                  {"outputs", described(model.plan().outputs())}});
}

std::string config_json(const std::string& name, const Model& model) {
  const std::size_t first_axis = model.batch_rule() ? 1 : 0;
  return to_line({{"name", name},
                  {"platform", "collage_plan"},
                  {"backend", "collage"},
                  {"max_batch_size", model.batch_rule() ? model.batch_rule()->most : 0},
                  {"input", configured(model.plan().inputs(), first_axis)},
                  {"output", configured(model.plan().outputs(), first_axis)}});
}

}  // namespace collage
