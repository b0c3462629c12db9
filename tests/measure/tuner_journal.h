// What tuners that share a store did, written down by themselves and independent of the store: a line each, appended
// whole, so that the lines of all processes are in the order of what happened.
//   begin WHAT TUNER     a worker of this tuner begins to measure
//   ack WHAT NS TUNER    the tuner was given this time
//   kill TUNER           about to be killed
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "measure/jobs.h"

namespace collage::test {

inline constexpr const char* kJournalVariable = "COLLAGE_TEST_JOURNAL";
inline constexpr const char* kTunerVariable = "COLLAGE_TEST_TUNER";

inline void append_line(const std::string& file, const std::string& line) {
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (::write(descriptor, (line + "\n").data(), line.size() + 1) < 0) std::abort();
  ::close(descriptor);
}

/// A candidate of the small graph: "0,1/test:build=7".
inline std::string name_of_candidate(const std::vector<std::uint32_t>& nodes, const std::string& backend) {
  std::string name;
  for (const std::uint32_t node : nodes) name += (name.empty() ? "" : ",") + std::to_string(node);
  return name + "/" + backend;
}

/// Makes a worker's price jobs write down what they begin, when the environment names a journal.
inline void keep_journal(std::vector<Handler>& handlers) {
  const char* file = std::getenv(kJournalVariable);
  const char* tuner = std::getenv(kTunerVariable);
  if (file == nullptr || tuner == nullptr) return;
  for (Handler& handler : handlers) {
    if (handler.type != "price") continue;
    handler.run = [run = handler.run, path = std::string(file), who = std::string(tuner)](const Json& json,
                                                                                          JobContext& context) {
      if (const auto job = price_job_from(json))
        for (const CandidateSpec& candidate : job->candidates)
          append_line(path, "begin " + name_of_candidate(job->target.nodes, candidate.backend) + " " + who);
      return run(json, context);
    };
  }
}

/// Reads a journal line by line and remembers what must not be.
class JournalReader {
 public:
  void read(const std::string& line) {
    std::istringstream words(line);
    std::string act;
    std::string what;
    std::string last;
    words >> act >> what;
    if (act == "kill") killed_.insert(what);
    if (act == "begin") {
      words >> last;
      begin(what, last);
    }
    if (act == "ack" && words >> last) acknowledge(what, std::stoll(last));
  }

  /// Something is in the store: it counts as acknowledged.
  void acknowledge(const std::string& what, std::int64_t ns) {
    const auto [known, is_new] = acknowledged_.emplace(what, ns);
    if (!is_new && known->second != ns)
      faults_.push_back(what + " took " + std::to_string(ns) + ", but also " + std::to_string(known->second));
  }

  [[nodiscard]] const std::map<std::string, std::int64_t>& acknowledged() const { return acknowledged_; }
  [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
  [[nodiscard]] std::size_t begun() const { return begun_; }

 private:
  void begin(const std::string& what, const std::string& tuner) {
    ++begun_;
    if (acknowledged_.contains(what)) faults_.push_back(what + " was known and yet measured by " + tuner);
    for (const std::string& other : measured_by_[what])
      if (!killed_.contains(other)) faults_.push_back(what + " measured by " + tuner + ", but also by " + other);
    measured_by_[what].push_back(tuner);
  }

  std::map<std::string, std::int64_t> acknowledged_;
  std::map<std::string, std::vector<std::string>> measured_by_;
  std::set<std::string> killed_;
  std::vector<std::string> faults_;
  std::size_t begun_ = 0;
};

}  // namespace collage::test
