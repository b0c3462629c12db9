// Removes nodes whose results are not used.
#include "passes/pass.h"

namespace collage {

Result<bool> remove_dead(Graph& graph, PassContext&) {
  Editor editor(graph);
  // Backwards, so that one walk also takes what only dead nodes read.
  for (std::size_t n = editor.original_nodes(); n-- > 0;) editor.remove_if_dead(NodeId{static_cast<std::uint32_t>(n)});
  COLLAGE_TRY_VOID(editor.finish());
  return editor.changed();
}

}  // namespace collage
