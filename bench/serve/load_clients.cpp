#include "bench/serve/load_clients.h"

#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include <httplib.h>

namespace collage::load {
namespace {

using Clock = std::chrono::steady_clock;

/// Runs of several requests at once may round differently.
bool is_same_output(ElementType type, std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  if (type != ElementType::kFloat32) return true;
  double largest = 0;
  double difference = 0;
  for (std::size_t at = 0; at < a.size(); at += sizeof(float)) {
    float x;
    float y;
    std::memcpy(&x, a.data() + at, sizeof x);
    std::memcpy(&y, b.data() + at, sizeof y);
    largest = std::max(largest, static_cast<double>(std::abs(x)));
    difference = std::max(difference, static_cast<double>(std::abs(x - y)));
  }
  return difference <= 1e-3 * largest + 1e-6;
}

bool is_right(const LoadSubject& subject, const httplib::Response& response) {
  const auto text = response.get_header_value<std::uint64_t>("Inference-Header-Content-Length");
  std::string_view left = response.body;
  if (text == 0 || text > left.size()) return false;
  left.remove_prefix(text);
  for (std::size_t o = 0; o < subject.outputs.size(); ++o) {
    const std::string& expected = subject.outputs[o];
    if (left.size() < expected.size()) return false;
    if (!is_same_output(subject.output_types[o], expected, left.substr(0, expected.size()))) return false;
    left.remove_prefix(expected.size());
  }
  return left.empty();
}

class LoadClient {
 public:
  LoadClient(const LoadSubject& subject, int port, double malformed, unsigned seed)
      : subject_(subject), client_("127.0.0.1", port), random_(seed), malformed_(malformed) {
    client_.set_keep_alive(true);
    client_.set_tcp_nodelay(true);
    client_.set_read_timeout(60);
  }

  void run(Clock::time_point end) {
    std::bernoulli_distribution is_malformed(malformed_);
    while (Clock::now() < end) is_malformed(random_) ? send_malformed() : send_good();
  }

  Seen seen;
  std::vector<double> times;

 private:
  httplib::Result send(const std::string& body, std::size_t json_bytes) {
    return client_.Post("/v2/models/model/infer", {{"Inference-Header-Content-Length", std::to_string(json_bytes)}},
                        body, "application/octet-stream");
  }

  void send_good() {
    const Clock::time_point begin = Clock::now();
    const auto result = send(subject_.body, subject_.json.size());
    const double took = std::chrono::duration<double>(Clock::now() - begin).count();
    if (!result) {
      ++seen.lost;
    } else if (result->status == 429 || result->status == 503) {
      ++seen.refused;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    } else if (result->status != 200) {
      ++seen.failed;
    } else {
      ++(is_right(subject_, *result) ? seen.answered : seen.wrong);
      times.push_back(took);
    }
  }

  /// Cut, with bytes of its text changed, or with another length of it.
  void send_malformed() {
    std::string body = subject_.body;
    std::size_t json_bytes = subject_.json.size();
    const auto draw = [this](std::size_t bound) { return static_cast<std::size_t>(random_()) % bound; };
    switch (draw(3)) {
      case 0:
        body.resize(draw(body.size()));
        break;
      case 1:
        for (int i = 0; i < 3; ++i) body[draw(json_bytes)] = static_cast<char>(draw(256));
        break;
      default:
        json_bytes = draw(2 * body.size());
    }
    const auto result = send(body, json_bytes);
    if (!result || result->status >= 500)
      ++seen.malformed_failed;
    else
      ++(result->status == 200 ? seen.malformed_answered : seen.malformed);
  }

  const LoadSubject& subject_;
  httplib::Client client_;
  std::mt19937 random_;
  const double malformed_;
};

void add(Seen& sum, const Seen& one) {
  sum.answered += one.answered;
  sum.wrong += one.wrong;
  sum.refused += one.refused;
  sum.failed += one.failed;
  sum.lost += one.lost;
  sum.malformed += one.malformed;
  sum.malformed_answered += one.malformed_answered;
  sum.malformed_failed += one.malformed_failed;
}

}  // namespace

Seen run_clients(const LoadSubject& subject, int port, const ClientOptions& options,
                 const std::function<void()>& watch) {
  std::vector<std::unique_ptr<LoadClient>> clients;
  for (int c = 0; c < options.clients; ++c)
    clients.push_back(std::make_unique<LoadClient>(subject, port, options.malformed, static_cast<unsigned>(c + 1)));
  const Clock::time_point begin = Clock::now();
  const Clock::time_point end =
      begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options.seconds));
  std::vector<std::thread> threads;
  for (const auto& client : clients) threads.emplace_back([&client, end] { client->run(end); });
  while (Clock::now() < end) {
    std::this_thread::sleep_until(std::min(end, Clock::now() + std::chrono::seconds(1)));
    watch();
  }
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  Seen sum;
  std::vector<double> times;
  for (const auto& client : clients) {
    add(sum, client->seen);
    times.insert(times.end(), client->times.begin(), client->times.end());
  }
  sum.speed = speed_of(times, seconds);
  return sum;
}

}  // namespace collage::load
