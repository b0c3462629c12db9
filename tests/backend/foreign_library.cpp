// A library of somebody else's, for open_library_test.cpp.
extern "C" int collage_test_foreign();
extern "C" int collage_test_foreign() { return 1; }
