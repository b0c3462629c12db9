// A library of ours that needs foreign_library.cpp, for open_library_test.cpp.
extern "C" int collage_test_foreign();
extern "C" int collage_test_needy();
extern "C" int collage_test_needy() { return collage_test_foreign(); }
