#include "primitives/algorithms.h"

#include <array>
#include <stdexcept>
#include <string>
#include <utility>

namespace collage::onednn {
namespace {

using dnnl::algorithm;
using Entry = std::pair<std::string_view, algorithm>;

constexpr std::array kEltwise = {Entry{"relu", algorithm::eltwise_relu},
                                 Entry{"tanh", algorithm::eltwise_tanh},
                                 Entry{"elu", algorithm::eltwise_elu},
                                 Entry{"abs", algorithm::eltwise_abs},
                                 Entry{"sqrt", algorithm::eltwise_sqrt},
                                 Entry{"linear", algorithm::eltwise_linear},
                                 Entry{"soft_relu", algorithm::eltwise_soft_relu},
                                 Entry{"logistic", algorithm::eltwise_logistic},
                                 Entry{"exp", algorithm::eltwise_exp},
                                 Entry{"gelu_tanh", algorithm::eltwise_gelu_tanh},
                                 Entry{"gelu_erf", algorithm::eltwise_gelu_erf},
                                 Entry{"swish", algorithm::eltwise_swish},
                                 Entry{"log", algorithm::eltwise_log},
                                 Entry{"clip", algorithm::eltwise_clip},
                                 Entry{"pow", algorithm::eltwise_pow},
                                 Entry{"round", algorithm::eltwise_round},
                                 Entry{"mish", algorithm::eltwise_mish},
                                 Entry{"hardswish", algorithm::eltwise_hardswish},
                                 Entry{"square", algorithm::eltwise_square}};

constexpr std::array kBinary = {
    Entry{"add", algorithm::binary_add}, Entry{"sub", algorithm::binary_sub}, Entry{"mul", algorithm::binary_mul},
    Entry{"div", algorithm::binary_div}, Entry{"max", algorithm::binary_max}, Entry{"min", algorithm::binary_min},
    Entry{"ge", algorithm::binary_ge},   Entry{"gt", algorithm::binary_gt},   Entry{"le", algorithm::binary_le},
    Entry{"lt", algorithm::binary_lt},   Entry{"eq", algorithm::binary_eq},   Entry{"ne", algorithm::binary_ne}};

constexpr std::array kReduction = {Entry{"max", algorithm::reduction_max},
                                   Entry{"min", algorithm::reduction_min},
                                   Entry{"sum", algorithm::reduction_sum},
                                   Entry{"mul", algorithm::reduction_mul},
                                   Entry{"mean", algorithm::reduction_mean},
                                   Entry{"norm_lp", algorithm::reduction_norm_lp_sum},
                                   Entry{"norm_lp_power", algorithm::reduction_norm_lp_power_p_sum}};

template <class Table>
algorithm find(const Table& table, std::string_view name) {
  for (const auto& [key, value] : table)
    if (key == name) return value;
  throw std::runtime_error("unknown algorithm " + std::string(name));
}

}  // namespace

algorithm eltwise_algorithm(std::string_view name) { return find(kEltwise, name); }
algorithm binary_algorithm(std::string_view name) { return find(kBinary, name); }
algorithm reduction_algorithm(std::string_view name) { return find(kReduction, name); }

}  // namespace collage::onednn
