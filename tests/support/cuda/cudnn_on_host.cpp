// cuDNN's graphs of a convolution and pointwise operations on the processor, by plain loops, queued as the made-up
// GPU's work. A plan's text is its graph, written out.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>
#include <string>
#include <vector>

// Of cuda_on_host.cpp.
extern "C" int cuda_on_host_queue(void* stream, int (*work)(const void*), const void* data, std::size_t bytes);
extern "C" void* cuda_on_host_backing(const void* address);

namespace {

constexpr int kSuccess = 0;
constexpr int kBadParameter = 2000;
constexpr int kNotSupported = 3000;

enum Kind {
  kEngine = 2,
  kConfig = 3,
  kHeuristics = 4,
  kPlan = 5,
  kForward = 10,
  kPointwise = 13,
  kGraph = 15,
  kTensor = 17
};

using Bytes = std::vector<char>;

struct Descriptor {
  int kind = 0;
  bool is_final = false;
  std::map<int, Bytes> attributes;
  std::string text;  ///< of a configuration or a plan: what it computes
  int engine = 0;    ///< of an engine or a configuration
};

struct Context {
  void* stream = nullptr;
};

std::size_t size_of(int type) {
  return type == 0 || type == 3 || type == 5 || type == 6 || type == 15 ? 8 : type == 2 || type == 24 ? 1 : 4;
}

template <class T>
std::vector<T> all(const Descriptor& of, int which) {
  const auto found = of.attributes.find(which);
  if (found == of.attributes.end()) return {};
  std::vector<T> values(found->second.size() / sizeof(T));
  std::memcpy(values.data(), found->second.data(), found->second.size());
  return values;
}
template <class T>
T one(const Descriptor& of, int which, T otherwise = {}) {
  const auto values = all<T>(of, which);
  return values.empty() ? otherwise : values[0];
}

void write(std::ostream& out, const std::vector<std::int64_t>& list) {
  out << list.size() << ' ';
  for (const std::int64_t number : list) out << number << ' ';
}
std::vector<std::int64_t> read(std::istream& in) {
  std::size_t count = 0;
  in >> count;
  std::vector<std::int64_t> list(count);
  for (std::int64_t& number : list) in >> number;
  return list;
}

/// A tensor: its id, whether it is virtual, extents, strides.
void write_tensor(std::ostream& out, const Descriptor& of) {
  out << one<std::int64_t>(of, 906) << ' ' << static_cast<int>(one<char>(of, 907)) << ' ';
  write(out, all<std::int64_t>(of, 902));
  write(out, all<std::int64_t>(of, 903));
}

std::string text_of(const Descriptor& graph) {
  std::ostringstream out;
  const auto operations = all<const Descriptor*>(graph, 801);
  out << operations.size() << ' ';
  for (const Descriptor* const operation : operations) {
    out << operation->kind << ' ';
    if (operation->kind == kForward) {
      const Descriptor& how = *one<const Descriptor*>(*operation, 702);
      for (const int which : {704, 703, 705}) write_tensor(out, *one<const Descriptor*>(*operation, which));
      for (const int which : {103, 102, 105, 104}) write(out, all<std::int64_t>(how, which));
    } else {
      const Descriptor& how = *one<const Descriptor*>(*operation, 750);
      out << one<int>(how, 0) << ' ' << one<double>(how, 5) << ' ';
      write_tensor(out, *one<const Descriptor*>(*operation, 751));
      const auto* const other = one<const Descriptor*>(*operation, 752);
      out << (other != nullptr) << ' ';
      if (other != nullptr) write_tensor(out, *other);
      write_tensor(out, *one<const Descriptor*>(*operation, 753));
    }
  }
  return out.str();
}

/// The bytes of tensors by id: what is virtual has bytes of its own.
struct Memory {
  std::map<std::int64_t, float*> given;
  std::map<std::int64_t, std::vector<float>> inside;
};

struct Tensor {
  float* data = nullptr;
  std::vector<std::int64_t> extents, strides;

  [[nodiscard]] float& at(const std::vector<std::int64_t>& place) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < place.size(); ++i) offset += (extents[i] == 1 ? 0 : place[i]) * strides[i];
    return data[offset];
  }
};

Tensor read_tensor(std::istream& in, Memory& memory) {
  std::int64_t id = 0;
  int is_virtual = 0;
  in >> id >> is_virtual;
  Tensor tensor{.extents = read(in), .strides = read(in)};
  std::size_t count = 1;
  for (const std::int64_t extent : tensor.extents) count *= static_cast<std::size_t>(extent);
  if (is_virtual != 0) {
    auto& bytes = memory.inside[id];
    bytes.resize(count);
    tensor.data = bytes.data();
  } else {
    tensor.data = memory.given[id];
  }
  return tensor;
}

/// Calls `work` with every place of these extents.
template <class Work>
void for_each_place(const std::vector<std::int64_t>& extents, Work&& work) {
  std::vector<std::int64_t> place(extents.size(), 0);
  for (std::size_t axis = 0; axis < extents.size();) {
    work(place);
    for (axis = 0; axis < extents.size() && ++place[axis] == extents[axis]; ++axis) place[axis] = 0;
  }
}

void convolve(std::istream& in, Memory& memory) {
  const Tensor x = read_tensor(in, memory);
  const Tensor w = read_tensor(in, memory);
  const Tensor y = read_tensor(in, memory);
  const auto strides = read(in), dilations = read(in), before = read(in), after = read(in);
  const std::int64_t group_out = y.extents[1] / (x.extents[1] / w.extents[1]);
  std::vector<std::int64_t> window(w.extents.begin() + 2, w.extents.end());
  for_each_place(y.extents, [&](const std::vector<std::int64_t>& to) {
    double sum = 0;
    for (std::int64_t c = 0; c < w.extents[1]; ++c)
      for_each_place(window, [&](const std::vector<std::int64_t>& tap) {
        std::vector<std::int64_t> from = {to[0], to[1] / group_out * w.extents[1] + c};
        std::vector<std::int64_t> weight = {to[1], c};
        bool is_inside = true;
        for (std::size_t i = 0; i < tap.size(); ++i) {
          from.push_back(to[i + 2] * strides[i] + tap[i] * dilations[i] - before[i]);
          weight.push_back(tap[i]);
          is_inside &= from.back() >= 0 && from.back() < x.extents[i + 2];
        }
        if (is_inside) sum += static_cast<double>(x.at(from)) * static_cast<double>(w.at(weight));
      });
    y.at(to) = static_cast<float>(sum);
  });
}

void work_pointwise(std::istream& in, Memory& memory) {
  int mode = 0;
  double slope = 0;
  in >> mode >> slope;
  const Tensor x = read_tensor(in, memory);
  bool has_other = false;
  in >> has_other;
  const Tensor other = has_other ? read_tensor(in, memory) : Tensor();
  const Tensor y = read_tensor(in, memory);
  for_each_place(y.extents, [&](const std::vector<std::int64_t>& to) {
    const float value = x.at(to);
    float result = value;
    if (mode == 0) result = value + other.at(to);
    if (mode == 100) result = value < 0 ? static_cast<float>(slope) * value : value;
    if (mode == 101) result = std::tanh(value);
    if (mode == 102) result = 1 / (1 + std::exp(-value));
    y.at(to) = result;
  });
}

/// A plan and its pack, by value: a text with its end, then ids and addresses.
int run(const void* data) {
  const auto* bytes = static_cast<const char*>(data);
  std::istringstream in{std::string(bytes)};
  bytes += std::strlen(bytes) + 1;
  std::int64_t count = 0;
  std::memcpy(&count, bytes, sizeof count);
  Memory memory;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t id = 0;
    void* address = nullptr;
    std::memcpy(&id, bytes + 8 + i * 16, 8);
    std::memcpy(&address, bytes + 16 + i * 16, 8);
    memory.given[id] = static_cast<float*>(cuda_on_host_backing(address));
    if (memory.given[id] == nullptr) return 719;
  }
  std::size_t operations = 0;
  in >> operations;
  for (; operations > 0; --operations) {
    int kind = 0;
    in >> kind;
    kind == kForward ? convolve(in, memory) : work_pointwise(in, memory);
  }
  return kSuccess;
}

}  // namespace

extern "C" {

std::size_t cudnnGetVersion() { return 91900; }
const char* cudnnGetErrorString(int status) {
  return status == kNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_BAD_PARAM";
}
int cudnnCreate(void** handle) { return *handle = new Context, kSuccess; }
int cudnnDestroy(void* handle) { return delete static_cast<Context*>(handle), kSuccess; }
int cudnnSetStream(void* handle, void* stream) { return static_cast<Context*>(handle)->stream = stream, kSuccess; }

int cudnnBackendCreateDescriptor(int kind, void** descriptor) {
  return *descriptor = new Descriptor{.kind = kind}, kSuccess;
}
int cudnnBackendDestroyDescriptor(void* descriptor) { return delete static_cast<Descriptor*>(descriptor), kSuccess; }
int cudnnBackendSetAttribute(void* handle, int which, int type, std::int64_t count, const void* values) {
  auto* const descriptor = static_cast<Descriptor*>(handle);
  if (descriptor->is_final || count < 0) return kBadParameter;
  const auto* const begin = static_cast<const char*>(values);
  descriptor->attributes[which] = Bytes(begin, begin + static_cast<std::size_t>(count) * size_of(type));
  return kSuccess;
}
int cudnnBackendFinalize(void* handle) {
  auto* const descriptor = static_cast<Descriptor*>(handle);
  descriptor->is_final = true;
  if (descriptor->kind == kTensor && all<std::int64_t>(*descriptor, 902).size() < 4) return kBadParameter;
  if (descriptor->kind != kPlan) return kSuccess;
  if (one<void*>(*descriptor, 400) == nullptr) return kBadParameter;
  if (const auto text = all<char>(*descriptor, 405); !text.empty()) {
    descriptor->text.assign(text.begin(), text.end());
    return kSuccess;
  }
  const Descriptor& config = *one<const Descriptor*>(*descriptor, 401);
  if (config.engine == 2) return kNotSupported;  // proposed, and not made
  descriptor->text = config.text;
  descriptor->attributes[402] = Bytes(8, 0);
  descriptor->attributes[402][1] = static_cast<char>(config.engine);  // 256 bytes a number
  descriptor->attributes[405] = Bytes(config.text.begin(), config.text.end());
  return kSuccess;
}
/// Engines 0 to 4: one with TF32, one that is not made, one whose sums differ; 0 and 4 are plain ones.
int cudnnBackendGetAttribute(void* handle, int which, int type, std::int64_t asked, std::int64_t* count, void* values) {
  auto* const descriptor = static_cast<Descriptor*>(handle);
  if (!descriptor->is_final && descriptor->kind != kEngine) return kBadParameter;
  if (descriptor->kind == kHeuristics && which == 202) {
    *count = asked == 0 ? 5 : std::min<std::int64_t>(asked, 5);
    for (std::int64_t i = 0; asked > 0 && i < *count; ++i) {
      Descriptor& config = *static_cast<Descriptor**>(values)[i];
      config.engine = static_cast<int>(i);
      config.text = text_of(*one<const Descriptor*>(*descriptor, 201));
      config.is_final = true;
    }
    return kSuccess;
  }
  if (descriptor->kind == kConfig && which == 300) {
    static_cast<Descriptor**>(values)[0]->engine = descriptor->engine;
    return *count = 1, kSuccess;
  }
  if (descriptor->kind == kEngine && which == 1303) {
    const bool has_note = descriptor->engine == 1 || descriptor->engine == 3;
    if (asked > 0 && has_note) *static_cast<int*>(values) = descriptor->engine == 1 ? 0 : 4;
    return *count = has_note ? 1 : 0, kSuccess;
  }
  const auto found = descriptor->attributes.find(which);
  if (found == descriptor->attributes.end()) return kBadParameter;
  *count = static_cast<std::int64_t>(found->second.size() / size_of(type));
  if (asked > 0)
    std::memcpy(values, found->second.data(),
                std::min(found->second.size(), static_cast<std::size_t>(asked) * size_of(type)));
  return kSuccess;
}
int cudnnBackendExecute(void* handle, void* plan, void* pack) {
  const auto ids = all<std::int64_t>(*static_cast<Descriptor*>(pack), 1000);
  const auto pointers = all<void*>(*static_cast<Descriptor*>(pack), 1001);
  if (ids.size() != pointers.size()) return kBadParameter;
  std::string work = static_cast<Descriptor*>(plan)->text;
  work.push_back('\0');
  const auto count = static_cast<std::int64_t>(ids.size());
  work.append(reinterpret_cast<const char*>(&count), sizeof count);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    work.append(reinterpret_cast<const char*>(&ids[i]), 8);
    work.append(reinterpret_cast<const char*>(&pointers[i]), 8);
  }
  return cuda_on_host_queue(static_cast<Context*>(handle)->stream, run, work.data(), work.size()) == 0 ? kSuccess
                                                                                                       : kBadParameter;
}

}  // extern "C"
