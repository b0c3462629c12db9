#include "region/containment.h"

#include <gtest/gtest.h>

#include <fmt/format.h>

namespace collage {
namespace {

/// "c = a@0 b@512", "none"; the node called "it", and '*' at the end when nothing would have to be copied.
std::string parts(const std::string& inputs, const std::string& outputs, const std::string& lines,
                  const Format& format = plain()) {
  const auto graph =
      parse_graph("graph g(" + inputs + ") -> (" + outputs + ") {\n  opset ai.onnx 26\n" + lines + "}\n");
  EXPECT_TRUE(graph) << to_string(graph.error());
  for (const Node& node : graph->nodes) {
    if (node.name != "it") continue;
    const auto containment = containment_of(*graph, node, format);
    if (!containment) return "none";
    std::string text = graph->value(containment->whole).name + " =";
    for (const ContainedPart& part : containment->parts)
      text += fmt::format(" {}@{}", graph->value(part.value).name, part.offset);
    return text + (can_lie_in_place(*graph, node, *containment) ? " *" : "");
  }
  return "no node";
}

std::string concat(const std::string& a, const std::string& b, const std::string& c, int axis,
                   const Format& format = plain()) {
  return parts("%x: f32[" + a + "], %y: f32[" + b + "]", "%z",
               "  %a: f32[" + a + "] = Relu(%x) \"a\"\n  %b: f32[" + b + "] = Relu(%y) \"b\"\n  %c: f32[" + c +
                   "] = Concat(%a, %b) {axis=" + std::to_string(axis) + "} \"it\"\n  %z: f32[" + c +
                   "] = Relu(%c) \"z\"\n",
               format);
}

TEST(Containment, OfPartsAlongTheOutermostAxisThatHasAnExtent) {
  EXPECT_EQ(concat("1,8,4,4", "1,3,4,4", "1,11,4,4", 1), "c = a@0 b@512 *");
  EXPECT_EQ(concat("1,8,4,4", "1,3,4,4", "1,11,4,4", -3), "c = a@0 b@512 *");
  EXPECT_EQ(concat("2,3,4,4", "5,3,4,4", "7,3,4,4", 0), "c = a@0 b@384 *");
  EXPECT_EQ(concat("1,16", "1,1", "1,17", 1), "c = a@0 b@64 *");
  EXPECT_EQ(concat("1,1,1,16", "1,1,1,4", "1,1,1,20", 3), "c = a@0 b@64 *");
  EXPECT_EQ(concat("16", "4", "20", 0), "c = a@0 b@64 *");
}

TEST(Containment, DependsOnTheFormat) {
  EXPECT_EQ(concat("1,16,4,4", "1,16,4,4", "1,32,4,4", 1, channels_last()), "none");
  EXPECT_EQ(concat("1,16,1,1", "1,16,1,1", "1,32,1,1", 1, channels_last()), "c = a@0 b@64 *");
  EXPECT_EQ(concat("1,3,4,4", "1,3,2,4", "1,3,6,4", 2), "none");
  EXPECT_EQ(concat("1,4,4,4", "1,4,2,4", "1,4,6,4", 2, channels_last()), "c = a@0 b@256 *");
  EXPECT_EQ(concat("1,16", "1,16", "1,32", 1, channels_last()), "none");
  EXPECT_EQ(concat("1,16,4,4", "1,16,4,4", "1,32,4,4", 1, {"lib:blocked"}), "none");
  EXPECT_EQ(concat("1,16,3,3", "1,48,3,3", "1,64,3,3", 1, {"lib:nChw16c"}), "c = a@0 b@576 *");
  EXPECT_EQ(concat("1,16,3", "1,48,3", "1,64,3", 1, {"lib:nChw8c"}), "c = a@0 b@192 *");
  EXPECT_EQ(concat("3,16,4,4", "2,16,4,4", "5,16,4,4", 0, {"lib:nChw16c"}), "c = a@0 b@3072 *");
  EXPECT_EQ(concat("2,16,4,4", "2,16,4,4", "2,32,4,4", 1, {"lib:nChw16c"}), "none");
  EXPECT_EQ(concat("1,16,4,4", "1,24,4,4", "1,40,4,4", 1, {"lib:nChw16c"}), "none") << "a block of two parts";
  EXPECT_EQ(concat("1,16,4,4", "1,16,2,4", "1,16,6,4", 2, {"lib:nChw16c"}), "c = a@0 b@1024 *");
  EXPECT_EQ(concat("1,16,4,4", "1,16,4,4", "1,32,4,4", 1, {"lib:nChwc"}), "none");
}

TEST(Containment, IsNoneWhereBytesOfPartsMixOrStartAnywhere) {
  EXPECT_EQ(concat("2,8,4,4", "2,3,4,4", "2,11,4,4", 1), "none");
  EXPECT_EQ(concat("1,8,3,3", "1,3,3,3", "1,11,3,3", 1), "none") << "288 bytes are no multiple of 64";
  EXPECT_EQ(concat("N,8,4,4", "N,3,4,4", "N,11,4,4", 1), "none");
}

TEST(Containment, OfASplit) {
  const auto split = [](const std::string& outputs, const std::string& more = "") {
    return parts("%x: f32[1,8,4,4]", outputs,
                 "  constant %s = i64[3]{2,5,1}\n  %w: f32[1,8,4,4] = Relu(%x) \"w\"\n  %a: f32[1,2,4,4], "
                 "%b: f32[1,5,4,4], %c: f32[1,1,4,4] = Split(%w, %s) {axis=1} \"it\"\n" +
                     more);
  };
  EXPECT_EQ(split("%r", "  %r: f32[1,5,4,4] = Relu(%b) \"r\"\n"), "w = a@0 b@128 c@448 *");
  EXPECT_EQ(split("%b"), "w = a@0 b@128 c@448") << "an output needs a copy of it";
  EXPECT_EQ(parts("%x: f32[2,8,4,4]", "%b",
                  "  %a: f32[2,4,4,4], %b: f32[2,4,4,4] = Split(%x) {axis=1, num_outputs=2} \"it\"\n"),
            "none");
}

std::string slice(const std::string& from, const std::string& to, const std::string& bounds,
                  const std::string& operands) {
  return parts(
      "%x: f32[" + from + "], %n: i64[1]", "%r",
      bounds + "  %y: f32[" + to + "] = Slice(%x, " + operands + ") \"it\"\n  %r: f32[" + to + "] = Relu(%y) \"r\"\n");
}

TEST(Containment, OfASliceWithConstantBounds) {
  const std::string range = "  constant %s = i64[1]{-6}\n  constant %e = i64[1]{100}\n  constant %a = i64[1]{1}\n";
  EXPECT_EQ(slice("1,8,4,4", "1,6,4,4", range, "%s, %e, %a"), "x = y@128 *");
  EXPECT_EQ(slice("2,8,4,4", "2,6,4,4", range, "%s, %e, %a"), "none");
  EXPECT_EQ(slice("1,8,4,4", "1,6,4,4", range, "%n, %e, %a"), "none") << "computed bounds";
  EXPECT_EQ(slice("1,8,4,4", "1,6,4,4", range, "%s, %n, %a"), "none") << "computed bounds";
  EXPECT_EQ(slice("1,8,4,4", "1,4,4,4", range + "  constant %t = i64[1]{2}\n", "%s, %e, %a, %t"), "none");
  const std::string row = "  constant %s = i64[2]{1,2}\n  constant %e = i64[2]{2,3}\n";
  EXPECT_EQ(slice("4,8,16", "1,1,16", row, "%s, %e"), "x = y@640 *");
  EXPECT_EQ(slice("4,8,15", "1,1,15", row, "%s, %e"), "none") << "600 bytes are no multiple of 64";
}

TEST(Containment, NeedsACopyOfWhatIsNoResultAlone) {
  const auto two = [](const std::string& lines, const std::string& operands, const std::string& outputs = "%z") {
    return parts(
        "%x: f32[1,4,4,4]", outputs,
        lines + "  %c: f32[1,8,4,4] = Concat(" + operands + ") {axis=1} \"it\"\n  %z: f32[1,8,4,4] = Relu(%c) \"z\"\n");
  };
  const std::string a = "  %a: f32[1,4,4,4] = Relu(%x) \"a\"\n";
  const std::string b = "  %b: f32[1,4,4,4] = Relu(%x) \"b\"\n";
  EXPECT_EQ(two(a + b, "%a, %b"), "c = a@0 b@256 *");
  EXPECT_EQ(two(a + b, "%a, %b", "%c"), "c = a@0 b@256 *");
  EXPECT_EQ(two(a + b, "%a, %b", "%z, %a"), "c = a@0 b@256");
  EXPECT_EQ(two(a, "%x, %a"), "c = x@0 a@256");
  EXPECT_EQ(two(a, "%a, %a"), "c = a@0 a@256");
}

TEST(Containment, SkipsPartsWithoutElements) {
  EXPECT_EQ(concat("0,16", "3,16", "3,16", 0), "c = b@0 *");
  EXPECT_EQ(concat("3,16", "0,16", "3,16", 0), "c = a@0 *");
  EXPECT_EQ(concat("0,16", "0,16", "0,16", 0), "none");
}

}  // namespace
}  // namespace collage
