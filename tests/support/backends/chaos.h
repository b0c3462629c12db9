// The ways in which a backend can go wrong, at whatever stage it is asked: what the test backend does on the option
// fault=STAGE-KIND. Stages: probe (the instance is made, or says what it is), propose (it is asked what it supports),
// compile, load, verify (the first run of a call), run (every run, or those after good_runs=N).
//
//   kind              at every stage, unless a stage is named
//   crash abort exit throw
//   hang deaf         sleeps for ever; the same with every signal blocked and ignored
//   wrong             probe: says it is of another kind; propose: a variant with too few formats; compile: another
//                     function; load: a kernel with a wrong element; verify, run: a wrong element
//   overrun           the heap; verify, run: an element behind its output
//   change-input      probe: its options; propose, compile: the graph; load: the constants; verify, run: its input
//   state             rounding, flush-to-zero, a handler, the folder, the umask, OMP_NUM_THREADS
//   leak-memory leak-descriptors print slow-start slow-drift fork
//   garbage           probe: no instance; propose: a variant of rubbish; compile: bytes of rubbish; load: no kernel;
//                     verify, run: writes no output
//   refuse            late: probe: says it is unusable at the third question; propose: from the eleventh question on;
//                     compile, load, verify, run: an error
//   threads           probe, compile, load: two that never end; propose, verify, run: four while it works
//   once              goes well once in a process, then crashes
#pragma once

#include <string>
#include <string_view>

namespace collage::test {

/// Of an instance. Value.
struct Fault {
  std::string stage;
  std::string kind;
  int good_runs = 0;  ///< of each call before the fault of stage "run" comes true

  /// "" is none. Only stages of the list above are taken apart; others keep all of it as `stage`.
  [[nodiscard]] static Fault parse(const std::string& text);

  [[nodiscard]] bool is(std::string_view of_stage, std::string_view of_kind) const {
    return stage == of_stage && kind == of_kind;
  }
};

/// Does what the kind does to a process wherever it happens; nothing for the kinds that are about numbers and answers.
void misbehave_in_process(std::string_view kind);

}  // namespace collage::test
