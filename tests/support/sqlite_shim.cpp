#include "tests/support/sqlite_shim.h"

#include <unistd.h>

#include <gtest/gtest.h>

namespace collage::test {

namespace {

struct Layer {
  sqlite3_vfs* real;
  FileObserver* observer;
};
const Layer& layer_of(sqlite3_vfs* vfs) { return *static_cast<const Layer*>(vfs->pAppData); }

/// What SQLite takes for its file; the real one follows it in memory.
struct ShimFile {
  sqlite3_file base;
  FileObserver* observer;
  std::string* path;
  bool syncs_folder;  ///< at its next sync
};

sqlite3_file* real_of(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(reinterpret_cast<std::byte*>(file) + sizeof(ShimFile));
}
ShimFile* shim_of(sqlite3_file* file) { return reinterpret_cast<ShimFile*>(file); }

int tell(sqlite3_file* file, FileCall call) {
  call.path = *shim_of(file)->path;
  return shim_of(file)->observer->before(call);
}

/// Makes the call when the observer lets it through.
template <class Make>
int pass(sqlite3_file* file, const FileCall& call, Make make) {
  const int refused = tell(file, call);
  return refused != SQLITE_OK ? refused : make(real_of(file));
}

int close(sqlite3_file* file) {
  const int code = real_of(file)->pMethods->xClose(real_of(file));
  delete shim_of(file)->path;
  return code;
}
int read(sqlite3_file* file, void* to, int size, sqlite3_int64 offset) {
  return pass(file, {.act = FileAct::kRead, .offset = offset},
              [&](sqlite3_file* real) { return real->pMethods->xRead(real, to, size, offset); });
}
int write(sqlite3_file* file, const void* from, int size, sqlite3_int64 offset) {
  const std::span bytes(static_cast<const std::byte*>(from), static_cast<std::size_t>(size));
  sqlite3_file* real = real_of(file);
  const int refused = tell(file, {.act = FileAct::kWrite, .offset = offset, .bytes = bytes});
  const int written = real->pMethods->xWrite(real, from, refused == SQLITE_OK ? size : size / 2, offset);
  return refused != SQLITE_OK ? refused : written;
}
int truncate(sqlite3_file* file, sqlite3_int64 size) {
  return pass(file, {.act = FileAct::kTruncate, .offset = size},
              [&](sqlite3_file* real) { return real->pMethods->xTruncate(real, size); });
}
int sync(sqlite3_file* file, int flags) {
  const int code = pass(file, {.act = FileAct::kSync, .folder_too = shim_of(file)->syncs_folder},
                        [&](sqlite3_file* real) { return real->pMethods->xSync(real, flags); });
  if (code == SQLITE_OK) shim_of(file)->syncs_folder = false;
  return code;
}
int size(sqlite3_file* file, sqlite3_int64* bytes) {
  return pass(file, {.act = FileAct::kRead},
              [&](sqlite3_file* real) { return real->pMethods->xFileSize(real, bytes); });
}
int lock(sqlite3_file* file, int level) {
  return pass(file, {.act = FileAct::kLock}, [&](sqlite3_file* real) { return real->pMethods->xLock(real, level); });
}
int unlock(sqlite3_file* file, int level) { return real_of(file)->pMethods->xUnlock(real_of(file), level); }
int is_reserved(sqlite3_file* file, int* answer) {
  return pass(file, {.act = FileAct::kLock},
              [&](sqlite3_file* real) { return real->pMethods->xCheckReservedLock(real, answer); });
}
int control(sqlite3_file* file, int code, void* argument) {
  return real_of(file)->pMethods->xFileControl(real_of(file), code, argument);
}
int sector_size(sqlite3_file* file) { return real_of(file)->pMethods->xSectorSize(real_of(file)); }
int characteristics(sqlite3_file* file) { return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file)); }
int map_shared(sqlite3_file* file, int page, int bytes, int extend, void volatile** memory) {
  return pass(file, {.act = FileAct::kShare},
              [&](sqlite3_file* real) { return real->pMethods->xShmMap(real, page, bytes, extend, memory); });
}
int lock_shared(sqlite3_file* file, int offset, int count, int flags) {
  // A lock that is given back always is.
  if ((flags & SQLITE_SHM_UNLOCK) != 0) return real_of(file)->pMethods->xShmLock(real_of(file), offset, count, flags);
  return pass(file, {.act = FileAct::kShare},
              [&](sqlite3_file* real) { return real->pMethods->xShmLock(real, offset, count, flags); });
}
void barrier(sqlite3_file* file) { real_of(file)->pMethods->xShmBarrier(real_of(file)); }
int unmap_shared(sqlite3_file* file, int remove) { return real_of(file)->pMethods->xShmUnmap(real_of(file), remove); }

/// Version 2: files are not mapped, so nothing goes past the shim.
const sqlite3_io_methods kMethods = {
    2,           close,   read,        write,           truncate,   sync,        size,    lock,         unlock,
    is_reserved, control, sector_size, characteristics, map_shared, lock_shared, barrier, unmap_shared, nullptr,
    nullptr};

int open(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  const Layer& layer = layer_of(vfs);
  const std::string path = name == nullptr ? "" : name;
  file->pMethods = nullptr;
  const bool is_new = (flags & SQLITE_OPEN_CREATE) != 0 && ::access(path.c_str(), F_OK) != 0;
  const int refused = layer.observer->before({.act = FileAct::kOpen, .path = path, .is_new = is_new});
  if (refused != SQLITE_OK) return refused;
  const int code = layer.real->xOpen(layer.real, name, real_of(file), flags, out_flags);
  if (real_of(file)->pMethods == nullptr) return code;
  constexpr int kLogs = SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_SUPER_JOURNAL;
  shim_of(file)->observer = layer.observer;
  shim_of(file)->path = new std::string(path);
  shim_of(file)->syncs_folder = (flags & SQLITE_OPEN_CREATE) != 0 && (flags & kLogs) != 0;
  file->pMethods = &kMethods;
  return code;
}
int remove(sqlite3_vfs* vfs, const char* path, int folder_too) {
  const Layer& layer = layer_of(vfs);
  const int refused = layer.observer->before({.act = FileAct::kDelete, .path = path, .folder_too = folder_too != 0});
  return refused != SQLITE_OK ? refused : layer.real->xDelete(layer.real, path, folder_too);
}
int exists(sqlite3_vfs* vfs, const char* path, int flags, int* answer) {
  const Layer& layer = layer_of(vfs);
  const int refused = layer.observer->before({.act = FileAct::kAccess, .path = path});
  return refused != SQLITE_OK ? refused : layer.real->xAccess(layer.real, path, flags, answer);
}
int full_path(sqlite3_vfs* vfs, const char* path, int bytes, char* out) {
  sqlite3_vfs* real = layer_of(vfs).real;
  return real->xFullPathname(real, path, bytes, out);
}
int randomness(sqlite3_vfs* vfs, int bytes, char* out) {
  sqlite3_vfs* real = layer_of(vfs).real;
  return real->xRandomness(real, bytes, out);
}
int sleep(sqlite3_vfs* vfs, int microseconds) {
  sqlite3_vfs* real = layer_of(vfs).real;
  return real->xSleep(real, microseconds);
}
int time_of_day(sqlite3_vfs* vfs, double* days) {
  sqlite3_vfs* real = layer_of(vfs).real;
  return real->xCurrentTime(real, days);
}
int last_error(sqlite3_vfs* vfs, int bytes, char* out) {
  sqlite3_vfs* real = layer_of(vfs).real;
  return real->xGetLastError == nullptr ? 0 : real->xGetLastError(real, bytes, out);
}

}  // namespace

struct SqliteShim::State {
  Layer layer;
  sqlite3_vfs vfs{};
};

SqliteShim::SqliteShim(FileObserver& observer)
    : state_(std::make_unique<State>(State{.layer = {::sqlite3_vfs_find(nullptr), &observer}})) {
  const sqlite3_vfs* real = state_->layer.real;
  state_->vfs = {.iVersion = 1,
                 .szOsFile = static_cast<int>(sizeof(ShimFile)) + real->szOsFile,
                 .mxPathname = real->mxPathname,
                 .pNext = nullptr,
                 .zName = "collage-test",
                 .pAppData = &state_->layer,
                 .xOpen = open,
                 .xDelete = remove,
                 .xAccess = exists,
                 .xFullPathname = full_path,
                 .xDlOpen = nullptr,
                 .xDlError = nullptr,
                 .xDlSym = nullptr,
                 .xDlClose = nullptr,
                 .xRandomness = randomness,
                 .xSleep = sleep,
                 .xCurrentTime = time_of_day,
                 .xGetLastError = last_error,
                 .xCurrentTimeInt64 = nullptr,
                 .xSetSystemCall = nullptr,
                 .xGetSystemCall = nullptr,
                 .xNextSystemCall = nullptr};
  EXPECT_EQ(::sqlite3_vfs_register(&state_->vfs, 1), SQLITE_OK);
}

SqliteShim::~SqliteShim() { ::sqlite3_vfs_unregister(&state_->vfs); }

}  // namespace collage::test
