#include "shared_object.h"

#include <dlfcn.h>

#include "backends/common/object/object_file.h"

namespace collage::native {

Result<std::shared_ptr<const SharedObject>> SharedObject::load(std::string_view bytes, const RuntimeTable& runtime) {
  COLLAGE_TRY(void* const handle, open_object(bytes, "native"));
  auto object = std::make_shared<const SharedObject>(handle);
  const auto attach = reinterpret_cast<Attach>(object->symbol(kAttachSymbol));
  if (attach == nullptr)
    return fail(ExitCode::kBadInput, "backend/bad-artifact", "native", std::string("no symbol ") + kAttachSymbol,
                "a loadable shared object");
  attach(&runtime);
  return object;
}

SharedObject::~SharedObject() { ::dlclose(handle_); }

void* SharedObject::symbol(const std::string& name) const { return ::dlsym(handle_, name.c_str()); }

}  // namespace collage::native
