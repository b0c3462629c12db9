// What versions 2 and 3 of the library name or call differently: the class of Softmax, and how a description is made.
// In:  the arguments of a description. Out: the descriptions that the version at hand makes of them.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>

#include <vector>

#include "library.h"

namespace collage::onednn {

/// Whether descriptions of operations whose result is like the source have one of the result, too.
inline constexpr bool kTakesResult = kIsVersion3;

using Softmax =
#if DNNL_VERSION_MAJOR >= 3
    dnnl::softmax_forward;
#else
    dnnl::softmax_v2_forward;
#endif

inline dnnl::concat::primitive_desc describe_concat(const dnnl::engine& engine, const dnnl::primitive_attr& attributes,
                                                    const dnnl::memory::desc& result, int axis,
                                                    const std::vector<dnnl::memory::desc>& sources) {
#if DNNL_VERSION_MAJOR >= 3
  return {engine, result, axis, sources, attributes};
#else
  return {result, axis, sources, engine, attributes};
#endif
}

/// The first implementation of an operation, and the way to the next.
template <class Forward>
struct Candidates {
#if DNNL_VERSION_MAJOR >= 3
  template <class... What>
  Candidates(const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const What&... what)
      : at(engine, what..., attributes, true) {}
#else
  template <class... What>
  Candidates(const dnnl::engine& engine, const dnnl::primitive_attr& attributes, const What&... what)
      : description(what...), at(description, attributes, engine, true) {}
  typename Forward::desc description;  ///< the library keeps a pointer to it
#endif
  typename Forward::primitive_desc at;
};

}  // namespace collage::onednn
