#include "api/tune/rival_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/json_reading.h"
#include "base/spawn_attributes.h"
#include "onnx/files/tensor_file.h"

namespace collage {
namespace {

constexpr int kProtocol = 1;
/// Until a program is ready: some tune for minutes.
constexpr Seconds kPrepares(3600);
/// For the answer to everything else.
constexpr Seconds kAnswers(300);
/// For that answer once the user has asked for an end: the round is finished, and its numbers are judged.
constexpr Seconds kAnswersAtTheEnd(30);
/// How often a stop is looked for, in milliseconds.
constexpr int kLook_ms = 100;
/// A line of the protocol is short; whoever writes more than this does not speak it.
constexpr std::size_t kLongestLine = 1 << 20;

/// Pipe ends that are closed on exec, and closed with the object unless taken.
struct Pipe {
  int ends[2] = {-1, -1};
  Pipe() { (void)::pipe2(ends, O_CLOEXEC); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    for (const int end : ends)
      if (end >= 0) ::close(end);
  }
  [[nodiscard]] bool is_open() const { return ends[0] >= 0; }
  int take(int which) { return std::exchange(ends[which], -1); }
};

/// The process id, or the system's error.
std::expected<pid_t, int> spawn_program(std::vector<std::string> words, int input, int output, const char* messages) {
  posix_spawn_file_actions_t actions;
  const SpawnAttributes attributes;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, arguments[0], &actions, attributes.get(), arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return std::unexpected(error);
  return pid;
}

std::string text_or_empty(const Json& object, const std::string& key, const std::string& where) {
  return object.contains(key) ? json_reading::text(object, key, where) : std::string();
}

}  // namespace

Result<RivalCommand> parse_rival(const std::string& text, const OptionLabel& label) {
  const std::size_t equals = text.find('=');
  RivalCommand command;
  if (equals != std::string::npos) {
    command.name = text.substr(0, equals);
    std::istringstream words(text.substr(equals + 1));
    command.words.assign(std::istream_iterator<std::string>(words), {});
  }
  if (command.name.empty() || command.words.empty())
    return bad_option(label, "'" + text + "'", "NAME=PROGRAM ARGUMENT...");
  return command;
}

Result<RivalProgram> RivalProgram::start(const RivalCommand& command, const RivalTask& task, std::stop_token stop) {
  COLLAGE_TRY(WorkFolder folder, WorkFolder::create());
  RivalProgram program(command.name, std::move(folder), std::move(stop));
  COLLAGE_TRY_VOID(program.spawn(command));
  COLLAGE_TRY_VOID(program.prepare(task));
  return program;
}

RivalProgram::RivalProgram(RivalProgram&& other) noexcept
    : name_(std::move(other.name_)),
      folder_(std::move(other.folder_)),
      stop_(std::move(other.stop_)),
      pid_(std::exchange(other.pid_, -1)),
      to_(std::exchange(other.to_, -1)),
      from_(std::exchange(other.from_, -1)),
      unread_(std::move(other.unread_)),
      outputs_(std::move(other.outputs_)),
      version_(std::move(other.version_)),
      precision_(std::move(other.precision_)),
      note_(std::move(other.note_)),
      load_ms_(other.load_ms_) {}

RivalProgram::~RivalProgram() { end(); }

void RivalProgram::end() {
  for (int* const descriptor : {&to_, &from_})
    if (*descriptor >= 0) ::close(std::exchange(*descriptor, -1));
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

Result<void> RivalProgram::spawn(const RivalCommand& command) {
  const auto cannot_start = [&](int error) {
    return fail(ExitCode::kIo, "rival/cannot-start", name_, command.words[0] + ": " + std::strerror(error),
                "a program that can be run");
  };
  Pipe in;
  Pipe out;
  if (!in.is_open() || !out.is_open()) return cannot_start(errno);
  const auto pid = spawn_program(command.words, in.ends[0], out.ends[1], folder_.file("messages").c_str());
  if (!pid) return cannot_start(pid.error());
  pid_ = *pid;
  to_ = in.take(1);
  from_ = out.take(0);
  return {};
}

Result<void> RivalProgram::prepare(const RivalTask& task) {
  const std::string model = folder_.file("model.onnx");
  std::ofstream file(model, std::ios::binary);
  file.write(task.model_bytes.data(), static_cast<std::streamsize>(task.model_bytes.size()));
  if (!file.flush()) return fail(ExitCode::kIo, "io/cannot-write", model, "a failed write", "room for the model");
  file.close();
  Json inputs = Json::array();
  for (std::size_t i = 0; i < task.inputs.size(); ++i) {
    const std::string path = folder_.file("input" + std::to_string(i) + ".npy");
    COLLAGE_TRY_VOID(write_npy(path, task.inputs[i]));
    inputs.push_back({{"name", task.graph->value(task.graph->inputs[i]).name}, {"file", path}});
  }
  for (const ValueId id : task.graph->outputs) outputs_.push_back(task.graph->value(id).name);
  COLLAGE_TRY(const Json answer, ask({{"do", "prepare"},
                                      {"protocol", kProtocol},
                                      {"model", model},
                                      {"threads", task.threads},
                                      {"inputs", inputs},
                                      {"outputs", outputs_}},
                                     kPrepares, Seconds(0)));
  const auto read = read_json(
      [&] {
        version_ = text_or_empty(answer, "version", name_);
        precision_ = text_or_empty(answer, "precision", name_);
        note_ = text_or_empty(answer, "note", name_);
        return answer.contains("load_ms") ? answer.at("load_ms").get<double>() : 0.0;
      },
      [&](const std::string&, const std::string& saw) { return failed("rival/bad-answer", saw); });
  if (!read) return std::unexpected(read.error());
  load_ms_ = *read;
  return {};
}

Result<std::int64_t> RivalProgram::run(std::int64_t times) {
  const std::int64_t begin = monotonic_ns();
  COLLAGE_TRY(const Json answer, ask({{"do", "run"}, {"times", times}}, kAnswers, kAnswersAtTheEnd));
  const std::int64_t passed = monotonic_ns() - begin;
  COLLAGE_TRY(const auto ns, read_json([&] { return json_reading::number<std::int64_t>(answer, "ns", name_); },
                                       [&](const std::string&, const std::string& saw) -> std::unexpected<Error> {
                                         return failed("rival/bad-answer", saw);
                                       }));
  if (ns <= 0 || ns > passed)
    return failed("rival/bad-answer", std::to_string(ns) + " ns, while " + std::to_string(passed) + " ns passed here");
  return ns;
}

Result<std::vector<Tensor>> RivalProgram::outputs() {
  Json files = Json::array();
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    files.push_back(folder_.file("output" + std::to_string(i) + ".npy"));
  COLLAGE_TRY_VOID(ask({{"do", "write"}, {"files", files}}, kAnswers, kAnswersAtTheEnd));
  std::vector<Tensor> tensors;
  for (const Json& path : files) {
    COLLAGE_TRY(Tensor tensor, read_npy(path.get<std::string>()));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

Result<Json> RivalProgram::ask(const Json& message, Seconds patience, Seconds at_the_end) {
  COLLAGE_TRY_VOID(send(to_line(message) + '\n'));
  COLLAGE_TRY(const std::string line, receive(patience, at_the_end));
  const auto answer = parse_json(line, name_);
  if (!answer || !answer->is_object()) return failed("rival/bad-answer", "no JSON object: " + line.substr(0, 200));
  if (const auto error = answer->find("error"); error != answer->end())
    return fail(ExitCode::kUnsupported, "rival/refused", name_,
                error->is_string() ? error->get<std::string>() : error->dump());
  return *answer;
}

Result<void> RivalProgram::send(const std::string& line) {
  // A program that has died must not end this one: SIGPIPE is taken as an error of write().
  sigset_t broken_pipe;
  sigset_t before;
  ::sigemptyset(&broken_pipe);
  ::sigaddset(&broken_pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  std::size_t sent = 0;
  bool is_broken = false;
  while (sent < line.size() && !is_broken) {
    const ssize_t wrote = ::write(to_, line.data() + sent, line.size() - sent);
    if (wrote >= 0)
      sent += static_cast<std::size_t>(wrote);
    else
      is_broken = errno != EINTR;
  }
  if (is_broken) {
    constexpr timespec kAtOnce = {.tv_sec = 0, .tv_nsec = 0};
    ::sigtimedwait(&broken_pipe, nullptr, &kAtOnce);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (is_broken) return failed("rival/died", "the end of the program");
  return {};
}

Result<std::string> RivalProgram::receive(Seconds patience, Seconds at_the_end) {
  const auto after = [begin = Clock::now()](Seconds time) {
    return begin + std::chrono::duration_cast<Clock::duration>(time);
  };
  while (true) {
    if (const std::size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (unread_.size() > kLongestLine) return failed("rival/bad-answer", "a line without an end");
    const bool ends = stop_.stop_requested();
    if (ends && Clock::now() > after(at_the_end)) return failed("rival/silent", "an interruption");
    if (Clock::now() > after(patience)) return failed("rival/silent", "no answer within its time");
    pollfd waiting = {.fd = from_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kLook_ms) <= 0) continue;
    char bytes[4096];
    const ssize_t count = ::read(from_, bytes, sizeof(bytes));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("rival/died", "the end of the program");
    unread_.append(bytes, static_cast<std::size_t>(count));
  }
}

std::unexpected<Error> RivalProgram::failed(const char* code, std::string saw) const {
  const std::string words = printed_last();
  return fail(ExitCode::kUnsupported, code, name_, std::move(saw) + (words.empty() ? "" : "; it said: " + words));
}

std::string RivalProgram::printed_last() const {
  std::ifstream file(folder_.file("messages"));
  std::string last;
  for (std::string line; std::getline(file, line);)
    if (line.find_first_not_of(" \t\r") != std::string::npos) last = line;
  return last.substr(0, 300);
}

}  // namespace collage
