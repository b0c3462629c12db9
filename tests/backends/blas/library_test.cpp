// Which libraries an instance can have, and what it says when there is none.
#include "blas_fixture.h"
#include "tests/support/paths.h"

namespace collage::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string unusable(const std::string& instance) {
  Registry registry({test::build_path("/lib/collage")});
  const auto backend = registry.inspect(instance);
  return backend ? (*backend)->info().unusable : to_string(backend.error());
}

/// Both libraries are in tools/packages.txt.
TEST(BlasLibrary, IsHere) {
  EXPECT_EQ(unusable("blas"), "");
  EXPECT_EQ(unusable("blas:lib=openblas"), "");
  EXPECT_EQ(unusable("blas:lib=blis"), "");
}

TEST(BlasLibrary, TellsVersionAndBuild) {
  const BackendInfo& openblas = compiling("blas").info();
  EXPECT_EQ(openblas.kind, "blas");
  EXPECT_FALSE(openblas.is_engine);
  EXPECT_THAT(openblas.version, StartsWith("OpenBLAS "));
  EXPECT_THAT(openblas.build, HasSubstr(openblas.version));
  EXPECT_GE(openblas.build.size(), openblas.version.size() + 40) << "no build id in " << openblas.build;
  const BackendInfo& blis = compiling("blas:lib=blis").info();
  EXPECT_THAT(blis.version, StartsWith("BLIS "));
  EXPECT_NE(blis.build, openblas.build);
  EXPECT_EQ(compiling("blas:lib=openblas").info().build, openblas.build);
}

TEST(BlasLibrary, IsRefusedUnderAnUnknownNameOrOption) {
  EXPECT_EQ(unusable("blas:lib=atlas"), "unknown library 'atlas'; allowed openblas blis mkl");
  EXPECT_EQ(unusable("blas:fast=yes"), "unknown option 'fast'; allowed lib, path");
}

TEST(BlasLibrary, IsMissingWithAReason) {
  EXPECT_THAT(unusable("blas:path=/nowhere/libopenblas.so"), HasSubstr("openblas does not load: /nowhere"));
  EXPECT_THAT(unusable("blas:lib=blis,path=libm.so.6"), HasSubstr("has no cblas_sgemm"));
  if (const std::string why = unusable("blas:lib=mkl"); !why.empty()) {
    EXPECT_THAT(why, testing::AnyOf(HasSubstr("install pip's package mkl"), HasSubstr("libmkl_rt")));
  }
}

TEST(BlasLibrary, IsNotTakenForAnother) {
  EXPECT_THAT(unusable("blas:lib=blis,path=libopenblas.so.0"), testing::EndsWith("is no BLIS"));
}

}  // namespace
}  // namespace collage::test
