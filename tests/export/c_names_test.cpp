#include "export/c_names.h"

#include <gtest/gtest.h>

namespace collage {
namespace {

TEST(CIdentifier, KeepsLettersAndDigitsInLowerCase) {
  EXPECT_EQ(c_identifier("Det-v2.1"), "det_v2_1");
  EXPECT_EQ(c_identifier("images:0"), "images_0");
  EXPECT_EQ(c_identifier("__x__"), "x");
}

TEST(CIdentifier, IsNeverEmptyADigitFirstOrAKeyword) {
  EXPECT_EQ(c_identifier("..."), "model");
  EXPECT_EQ(c_identifier("2det"), "m_2det");
  EXPECT_EQ(c_identifier("Sem"), "m_sem") << "sem_init is a function of the C library";
  EXPECT_EQ(c_identifier("pthread_mutex"), "m_pthread_mutex");
  EXPECT_EQ(c_identifier("collage_export"), "m_collage_export");
  EXPECT_EQ(c_identifier("class"), "class") << "class_init is no keyword";
}

TEST(CLiteral, EscapesWhatALiteralCannotHold) {
  EXPECT_EQ(c_literal("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(c_literal("\n7"), R"("\0127")");
  EXPECT_EQ(c_literal("?\xc3"), R"("\077\303")");
}

}  // namespace
}  // namespace collage
