#include "backends/tvm/description.h"

namespace collage::tvm {

Json to_json(const Description& description) {
  Json constants = Json::array();
  for (const ConstantRead& constant : description.constants) constants.push_back(constant.extents);
  return {{"inputs", description.inputs},
          {"constants", std::move(constants)},
          {"ops", description.ops},
          {"outputs", description.outputs}};
}

}  // namespace collage::tvm
