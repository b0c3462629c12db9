#include "serve/datatype.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace collage {
namespace {

TEST(Datatype, NamesEveryTypeThatIsServed) {
  std::string names;
  for (const auto& [type, name] :
       std::initializer_list<std::pair<ElementType, std::string>>{{ElementType::kBool, "BOOL"},
                                                                  {ElementType::kUint8, "UINT8"},
                                                                  {ElementType::kUint16, "UINT16"},
                                                                  {ElementType::kUint32, "UINT32"},
                                                                  {ElementType::kUint64, "UINT64"},
                                                                  {ElementType::kInt8, "INT8"},
                                                                  {ElementType::kInt16, "INT16"},
                                                                  {ElementType::kInt32, "INT32"},
                                                                  {ElementType::kInt64, "INT64"},
                                                                  {ElementType::kFloat16, "FP16"},
                                                                  {ElementType::kBfloat16, "BF16"},
                                                                  {ElementType::kFloat32, "FP32"},
                                                                  {ElementType::kFloat64, "FP64"},
                                                                  {ElementType::kString, "BYTES"}}) {
    EXPECT_EQ(datatype_of(type), name);
    names += (names.empty() ? "" : ", ") + name;
  }
  EXPECT_EQ(kDatatypes, names);
}

TEST(Datatype, HasNoNameForOtherTypes) {
  EXPECT_EQ(datatype_of(ElementType::kComplex64), "");
  EXPECT_EQ(datatype_of(ElementType::kUndefined), "");
}

}  // namespace
}  // namespace collage
