// Every row of the compiler's table of strategies, under each condition that selects it, computes what it should.
// A row without a case fails: the table below is where to add one.
#include <dlfcn.h>

#include <map>
#include <set>

#include "blas_call.h"
#include "compiler_interface.h"
#include "narrow_fixture.h"
#include "tests/support/long_run.h"
#include "tests/support/paths.h"

namespace collage::test {
namespace {

/// A region whose variants must include the implementation.
struct Case {
  std::string row;  ///< "family/implementation"
  std::string text;
};

// clang-format off
const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"elementwise/flat", "graph(%a: f32[2,8,5,3], %b: f32[8,1,1]) -> (%y) { %s: f32[2,8,5,3] = Add(%a, %b) %y: f32[2,8,5,3] = Relu(%s) }"},
      {"elementwise/flat", "graph(%a: i32[7], %b: i32[7]) -> (%y, %z) { %y: i32[7] = Mul(%a, %b) %z: bool[7] = Less(%y, %a) }"},
      {"elementwise/flat", "graph(%x: f32[2,5,3,4], %wps: f32[5], %wz: u8[5]) -> (%y) { constant %k = f32[]{77.7} %m: f32[2,5,3,4] = Mul(%x, %k) %y: u8[2,5,3,4] = QuantizeLinear(%m, %wps, %wz) {axis=1} }"},
      {"elementwise/flat", "graph(%x: f32[3,40], %ps: f32[]) -> (%y, %q) { constant %k = f32[]{300.0} constant %z = i8[]{-3} %m: f32[3,40] = Mul(%x, %k) %q: i8[3,40] = QuantizeLinear(%m, %ps, %z) %d: f32[3,40] = DequantizeLinear(%q, %ps, %z) %y: f32[3,40] = Sub(%d, %m) }"},
      {"elementwise/flat", "graph(%x: i32[2,5,7], %wps: f32[7], %a: f32[5,7]) -> (%y) { %d: f32[2,5,7] = DequantizeLinear(%x, %wps) {axis=-1} %y: f32[2,5,7] = Add(%d, %a) }"},
      {"convolution/winograd4", "graph(%x: f32[1,32,13,11], %w: f32[48,32,3,3], %wb: f32[48]) -> (%y) { %y: f32[1,48,13,11] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/winograd4", "graph(%x: f32[2,16,10,10], %w: f32[16,16,3,3]) -> (%y) { %y: f32[2,16,8,8] = Conv(%x, %w) {kernel_shape=[3,3]} }"},
      {"convolution/winograd4", "graph(%x: f32[1,32,11,66], %w: f32[48,32,3,3], %wb: f32[48]) -> (%y) { %y: f32[1,48,11,66] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/winograd4", "graph(%x: f32[1,128,9,8], %w: f32[96,128,3,3]) -> (%y) { %y: f32[1,96,9,8] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/winograd4", "graph(%x: f32[1,24,9,18], %w: f32[40,24,3,3], %wb: f32[40], %r: f32[1,40,9,18]) -> (%y) { %c: f32[1,40,9,18] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} %s: f32[1,40,9,18] = Add(%c, %r) %y: f32[1,40,9,18] = Relu(%s) }"},
      {"convolution/winograd2", "graph(%x: f32[1,40,7,6], %w: f32[24,40,3,3], %wb: f32[24]) -> (%y) { %y: f32[1,24,7,6] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/winograd2", "graph(%x: f32[2,32,5,6], %w: f32[32,32,3,3]) -> (%y) { %c: f32[2,32,5,6] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[2,32,5,6] = Relu(%c) }"},
      {"convolution/winograd4_planes", "graph(%x: f32[2,5,13,37], %w: f32[6,5,3,3], %wb: f32[6], %r: f32[2,6,13,37]) -> (%y) { %c: f32[2,6,13,37] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} %s: f32[2,6,13,37] = Add(%c, %r) %y: f32[2,6,13,37] = Relu(%s) }"},
      {"convolution/winograd4_planes", "graph(%x: f32[1,3,9,17,18], %w: f32[7,3,3,3,3], %wb: f32[7]) -> (%y) { %c: f32[1,7,9,17,18] = Conv(%x, %w, %wb) {dilations=[1,2,4], kernel_shape=[3,3,3], pads=[1,2,4,1,2,4]} %y: f32[1,7,9,17,18] = Relu(%c) }"},
      {"convolution/winograd4_planes", "graph(%x: f32[1,2,20,4,33], %w: f32[9,2,3,1,2]) -> (%y) { %y: f32[1,9,16,4,32] = Conv(%x, %w) {dilations=[2,1,1], kernel_shape=[3,1,2]} }"},
      {"convolution/winograd2_planes", "graph(%x: f32[1,16,6,7,20], %w: f32[32,16,3,3,3]) -> (%y) { %y: f32[1,32,4,6,20] = Conv(%x, %w) {kernel_shape=[3,3,3], pads=[0,0,1,0,1,1]} }"},
      {"convolution/winograd2_planes", "graph(%x: f32[1,4,2,8,9], %w: f32[3,4,1,3,3]) -> (%y) { %y: f32[1,3,2,8,9] = Conv(%x, %w) {dilations=[1,4,1], kernel_shape=[1,3,3], pads=[0,4,1,0,4,1]} }"},
      {"convolution/depthwise", "graph(%x: f32[1,20,9,9], %w: f32[20,1,3,3], %wb: f32[20]) -> (%y) { %y: f32[1,20,5,5] = Conv(%x, %w, %wb) {group=20, kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} }"},
      {"convolution/depthwise", "graph(%x: f32[2,32,11,13], %w: f32[32,1,7,5], %wb: f32[32]) -> (%y) { %c: f32[2,32,11,13] = Conv(%x, %w, %wb) {group=32, kernel_shape=[7,5], pads=[3,2,3,2]} %y: f32[2,32,11,13] = Relu(%c) }"},
      {"convolution/depthwise", "graph(%x: f32[1,16,5,9,9], %w: f32[16,1,3,3,3]) -> (%y) { %y: f32[1,16,3,4,4] = Conv(%x, %w) {dilations=[2,1,1], group=16, kernel_shape=[3,3,3], pads=[1,0,0,1,0,0], strides=[1,2,2]} }"},
      {"convolution/direct", "graph(%x: f32[1,5,9,8], %w: f32[7,5,3,2]) -> (%y) { %y: f32[1,7,9,7] = Conv(%x, %w) {kernel_shape=[3,2], pads=[1,0,1,0]} }"},
      {"convolution/direct", "graph(%x: f32[1,8,6,6], %w: f32[64,4,1,1]) -> (%y) { %y: f32[1,64,6,6] = Conv(%x, %w) {group=2, kernel_shape=[1,1]} }"},
      {"convolution/direct", "graph(%x: f32[1,16,3,1,1], %w: f32[33,16,1,1,1]) -> (%y) { %y: f32[1,33,3,1,1] = Conv(%x, %w) {kernel_shape=[1,1,1], strides=[1,2,2]} }"},
      {"convolution/direct", "graph(%x: f32[1,16,7,7], %w: f32[24,8,3,3]) -> (%y) { %y: f32[1,24,7,7] = Conv(%x, %w) {group=2, kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/direct", "graph(%x: f32[1,6,7,7], %v: f32[5,6,3,3]) -> (%y) { %y: f32[1,5,7,7] = Conv(%x, %v) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/across", "graph(%x: f32[1,20,9,9], %w: f32[60,1,3,3], %wb: f32[60]) -> (%y) { %c: f32[1,60,9,9] = Conv(%x, %w, %wb) {group=20, kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[1,60,9,9] = Relu(%c) }"},
      {"convolution/across", "graph(%x: f32[2,32,7,9], %w: f32[32,4,3,3], %b: f32[2,32,4,5]) -> (%y) { %c: f32[2,32,4,5] = Conv(%x, %w) {group=8, kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} %y: f32[2,32,4,5] = Add(%c, %b) }"},
      {"convolution/across", "graph(%x: f32[1,15,4,6,6], %w: f32[21,5,2,3,2]) -> (%y) { %y: f32[1,21,4,4,5] = Conv(%x, %w) {dilations=[2,1,1], group=3, kernel_shape=[2,3,2], pads=[1,0,0,1,0,0]} }"},
      {"convolution/across", "graph(%x: f32[1,6,8,8], %v: f32[6,1,3,3]) -> (%y) { %y: f32[1,6,6,6] = Conv(%x, %v) {group=6, kernel_shape=[3,3]} }"},
      {"convolution/planes", "graph(%x: f32[2,6,5,37], %w: f32[9,2,3,3], %wb: f32[9]) -> (%y) { %c: f32[2,9,5,37] = Conv(%x, %w, %wb) {group=3, kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[2,9,5,37] = Sigmoid(%c) }"},
      {"convolution/planes", "graph(%x: f32[1,3,70], %w: f32[14,3,5]) -> (%y) { %y: f32[1,14,35] = Conv(%x, %w) {kernel_shape=[5], pads=[2,2], strides=[2]} }"},
      {"convolution/planes", "graph(%x: f32[1,4,3,5,7], %w: f32[6,2,3,1,3]) -> (%y) { %y: f32[1,6,3,5,7] = Conv(%x, %w) {dilations=[1,1,2], group=2, kernel_shape=[3,1,3], pads=[1,0,2,1,0,2]} }"},
      {"convolution/planes", "graph(%x: f32[1,5,6,6], %v: f32[10,1,1,1], %b: f32[10]) -> (%y) { %y: f32[1,10,6,6] = Conv(%x, %v, %b) {group=5, kernel_shape=[1,1]} }"},
      {"product/packed", "graph(%a: f32[2,7,24], %w: f32[24,17]) -> (%y) { %y: f32[2,7,17] = MatMul(%a, %w) }"},
      {"product/packed", "graph(%a: f32[24,7], %w: f32[17,24], %wb: f32[17]) -> (%y) { %y: f32[7,17] = Gemm(%a, %w, %wb) {alpha=0.5, beta=2.0, transA=1, transB=1} }"},
      {"product/packed", "graph(%a: f32[7,24], %w: f32[24,17], %wps: f32[17], %wz: i8[17]) -> (%y) { constant %k = f32[]{20.0} %m: f32[7,17] = MatMul(%a, %w) %l: f32[7,17] = Mul(%m, %k) %y: i8[7,17] = QuantizeLinear(%l, %wps, %wz) {axis=1} }"},
      {"quantised_convolution/quads", "graph(%x: u8[1,8,9,7], %w: i8[20,8,3,3], %wps: f32[20], %wb: i32[20]) -> (%y) { constant %s = f32[]{0.05} constant %z = u8[]{3} constant %wz = i8[]{0} constant %t = f32[]{0.4} constant %o = u8[]{100} %y: u8[1,20,9,7] = QLinearConv(%x, %s, %z, %w, %wps, %wz, %t, %o, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"quantised_convolution/quads", "graph(%x: u8[2,6,9,7], %w: u8[17,6,3,2]) -> (%y) { constant %z = u8[]{5} constant %wz = u8[]{7} %y: i32[2,17,4,7] = ConvInteger(%x, %w, %z, %wz) {kernel_shape=[3,2], pads=[0,1,0,0], strides=[2,1]} }"},
      {"quantised_convolution/quads", "graph(%x: i8[1,32,5,6], %w: i8[64,32,1,1], %wps: f32[64], %wz: i8[64], %wb: i32[64], %r: f32[1,64,5,6]) -> (%y) { constant %s = f32[]{0.05} constant %z = i8[]{-2} constant %t = f32[]{0.035} %d: f32[1,32,5,6] = DequantizeLinear(%x, %s, %z) %e: f32[64,32,1,1] = DequantizeLinear(%w, %wps, %wz) {axis=0} %b: f32[64] = DequantizeLinear(%wb, %t) %c: f32[1,64,5,6] = Conv(%d, %e, %b) {kernel_shape=[1,1]} %y: f32[1,64,5,6] = Add(%c, %r) }"},
      {"quantised_convolution/quads", "graph(%x: u8[1,16,11,9], %w: i8[24,16,3,3], %wb: f32[24]) -> (%y) { constant %s = f32[]{0.05} constant %z = u8[]{0} constant %wz = i8[]{0} constant %t = f32[]{0.6} constant %o = f32[]{0.3} %d: f32[1,16,11,9] = DequantizeLinear(%x, %s, %z) %e: f32[24,16,3,3] = DequantizeLinear(%w, %t, %wz) %c: f32[1,24,11,9] = Conv(%d, %e, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} %l: f32[1,24,11,9] = Relu(%c) %y: u8[1,24,11,9] = QuantizeLinear(%l, %o, %z) }"},
      {"quantised_convolution/scaled", "graph(%x: f32[1,8,11,9], %w: i8[24,8,3,3], %wps: f32[24], %wb: i32[24]) -> (%y) { constant %t = f32[]{0.6} %e: f32[24,8,3,3] = DequantizeLinear(%w, %wps) {axis=0} %b: f32[24] = DequantizeLinear(%wb, %t) %c: f32[1,24,11,9] = Conv(%x, %e, %b) {kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[1,24,11,9] = Relu(%c) }"},
      {"quantised_convolution/depthwise_bytes", "graph(%x: f32[1,20,9,9], %w: i8[20,1,3,3]) -> (%y) { constant %t = f32[]{0.6} %e: f32[20,1,3,3] = DequantizeLinear(%w, %t) %y: f32[1,20,7,7] = Conv(%x, %e) {group=20, kernel_shape=[3,3]} }"},
      {"quantised_product/scaled", "graph(%a: f32[2,5,30], %w: u8[30,40]) -> (%y) { constant %t = f32[]{0.6} %e: f32[30,40] = DequantizeLinear(%w, %t) %y: f32[2,5,40] = MatMul(%a, %e) }"},
      {"quantised_convolution/depthwise_bytes", "graph(%x: u8[1,20,9,9], %w: i8[20,1,3,3], %wps: f32[20], %wb: i32[20]) -> (%y) { constant %s = f32[]{0.05} constant %z = u8[]{4} constant %wz = i8[]{0} constant %t = f32[]{0.3} constant %o = u8[]{90} %y: u8[1,20,5,5] = QLinearConv(%x, %s, %z, %w, %wps, %wz, %t, %o, %wb) {group=20, kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} }"},
      {"quantised_convolution/depthwise_bytes", "graph(%x: u8[1,32,9,9], %w: i8[32,1,5,5], %wps: f32[32], %wb: i32[32]) -> (%y) { constant %s = f32[]{0.05} constant %z = u8[]{4} constant %wz = i8[]{0} constant %t = f32[]{0.3} constant %o = u8[]{90} %y: u8[1,32,5,5] = QLinearConv(%x, %s, %z, %w, %wps, %wz, %t, %o, %wb) {group=32, kernel_shape=[5,5], pads=[2,2,2,2], strides=[2,2]} }"},
      {"quantised_product/quads", "graph(%a: u8[2,7,24], %w: u8[24,17], %z: u8[], %wz: u8[17]) -> (%y) { %y: i32[2,7,17] = MatMulInteger(%a, %w, %z, %wz) }"},
      {"quantised_product/quads", "graph(%a: i8[5,30], %w: i8[30,40], %wps: f32[40], %wz: i8[40]) -> (%y) { constant %s = f32[]{0.05} constant %z = i8[]{3} constant %t = f32[]{0.3} constant %o = i8[]{-7} %y: i8[5,40] = QLinearMatMul(%a, %s, %z, %w, %wps, %wz, %t, %o) }"},
      {"quantised_product/quads", "graph(%a: u8[24,7], %w: i8[17,24], %wps: f32[17], %wz: i8[17], %wb: f32[17]) -> (%y) { constant %s = f32[]{0.05} constant %z = u8[]{3} %d: f32[24,7] = DequantizeLinear(%a, %s, %z) %e: f32[17,24] = DequantizeLinear(%w, %wps, %wz) {axis=0} %g: f32[7,17] = Gemm(%d, %e, %wb) {alpha=0.5, beta=2.0, transA=1, transB=1} %y: f32[7,17] = Sigmoid(%g) }"},
      {"convolution/pairs", "graph(%x: f32[2,24,9,7], %w: f32[33,24,1,1], %wb: f32[33], %r: f32[2,33,9,7]) -> (%y) { %c: f32[2,33,9,7] = Conv(%x, %w, %wb) {kernel_shape=[1,1]} %s: f32[2,33,9,7] = Add(%c, %r) %y: f32[2,33,9,7] = Relu(%s) }"},
      {"convolution/pairs", "graph(%x: f32[1,16,11,9], %w: f32[24,16,3,3], %wb: f32[24]) -> (%y) { %y: f32[1,24,11,9] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/pairs", "graph(%x: f32[1,3,19,17], %w: f32[20,3,3,3]) -> (%y) { %y: f32[1,20,10,9] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} }"},
      {"product/pairs", "graph(%a: f32[2,7,24], %w: f32[24,17]) -> (%y) { %m: f32[2,7,17] = MatMul(%a, %w) %y: f32[2,7,17] = Sigmoid(%m) }"},
      {"product/pairs", "graph(%a: f32[25,7], %w: f32[17,25], %wb: f32[17]) -> (%y) { %y: f32[7,17] = Gemm(%a, %w, %wb) {alpha=0.5, beta=2.0, transA=1, transB=1} }"},
      {"product/pairs", "graph(%a: f32[9,25], %w: f32[25,40]) -> (%y) { %y: f32[9,40] = MatMul(%a, %w) }"},
      {"convolution/direct+i16", "graph(%x: f32[2,24,9,7], %w: f32[33,24,1,1], %wb: f32[33], %r: f32[2,33,9,7]) -> (%y) { %c: f32[2,33,9,7] = Conv(%x, %w, %wb) {kernel_shape=[1,1]} %s: f32[2,33,9,7] = Add(%c, %r) %y: f32[2,33,9,7] = Relu(%s) }"},
      {"convolution/direct+i16", "graph(%x: f32[1,16,11,9], %w: f32[24,16,3,3], %wb: f32[24]) -> (%y) { %y: f32[1,24,11,9] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/direct+i16", "graph(%x: f32[2,64,19,17], %w: f32[20,64,3,3]) -> (%y) { %y: f32[2,20,10,9] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} }"},
      {"convolution/direct+i16", "graph(%x: f32[1,24,33,33], %w: f32[16,24,2,2], %b: f32[16]) -> (%y) { %c: f32[1,16,32,32] = Conv(%x, %w, %b) {kernel_shape=[2,2]} %y: f32[1,16,32,32] = Relu(%c) }"},
      {"convolution/direct+i16", "graph(%x: f32[2,12,7,12], %w: f32[20,12,3,3]) -> (%y) { %y: f32[2,20,3,5] = Conv(%x, %w) {kernel_shape=[3,3], strides=[2,2]} }"},
      {"convolution/direct+i16", "graph(%x: f32[1,8,4,9,7], %w: f32[16,8,2,1,3]) -> (%y) { %y: f32[1,16,3,9,5] = Conv(%x, %w) {kernel_shape=[2,1,3]} }"},
      {"convolution/direct+i16", "graph(%x: f32[1,48,40,41], %w: f32[16,48,1,1]) -> (%y) { %y: f32[1,16,20,21] = Conv(%x, %w) {kernel_shape=[1,1], strides=[2,2]} }"},
      {"convolution/winograd4+i16", "graph(%x: f32[1,32,13,11], %w: f32[48,32,3,3], %wb: f32[48]) -> (%y) { %y: f32[1,48,13,11] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} }"},
      {"convolution/winograd4+i16", "graph(%x: f32[1,128,9,8], %w: f32[96,128,3,3]) -> (%y) { %c: f32[1,96,9,8] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[1,96,9,8] = Relu(%c) }"},
      {"convolution/winograd4+i16", "graph(%x: f32[1,24,13,11], %w: f32[40,24,3,3], %wb: f32[40]) -> (%y) { %c: f32[1,40,13,11] = Conv(%x, %w, %wb) {kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[1,40,13,11] = Relu(%c) }"},
      {"convolution/winograd2+i16", "graph(%x: f32[2,32,5,6], %w: f32[32,32,3,3]) -> (%y) { %c: f32[2,32,5,6] = Conv(%x, %w) {kernel_shape=[3,3], pads=[1,1,1,1]} %y: f32[2,32,5,6] = Relu(%c) }"},
      {"convolution/winograd2+i16", "graph(%x: f32[1,176,8,20], %w: f32[16,176,3,3]) -> (%y) { %y: f32[1,16,6,18] = Conv(%x, %w) {kernel_shape=[3,3]} }"},
      {"product/packed+i16", "graph(%a: f32[2,7,24], %w: f32[24,17]) -> (%y) { %m: f32[2,7,17] = MatMul(%a, %w) %y: f32[2,7,17] = Sigmoid(%m) }"},
      {"product/packed+i16", "graph(%a: f32[24,7], %w: f32[17,24], %wb: f32[17]) -> (%y) { %y: f32[7,17] = Gemm(%a, %w, %wb) {alpha=0.5, beta=2.0, transA=1, transB=1} }"},
      {"product/packed+i16", "graph(%a: f32[7,24], %w: f32[24,40]) -> (%y) { %m: f32[7,40] = MatMul(%a, %w) %y: f32[7,40] = Gelu(%m) }"},
      {"product/packed+i16", "graph(%a: f32[7,24], %w: f32[24,40]) -> (%y) { %m: f32[7,40] = MatMul(%a, %w) %y: f32[7,40] = Erf(%m) }"},
      {"product/packed+i16", "graph(%a: f32[701,24], %w: f32[24,40]) -> (%y) { %y: f32[701,40] = MatMul(%a, %w) }"},
      {"product/packed+i16", "graph(%a: f32[3,1304], %w: f32[1304,40]) -> (%y) { %y: f32[3,40] = MatMul(%a, %w) }"},
      {"product/bf16_weights", "graph(%a: f32[3,31], %w: f32[31,50], %wb: f32[50]) -> (%y) { %m: f32[3,50] = MatMul(%a, %w) %y: f32[3,50] = Add(%m, %wb) }"},
      {"product/f16_weights", "graph(%a: f32[3,31], %w: f32[31,50], %wb: f32[50]) -> (%y) { %m: f32[3,50] = MatMul(%a, %w) %y: f32[3,50] = Add(%m, %wb) }"},
      {"batch_product/batched", "graph(%a: f32[2,3,7,24], %b: f32[2,3,24,17]) -> (%y) { %y: f32[2,3,7,17] = MatMul(%a, %b) }"},
      {"convolution/sgemm", "graph(%x: f32[2,24,9,7], %w: f32[33,24,1,1], %wb: f32[33], %r: f32[2,33,9,7]) -> (%y) { %c: f32[2,33,9,7] = Conv(%x, %w, %wb) {kernel_shape=[1,1]} %s: f32[2,33,9,7] = Add(%c, %r) %y: f32[2,33,9,7] = Relu(%s) }"},
      {"product/sgemm", "graph(%a: f32[2,210,24], %w: f32[24,17], %wb: f32[17]) -> (%y) { %m: f32[2,210,17] = MatMul(%a, %w) %s: f32[2,210,17] = Add(%m, %wb) %y: f32[2,210,17] = Sigmoid(%s) }"},
      {"product/sgemm", "graph(%a: f32[24,9], %w: f32[17,24], %wb: f32[17]) -> (%y) { %y: f32[9,17] = Gemm(%a, %w, %wb) {alpha=0.5, beta=2.0, transA=1, transB=1} }"},
      {"product/sgemm", "graph(%a: f32[9,24], %w: f32[24,5]) -> (%y) { %y: f32[9,5] = MatMul(%a, %w) }"},
      {"convolution/xsmm", "graph(%x: f32[2,24,9,7], %w: f32[33,24,1,1], %wb: f32[33], %r: f32[2,33,9,7]) -> (%y) { %c: f32[2,33,9,7] = Conv(%x, %w, %wb) {kernel_shape=[1,1]} %s: f32[2,33,9,7] = Add(%c, %r) %y: f32[2,33,9,7] = Relu(%s) }"},
      {"product/xsmm", "graph(%a: f32[2,210,24], %w: f32[24,170], %wb: f32[170]) -> (%y) { %m: f32[2,210,170] = MatMul(%a, %w) %s: f32[2,210,170] = Add(%m, %wb) %y: f32[2,210,170] = Sigmoid(%s) }"},
      {"product/xsmm", "graph(%a: f32[9,24], %w: f32[17,24], %wb: f32[17]) -> (%y) { %y: f32[9,17] = Gemm(%a, %w, %wb) {alpha=0.5, beta=2.0, transB=1} }"},
      {"product/xsmm", "graph(%a: f32[9,24], %w: f32[24,5]) -> (%y) { %y: f32[9,5] = MatMul(%a, %w) }"},
      {"batch_product/xsmm", "graph(%a: f32[2,3,70,24], %b: f32[3,24,81], %r: f32[2,1,70,81]) -> (%y) { %m: f32[2,3,70,81] = MatMul(%a, %b) %y: f32[2,3,70,81] = Add(%m, %r) }"},
      {"batch_product/xsmm", "graph(%a: f32[3,7,24], %b: f32[24,11]) -> (%y) { %y: f32[3,7,11] = MatMul(%a, %b) }"},
      {"batch_product/xsmm", "graph(%a: f32[3,7,24], %w: f32[3,24,20]) -> (%y) { %y: f32[3,7,20] = MatMul(%a, %w) }"},
      {"batch_product/sgemm", "graph(%a: f32[2,3,70,24], %b: f32[3,24,17], %r: f32[2,1,70,17]) -> (%y) { %m: f32[2,3,70,17] = MatMul(%a, %b) %y: f32[2,3,70,17] = Add(%m, %r) }"},
      {"movement/gathered", "graph(%a: f32[2,6,5]) -> (%y) { %t: f32[5,2,6] = Transpose(%a) {perm=[2,0,1]} %y: f32[5,2,6] = Relu(%t) }"},
      {"movement/gathered", "graph(%a: i8[2,6,5], %wps: f32[6], %wz: i8[6]) -> (%y) { %d: f32[2,6,5] = DequantizeLinear(%a, %wps, %wz) {axis=1} %y: f32[5,2,6] = Transpose(%d) {perm=[2,0,1]} }"},
      {"movement/gathered", "graph(%a: f32[2,3,4,4], %b: f32[2,5,4,4]) -> (%y) { %y: f32[2,8,4,4] = Concat(%a, %b) {axis=1} }"},
      {"pooling/windows", "graph(%x: f32[1,20,9,9]) -> (%y) { %y: f32[1,20,5,5] = MaxPool(%x) {kernel_shape=[3,3], pads=[1,1,1,1], strides=[2,2]} }"},
      {"pooling/windows", "graph(%x: f32[1,20,9,9]) -> (%y) { %y: f32[1,20,9,9] = AveragePool(%x) {kernel_shape=[5,5], pads=[2,2,2,2]} }"},
      {"rows/rows", "graph(%x: f32[3,7,19]) -> (%y) { %y: f32[3,7,19] = Softmax(%x) {axis=-1} }"},
      {"rows/rows", "graph(%x: f32[2,9,197]) -> (%y) { %y: f32[2,9,197] = Softmax(%x) {axis=-1} }"},
      {"rows/rows", "graph(%x: f32[3,7,19], %w: f32[19], %wb: f32[19]) -> (%y) { %y: f32[3,7,19] = LayerNormalization(%x, %w, %wb) {axis=-1} }"},
      {"rows/rows", "graph(%x: f32[5,1,6,3]) -> (%y) { constant %axes = i64[1]{3} %y: f32[5,1,6] = ReduceMax(%x, %axes) {keepdims=0} }"},
      {"rows/automatic_rows", "graph(%x: f32[3,70,19], %b: f32[3,70,19]) -> (%y) { %s: f32[3,70,19] = Add(%x, %b) %y: f32[3,70,19] = Softmax(%s) {axis=1} }"},
      {"rows/automatic_rows", "graph(%x: f32[6,64,40]) -> (%y) { constant %axes = i64[1]{-1} %y: f32[6,64,1] = ReduceMean(%x, %axes) }"},
      {"rows/automatic_rows", "graph(%x: f32[9,27], %b: f32[9,27], %c: bool[9]) -> (%y) { constant %axes = i64[1]{1} %s: f32[9,27] = Mul(%x, %b) %m: f32[9] = ReduceMean(%s, %axes) {keepdims=0} %y: f32[9] = Where(%c, %m, %m) }"},
      {"rows/automatic_strips", "graph(%x: f32[2,20,30,25], %w: f32[20], %b: f32[20]) -> (%y) { %n: f32[2,20,30,25] = InstanceNormalization(%x, %w, %b) %y: f32[2,20,30,25] = Relu(%n) }"},
      {"rows/strips", "graph(%x: f32[2,20,6,5]) -> (%y) { %y: f32[2,20,1,1] = GlobalAveragePool(%x) }"},
      {"rows/strips", "graph(%x: f32[2,20,6,5]) -> (%y) { %y: f32[2,20,6,5] = Softmax(%x) {axis=1} }"},
      {"separable/sliding", "graph(%x: f32[1,24,14,14], %wa: f32[72,24,1,1], %wb: f32[72], %wc: f32[72,1,3,3], %wd: f32[24,72,1,1], %we: f32[24]) -> (%y) { %a: f32[1,72,14,14] = Conv(%x, %wa, %wb) {kernel_shape=[1,1]} %b: f32[1,72,14,14] = Relu(%a) %c: f32[1,72,14,14] = Conv(%b, %wc) {group=72, kernel_shape=[3,3], pads=[1,1,1,1]} %d: f32[1,72,14,14] = HardSwish(%c) %e: f32[1,24,14,14] = Conv(%d, %wd, %we) {kernel_shape=[1,1]} %y: f32[1,24,14,14] = Add(%x, %e) }"},
      {"separable/sliding", "graph(%x: f32[2,16,13,11], %wa: f32[40,16,1,1], %wc: f32[40,1,5,3]) -> (%y) { %a: f32[2,40,13,11] = Conv(%x, %wa) {kernel_shape=[1,1]} %b: f32[2,40,13,11] = Sigmoid(%a) %c: f32[2,40,6,6] = Conv(%b, %wc) {group=40, kernel_shape=[5,3], pads=[1,1,1,1], strides=[2,2], dilations=[1,1]} %y: f32[2,40,6,6] = Relu(%c) }"},
      {"separable/sliding", "graph(%x: f32[1,20,9,8], %wc: f32[20,1,3,3], %wb: f32[20], %wd: f32[33,20,1,1]) -> (%y) { %c: f32[1,20,9,8] = Conv(%x, %wc, %wb) {group=20, kernel_shape=[3,3], pads=[2,2,2,2], dilations=[2,2]} %d: f32[1,20,9,8] = Relu(%c) %y: f32[1,33,9,8] = Conv(%d, %wd) {kernel_shape=[1,1]} }"},
      {"separable/sliding", "graph(%x: f32[1,16,17,14], %wa: f32[24,16,1,1], %wc: f32[24,1,2,2]) -> (%y) { %a: f32[1,24,17,14] = Conv(%x, %wa) {kernel_shape=[1,1]} %y: f32[1,24,6,5] = Conv(%a, %wc) {group=24, kernel_shape=[2,2], strides=[3,3]} }"},
      {"staged/staged", "graph(%a: f32[1,16,7,9], %b: f32[1,32,7,9], %ws: f32[48,1,1], %wt: f32[48,1,1], %w: f32[40,48,1,1], %wb: f32[40]) -> (%y) { %c: f32[1,48,7,9] = Concat(%a, %b) {axis=1} %m: f32[1,48,7,9] = Mul(%c, %ws) %t: f32[1,48,7,9] = Add(%m, %wt) %r: f32[1,48,7,9] = Relu(%t) %k: f32[1,40,7,9] = Conv(%r, %w, %wb) {kernel_shape=[1,1]} %y: f32[1,40,7,9] = Relu(%k) }"},
      {"staged/staged", "graph(%x: f32[2,5,6,8], %w: f32[24,20,1,1]) -> (%y) { %s: f32[2,20,3,4] = SpaceToDepth(%x) {blocksize=2} %y: f32[2,24,3,4] = Conv(%s, %w) {kernel_shape=[1,1]} }"},
      {"staged/staged_rows", "graph(%x: f32[2,3,35,16], %w: f32[48,40], %wb: f32[40]) -> (%y) { constant %shape = i64[3]{2,35,48} %t: f32[2,35,3,16] = Transpose(%x) {perm=[0,2,1,3]} %r: f32[2,35,48] = Reshape(%t, %shape) %m: f32[2,35,40] = MatMul(%r, %w) %y: f32[2,35,40] = Add(%m, %wb) }"},
      {"staged/staged_rows", "graph(%x: f32[20,9], %w: f32[17,20], %wb: f32[17]) -> (%y) { %r: f32[20,9] = Relu(%x) %y: f32[9,17] = Gemm(%r, %w, %wb) {transA=1, transB=1} }"},
      {"transposed_convolution/phases", "graph(%x: f32[1,20,5,6], %w: f32[20,24,3,3], %wb: f32[24]) -> (%y) { %c: f32[1,24,10,12] = ConvTranspose(%x, %w, %wb) {kernel_shape=[3,3], output_padding=[1,1], pads=[1,1,1,1], strides=[2,2]} %y: f32[1,24,10,12] = Relu(%c) }"},
      {"transposed_convolution/phases", "graph(%x: f32[2,12,7,5], %w: f32[12,6,4,5]) -> (%y) { %y: f32[2,12,21,18] = ConvTranspose(%x, %w) {dilations=[2,3], group=2, kernel_shape=[4,5], strides=[3,2], pads=[2,1,2,2]} }"},
      {"transposed_convolution/phases", "graph(%x: f32[1,16,9], %w: f32[16,1,4]) -> (%y) { %y: f32[1,16,18] = ConvTranspose(%x, %w) {group=16, kernel_shape=[4], strides=[2], pads=[1,1]} }"},
      {"transposed_convolution/phases", "graph(%x: f32[1,7,3,4,5], %w: f32[7,33,2,2,2]) -> (%y) { %y: f32[1,33,6,8,10] = ConvTranspose(%x, %w) {kernel_shape=[2,2,2], strides=[2,2,2]} }"},
      {"local_response/response_planes", "graph(%x: f32[2,7,5,9]) -> (%y) { %n: f32[2,7,5,9] = LRN(%x) {alpha=0.5, beta=0.75, bias=1.5, size=5} %y: f32[2,7,5,9] = Relu(%n) }"},
      {"local_response/response_planes", "graph(%x: f32[1,8,1,3]) -> (%y) { %y: f32[1,8,1,3] = LRN(%x) {alpha=0.5, beta=0.6, size=7} }"},
      {"local_response/response_pixels", "graph(%x: f32[1,37,3,4]) -> (%y) { %y: f32[1,37,3,4] = LRN(%x) {alpha=0.5, beta=0.5, size=3} }"},
      {"local_response/response_pixels", "graph(%x: f32[2,32,2,3]) -> (%y) { %y: f32[2,32,2,3] = LRN(%x) {alpha=0.9, beta=1.0, size=7} }"},
      {"group_norm/groups", "graph(%x: f32[2,6,5,7], %w: f32[6], %wb: f32[6]) -> (%y) { %n: f32[2,6,5,7] = GroupNormalization(%x, %w, %wb) {epsilon=0.01, num_groups=2} %g: f32[2,6,5,7] = Sigmoid(%n) %y: f32[2,6,5,7] = Mul(%n, %g) }"},
      {"group_norm/groups", "graph(%x: f32[1,4,70], %w: f32[4], %b: f32[4]) -> (%y) { %y: f32[1,4,70] = GroupNormalization(%x, %w, %b) {num_groups=1} }"},
      {"group_norm/group_runs", "graph(%x: f32[1,64,4,5], %w: f32[64], %wb: f32[64]) -> (%y) { %y: f32[1,64,4,5] = GroupNormalization(%x, %w, %wb) {num_groups=16} }"},
      {"group_norm/group_runs", "graph(%x: f32[2,20,3,3], %w: f32[20], %wb: f32[20], %r: f32[2,20,3,3]) -> (%y) { %n: f32[2,20,3,3] = GroupNormalization(%x, %w, %wb) {num_groups=4} %y: f32[2,20,3,3] = Add(%n, %r) }"},
      {"group_norm/groups", "graph(%x: f32[2,6,5,7], %w: f32[6,1,1], %wb: f32[1,6,1,1]) -> (%y) { constant %in = i64[3]{0,2,-1} constant %out = i64[4]{2,6,5,7} constant %one = f32[2]{1.0,1.0} constant %zero = f32[2]{0.0,0.0} %r: f32[2,2,105] = Reshape(%x, %in) %i: f32[2,2,105] = InstanceNormalization(%r, %one, %zero) {epsilon=0.001} %n: f32[2,6,5,7] = Reshape(%i, %out) %s: f32[2,6,5,7] = Mul(%n, %w) %b: f32[2,6,5,7] = Add(%s, %wb) %g: f32[2,6,5,7] = Sigmoid(%b) %y: f32[2,6,5,7] = Mul(%b, %g) }"},
      {"dynamic_quantiser/dynamic", "graph(%x: f32[2,5,7,9]) -> (%y, %s, %z) { %y: u8[2,5,7,9], %s: f32[], %z: u8[] = DynamicQuantizeLinear(%x) }"},
      {"dynamic_quantiser/dynamic", "graph(%px: f32[4,33]) -> (%y, %s, %z) { %y: u8[4,33], %s: f32[], %z: u8[] = DynamicQuantizeLinear(%px) }"},
      {"dynamic_quantiser/dynamic", "graph(%zeros: f32[70]) -> (%y, %s, %z) { %y: u8[70], %s: f32[], %z: u8[] = DynamicQuantizeLinear(%zeros) }"},
      {"dynamic_quantiser/dynamic", "graph(%x: f32[3]) -> (%s, %z) { %y: u8[3], %s: f32[], %z: u8[] = DynamicQuantizeLinear(%x) }"},
      {"attention/blocks_of_rows", "graph(%q: f32[1,2,37,20], %k: f32[1,2,20,41], %v: f32[1,2,41,24]) -> (%y) { constant %c = f32[]{0.3} %s: f32[1,2,37,41] = MatMul(%q, %k) %t: f32[1,2,37,41] = Mul(%s, %c) %p: f32[1,2,37,41] = Softmax(%t) {axis=-1} %y: f32[1,2,37,24] = MatMul(%p, %v) }"},
      {"attention/blocks_of_rows", "graph(%q: f32[1,3,16,5], %k: f32[1,3,5,16], %v: f32[1,3,16,5], %m: bool[1,1,16,16], %r: f32[1,3,16,5]) -> (%y) { constant %c = f32[]{0.25} constant %low = f32[]{-10.0} constant %back = i64[4]{1,3,16,16} %s: f32[1,3,16,16] = MatMul(%q, %k) %t: f32[1,3,16,16] = Mul(%s, %c) %u: f32[1,3,16,16] = Where(%m, %low, %t) %f: f32[48,16] = Flatten(%u) {axis=3} %p: f32[48,16] = Softmax(%f) {axis=1} %g: f32[1,3,16,16] = Reshape(%p, %back) %o: f32[1,3,16,5] = MatMul(%g, %v) %y: f32[1,3,16,5] = Add(%o, %r) }"},
      {"attention/blocks_of_rows", "graph(%q: f32[2,9,3,8], %k: f32[2,11,24], %v: f32[2,3,11,18], %m: f32[2,1,1,11]) -> (%y) { constant %c = f32[]{2.5} constant %split = i64[4]{2,11,3,8} constant %join = i64[3]{2,9,54} %qt: f32[2,3,9,8] = Transpose(%q) {perm=[0,2,1,3]} %ks: f32[2,11,3,8] = Reshape(%k, %split) %kt: f32[2,3,8,11] = Transpose(%ks) {perm=[0,2,3,1]} %s: f32[2,3,9,11] = MatMul(%qt, %kt) %d: f32[2,3,9,11] = Div(%s, %c) %a: f32[2,3,9,11] = Add(%d, %m) %p: f32[2,3,9,11] = Softmax(%a) %o: f32[2,3,9,18] = MatMul(%p, %v) %t: f32[2,9,3,18] = Transpose(%o) {perm=[0,2,1,3]} %y: f32[2,9,54] = Reshape(%t, %join) }"},
      {"attention/blocks_of_rows", "graph(%q: f32[50,16], %k: f32[16,70], %v: f32[70,64]) -> (%y) { constant %zero = f32[]{0.0} %s: f32[50,70] = MatMul(%q, %k) %p: f32[50,70] = Softmax(%s) %n: bool[50,70] = IsNaN(%p) %z: f32[50,70] = Where(%n, %zero, %p) %y: f32[50,64] = MatMul(%z, %v) }"},
  };
  return all;
}
// clang-format on

/// Each row in its own variants again with two threads and on the lesser instruction set; in all variants in a long
/// campaign.
bool is_sampled(const std::string& variant, const std::string& implementation) {
  return by_length(variant.starts_with(implementation), true);
}

void expect_right_again(const std::string& text, const std::string& implementation, const CompileOptions& options,
                        const std::string& instance) {
  const Graph graph = graph_of(text);
  const std::vector<Tensor> expected = expected_of(graph);
  std::size_t run = 0;
  for (const Variant& variant : variants_of(compiling(instance), graph, options)) {
    if (!is_sampled(variant.name, implementation)) continue;
    SCOPED_TRACE(instance + ' ' + variant.name + ", " + std::to_string(options.threads) + " threads\n" + text);
    EXPECT_EQ(problem_of(graph, expected, variant, options, instance), "");
    ++run;
  }
  EXPECT_GT(run, 0U) << instance << " offers no variant of " << implementation;
}

/// The compiler, opened beside the module as the module does.
const native::CompilerTable& table() {
  static const native::CompilerTable* const opened = [] {
    void* handle =
        ::dlopen(test::build_path("/lib/collage/libcollage_native_compiler.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    COLLAGE_CHECK(handle != nullptr, ::dlerror());
    return reinterpret_cast<native::CompilerEntry>(::dlsym(handle, native::kCompilerSymbol))();
  }();
  return *opened;
}

std::string row_of(const StrategyLine& line) { return line.family + '/' + line.implementation; }

TEST(Strategies, HaveACaseForEachRow) {
  std::set<std::string> known;
  for (const Case& one : cases()) known.insert(one.row);
  for (const StrategyLine& line : table().strategies(nullptr))
    EXPECT_TRUE(known.contains(row_of(line))) << row_of(line) << ", when " << line.condition << ": add a case";
}

TEST(Strategies, HaveRowsWithNamesOfTheirOwn) {
  std::map<std::string, int> count;
  for (const StrategyLine& line : table().strategies(nullptr)) {
    EXPECT_FALSE(line.condition.empty()) << row_of(line);
    EXPECT_EQ(line.implementation.find_first_of("./"), std::string::npos) << "variants are named by it";
    EXPECT_EQ(++count[row_of(line)], 1) << row_of(line);
  }
  EXPECT_THAT(std::string(table().version), testing::HasSubstr("Halide"));
}

/// Rows that only accuracy class fast has.
bool is_narrow_row(std::string_view row) {
  return row.ends_with("/pairs") || row.ends_with("+i16") || row.ends_with("/bf16_weights") ||
         row.ends_with("/f16_weights");
}
/// Those of one type of 16 bits.
bool is_row_of(std::string_view row, ElementType element) {
  return row.ends_with("/f16_weights") == (element == ElementType::kFloat16);
}

bool has_blas() {
  for (const std::string& name : blas::library_names())
    if (native::blas_library(name)) return true;
  return false;
}

class Strategy : public testing::TestWithParam<std::size_t> {};

TEST_P(Strategy, IsOfferedAndRightInEveryVariant) {
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  const Case& one = cases()[GetParam()];
  if (one.row.ends_with("/sgemm") && !has_blas()) GTEST_SKIP() << "no BLAS library here";
  if (one.row.ends_with("/xsmm") && !COLLAGE_HAS_XSMM) GTEST_SKIP() << "built without libxsmm";
  if (is_narrow_row(one.row)) GTEST_SKIP() << "in accuracy class fast alone";
  const std::string implementation = one.row.substr(one.row.find('/') + 1) + '.';
  EXPECT_THAT(expect_right(one.text), testing::Contains(testing::StartsWith(implementation))) << one.text;
  expect_right_again(one.text, implementation, {}, "native:isa=avx2");
  expect_right_again(one.text, implementation, {.threads = 2}, "native");
}

TEST_P(Strategy, IsRightWithNarrowNumbersWhereItMayHaveThem) {
  if (!has_reference()) GTEST_SKIP() << "no reference here";
  const Case& one = cases()[GetParam()];
  for (const ElementType element : kNarrowElements) {
    const auto names = expect_right_narrow(one.text, element, one.row.substr(one.row.find('/') + 1) + '.');
    EXPECT_EQ(names.empty() && is_narrow_row(one.row), is_narrow_row(one.row) && !is_row_of(one.row, element))
        << one.text;
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, Strategy, testing::Range(std::size_t{0}, cases().size()),
                         [](const testing::TestParamInfo<std::size_t>& which) {
                           std::string name = cases()[which.param].row + std::to_string(which.param);
                           std::ranges::replace_if(
                               name, [](char c) { return c == '/' || c == '+'; }, '_');
                           return name;
                         });

}  // namespace
}  // namespace collage::test
