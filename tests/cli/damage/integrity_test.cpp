// What changed since it was written is found by every command before a number is given.
#include <map>

#include "plan/file/plan_file.h"
#include "plan/file/zip.h"
#include "tests/cli/cli_fixture.h"
#include "tests/cli/models.h"
#include "tests/onnx/model_text.h"
#include "tests/support/flipped_file.h"
#include "tests/support/paths.h"

namespace collage::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

class DamagedMemberTest : public CliTest {
 protected:
  DamagedMemberTest() : model_(given("model.onnx", small_network())), plan_(file("model.collage")) {
    expect_good(tuned_once(model_, plan_, {"--only", "onednn"}));
  }

  /// Every command that takes a plan.
  std::vector<std::vector<std::string>> commands() const {
    return {{"run", plan_},
            {"bench", plan_, "--seconds", "0.05"},
            {"verify", plan_},
            {"explain", plan_},
            {"recheck", plan_},
            {"tune", model_, "--replay", plan_, "-o", file("again.collage"), "--quiet", "--store", "memory:"}};
  }

  /// Where the bytes of each member lie.
  std::map<std::string, std::size_t> middles() const {
    const Buffer whole = Buffer::map_file(plan_).value();
    std::map<std::string, std::size_t> places;
    const auto members = read_zip(whole, plan_);
    for (const ZipMember& member : members.value())
      places[member.name] = static_cast<std::size_t>(member.data.data() - whole.data()) + member.data.size() / 2;
    return places;
  }

  /// Where the bytes of each constant lie.
  std::map<std::string, std::size_t> constants() const {
    const Buffer whole = Buffer::map_file(plan_).value();
    const auto members = read_zip(whole, plan_);
    const RealisedPlan plan = load_plan(plan_).value();
    std::map<std::string, std::size_t> places;
    for (const ZipMember& member : members.value())
      if (member.name == "weights.bin")
        for (const auto& [index, tensor] : plan.constants)
          places[plan.plan.values[index].name] =
              static_cast<std::size_t>(member.data.data() - whole.data()) + plan.plan.values[index].offset;
    return places;
  }

  std::string numbers() const {
    const Ended ended = run({"run", plan_, "--output-dir", file("out")});
    if (ended.exit_code != 0) {
      expect_error(ended, 3, "plan/damaged", plan_);
      return "refused";
    }
    return read_all(file("out/output_0.npy"));
  }

  std::string model_;
  std::string plan_;
};

TEST_F(DamagedMemberTest, IsRefusedByEveryCommand) {
  const FlippedFile plan(plan_);
  std::size_t artifacts = 0;
  for (const auto& [name, at] : middles()) {
    if (name == "weights.bin" || (name.starts_with("artifacts/") && artifacts++ > 0)) continue;
    plan.flip(at, 4);
    for (const std::vector<std::string>& command : commands()) {
      SCOPED_TRACE(name + " " + command.front());
      expect_error(run(command), 3, "plan/damaged", plan_);
    }
    plan.flip(at, 4);
  }
  EXPECT_GT(artifacts, 0U);
  EXPECT_THAT(temporaries(), IsEmpty());
}

TEST_F(DamagedMemberTest, OfWeightsIsRefusedOrServesNoStep) {
  const std::string expected = numbers();
  ASSERT_NE(expected, "refused");
  const FlippedFile plan(plan_);
  const auto places = constants();
  EXPECT_GE(places.size(), 2U);
  std::size_t refused = 0;
  for (const auto& [name, at] : places) {
    SCOPED_TRACE(name);
    plan.flip(at + 2, 64);
    const std::string seen = numbers();
    refused += seen == "refused" ? 1 : 0;
    EXPECT_THAT(seen, ::testing::AnyOf("refused", expected));
    for (const std::vector<std::string>& command : commands())
      if (command.front() != "run") expect_error(run(command), 3, "plan/damaged", plan_);
    plan.flip(at + 2, 64);
  }
  EXPECT_GT(refused, 0U);
  EXPECT_EQ(numbers(), expected);
}

class WrongKindTest : public CliTest {};

TEST_F(WrongKindTest, OfFileIsNamedWithWhatToDo) {
  const std::string model = given("model.onnx", doubling());
  for (const std::string command : {"verify", "explain", "recheck"}) {
    const Ended ended = run({command, model});
    expect_error(ended, 3, "plan/is-a-model", model);
    EXPECT_THAT(ended.err, HasSubstr("an ONNX model, not a plan; allowed a plan; make one: collage tune " + model +
                                     " -o model.collage"));
  }
  const std::string plan = file("model.collage");
  expect_good(run(quick_tune(model, plan, {"--only", "onnxruntime"})));
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"check", plan}, quick_tune(plan, file("again.collage")),
        std::vector<std::string>{"verify", plan, "--model", plan}}) {
    const Ended ended = run(command);
    expect_error(ended, 3, "import/not-onnx", plan);
    EXPECT_THAT(ended.err, HasSubstr("a plan"));
  }
}

class PipeTest : public CliTest {
 protected:
  /// In a shell, where `collage` is the program and the folder the test's.
  Ended shell(const std::string& line) const {
    Program program(
        home(),
        {"-c", "cd '" + file("") + "'; collage() { '" + test::build_path("/bin/collage") + "' \"$@\"; }; " + line},
        "/bin/bash");
    return program.wait();
  }
};

TEST_F(PipeTest, GivesAModel) {
  const std::string model = given("model.onnx", small_network());
  expect_good(run({"run", model, "--output-dir", file("expected")}));
  const std::string expected = read_all(file("expected/output_0.npy"));
  const std::vector<std::string> lines = {
      "cat model.onnx | collage run - --output-dir out", "collage run - --output-dir out < model.onnx",
      "cat model.onnx | collage run /dev/stdin --output-dir out", "collage run <(cat model.onnx) --output-dir out"};
  for (const std::string& line : lines) {
    SCOPED_TRACE(line);
    expect_good(shell(line));
    EXPECT_EQ(read_all(file("out/output_0.npy")), expected);
    std::filesystem::remove_all(file("out"));
  }
  const Ended checked = shell("cat model.onnx | collage check -");
  expect_good(checked);
  EXPECT_EQ(checked.out, run({"check", model}).out);
}

TEST_F(PipeTest, GivesAModelToTuneAndBench) {
  (void)given("model.onnx", small_network());
  expect_good(
      shell("cat model.onnx | collage tune - -o plan.collage --budget 2s --quiet --store memory: --only onnxruntime"));
  const Ended verified = shell("collage verify plan.collage < /dev/null");
  expect_good(verified);
  EXPECT_THAT(verified.out, HasSubstr("the model came through a pipe; plan.onnx of the plan stands in"));
  const Ended with_model = shell("collage verify plan.collage --model model.onnx");
  expect_good(with_model);
  EXPECT_THAT(with_model.out, ::testing::Not(HasSubstr("stands in")));
  expect_good(shell("cat model.onnx | collage bench - --seconds 0.05"));
  expect_good(
      shell("collage tune <(cat model.onnx) -o again.collage --budget 2s --quiet --store memory: --only "
            "onnxruntime"));
  EXPECT_THAT(shell("collage verify again.collage").out, HasSubstr("the model came through a pipe"));
}

TEST_F(PipeTest, IsReadOnceForAllShapes) {
  (void)given("open.onnx", matmul_with_open_rows());
  expect_good(
      shell("cat open.onnx | collage tune - -o plan.collage --shape rows=1..4 --budget 4s --quiet --store memory: "
            "--only onnxruntime"));
  expect_good(shell("collage run plan.collage --shape rows=3"));
}

TEST_F(PipeTest, IsRefusedForPlansAndWhereItGivesNoModel) {
  (void)given("model.onnx", doubling());
  expect_good(shell("collage tune model.onnx -o plan.collage --budget 1s --quiet --store memory: --only onnxruntime"));
  expect_error(shell("cat plan.collage | collage run -"), 3, "import/not-onnx", "a plan");
  expect_error(shell("cat plan.collage | collage explain /dev/stdin"), 6, "io/cannot-read", "a pipe");
  expect_error(shell("collage check - < /dev/null"), 3, "import/empty", "-");
  expect_error(shell("head -c 60 model.onnx | collage check -"), 3, "import/truncated", "-");
}

class DamagedStoreTest : public CliTest {
 protected:
  DamagedStoreTest() : store_(file("costs.sqlite")) {
    (void)given("model.onnx", small_network());
    expect_good(made_once("store of onednn alone", [&] { return tune(); }));
  }

  Ended tune() const {
    return run({"tune", file("model.onnx"), "-o", file("model.collage"), "--budget", "5s", "--quiet", "--store", store_,
                "--only", "onednn", "--json", "-"});
  }
  nlohmann::json answer(std::vector<std::string> command) const {
    command.insert(command.end(), {"--store", store_, "--json", "-"});
    return parsed(run(command).out);
  }

  /// Another first digit in every time of every record.
  void change_times() const {
    std::string bytes = read_all(store_);
    for (const std::string key : {"_ns\":", "_us\":"})
      for (std::size_t at = bytes.find(key); at != std::string::npos; at = bytes.find(key, at + 1))
        if (char& digit = bytes[at + key.size()]; digit >= '1' && digit <= '8') ++digit;
    (void)given("costs.sqlite", bytes);
  }

  std::string store_;
};

TEST_F(DamagedStoreTest, IsNoAnswerForAnybody) {
  const nlohmann::json before = answer({"db", "stats"});
  ASSERT_EQ(before["set_aside"], 0);
  change_times();
  const nlohmann::json strategies = answer({"strategies"});
  EXPECT_EQ(strategies["schema"], "collage.strategies/1");
  EXPECT_TRUE(answer({"backends"}).contains("strikes"));
  EXPECT_LT(answer({"db", "list"})["found"], before["costs"]);
  EXPECT_LT(answer({"db", "export", file("costs.jsonl")})["costs"], before["costs"]);
  EXPECT_GT(answer({"db", "stats"})["set_aside"], 0);
  EXPECT_EQ(run({"db", "verify", "--store", store_}).exit_code, 1);
  const Ended again = tune();
  expect_good(again);
  EXPECT_GT(parsed(again.out)["measured"], 0);
  expect_good(run({"verify", file("model.collage")}));
}

TEST_F(DamagedStoreTest, IsToldByTheTuneThatFindsIt) {
  change_times();
  const Ended again = tune();
  expect_good(again);
  EXPECT_THAT(parsed(again.out)["notes"].dump(), HasSubstr("damaged records of the store were set aside"));
}

TEST_F(DamagedStoreTest, WithOtherArtifactsMakesThemAnew) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(store_ + ".files")) {
    const FlippedFile artifact(entry.path());
    artifact.flip(entry.file_size() / 2, 1);
    ++files;
  }
  ASSERT_GT(files, 0U);
  EXPECT_EQ(run({"db", "verify", "--store", store_}).exit_code, 1);
  expect_good(tune());
  expect_good(run({"verify", file("model.collage")}));
  expect_good(run({"tune", file("model.onnx"), "--replay", file("model.collage"), "-o", file("again.collage"),
                   "--quiet", "--store", store_}));
  expect_good(run({"verify", file("again.collage")}));
}

class ChangedModelTest : public CliTest {
 protected:
  /// small_network() with its large weights in `weights.bin` beside it.
  std::string with_external_weights(const std::string& checksum = "") const {
    ::onnx::ModelProto model;
    EXPECT_TRUE(model.ParseFromString(small_network()));
    std::string weights;
    for (auto& tensor : *model.mutable_graph()->mutable_initializer()) {
      const std::string bytes(reinterpret_cast<const char*>(tensor.float_data().data()),
                              static_cast<std::size_t>(tensor.float_data_size()) * sizeof(float));
      tensor.clear_float_data();
      tensor.set_data_location(::onnx::TensorProto::EXTERNAL);
      const auto add = [&](const std::string& key, const std::string& value) {
        auto* entry = tensor.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      };
      add("location", "weights.bin");
      add("offset", std::to_string(weights.size()));
      add("length", std::to_string(bytes.size()));
      if (!checksum.empty()) add("checksum", checksum);
      weights += bytes;
    }
    (void)given("weights.bin", weights);
    return given("model.onnx", bytes_of(model));
  }
};

TEST_F(ChangedModelTest, WithoutItsExternalDataIsRefused) {
  const std::string model = with_external_weights();
  expect_good(run({"run", model}));
  const std::string weights = read_all(file("weights.bin"));
  const auto expect_refused = [&](int exit_code, const std::string& code, const std::string& about) {
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"check", model}, {"run", model}, quick_tune(model, file("out.collage"))})
      expect_error(run(command), exit_code, code, about);
  };
  (void)given("weights.bin", weights.substr(0, weights.size() - 1));
  expect_refused(3, "import/external-data", "of 'weights.bin', which has " + std::to_string(weights.size() - 1));
  std::filesystem::remove(file("weights.bin"));
  expect_refused(6, "import/not-found", file("weights.bin"));
  (void)with_external_weights(std::string(40, '0'));
  expect_refused(3, "import/external-data", "SHA-1");
}

TEST_F(ChangedModelTest, IsFoundByVerifyAndBench) {
  const std::string model = with_external_weights();
  const std::string plan = file("plan.collage");
  expect_good(run(quick_tune(model, plan, {"--only", "onnxruntime"})));
  EXPECT_THAT(run({"verify", plan}).out, ::testing::Not(HasSubstr("note")));
  {
    const FlippedFile weights(file("weights.bin"));
    weights.flip(1, 1);
  }
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"verify", plan}, {"bench", plan, "--seconds", "0.05"}}) {
    const Ended ended = run(command);
    expect_good(ended);
    EXPECT_THAT(ended.out, HasSubstr("the file at " + model + " has changed since the plan was made"));
    expect_error(run({command.front(), plan, "--model", model}), 3, "plan/other-model", model);
  }
  std::filesystem::remove(file("weights.bin"));
  EXPECT_THAT(run({"verify", plan}).out, HasSubstr("the model at " + model + " cannot be read"));
}

}  // namespace
}  // namespace collage::testing
