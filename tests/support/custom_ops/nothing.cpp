// A library without RegisterCustomOps.
extern "C" __attribute__((visibility("default"))) int collage_nothing();

int collage_nothing() { return 0; }
