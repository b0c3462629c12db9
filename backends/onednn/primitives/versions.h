// What versions 2 and 3 of the library name or call differently: the class of Softmax, and how a description is made.
// In:  the arguments of a description. Out: the descriptions that the version at hand makes of them.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <vector>

namespace collage::onednn {

#if DNNL_VERSION_MAJOR >= 3
using Softmax = dnnl::softmax_forward;
/// Whether descriptions of operations whose result is like the source have one of the result, too.
inline constexpr bool kTakesResult = true;

inline dnnl::concat::primitive_desc describe_concat(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                                    const dnnl::memory::desc& result, int axis,
                                                    const std::vector<dnnl::memory::desc>& sources) {
  return {engine, result, axis, sources, attributes};
}

/// The first implementation of an operation, and the way to the next.
template <class Forward>
struct Candidates {
  template <class... What>
  Candidates(const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const What&... what)
      : at(engine, what..., attributes, true) {}
  typename Forward::primitive_desc at;
};
#else
using Softmax = dnnl::softmax_v2_forward;
inline constexpr bool kTakesResult = false;

inline dnnl::concat::primitive_desc describe_concat(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                                    const dnnl::memory::desc& result, int axis,
                                                    const std::vector<dnnl::memory::desc>& sources) {
  return {result, axis, sources, engine, attributes};
}

/// The first implementation of an operation, and the way to the next: the library keeps a pointer to the description.
template <class Forward>
struct Candidates {
  template <class... What>
  Candidates(const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const What&... what)
      : description(what...), at(description, attributes, engine, true) {}
  typename Forward::desc description;
  typename Forward::primitive_desc at;
};
#endif

}  // namespace collage::onednn
