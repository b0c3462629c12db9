#include "search/genome.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>

#include <fmt/format.h>

namespace collage {
namespace {

constexpr std::array<std::string_view, 3> kKindNames = {"level1", "only", "region"};

/// Drops empty segments and joins neighbours that mean the same as one.
Genome canonical(std::vector<Segment> segments) {
  Genome genome;
  for (Segment& segment : segments) {
    if (segment.begin == segment.end) continue;
    Segment* last = genome.segments.empty() ? nullptr : &genome.segments.back();
    if (last != nullptr && last->owner == segment.owner && segment.owner.kind != OwnerKind::kRegion)
      last->end = segment.end;
    else
      genome.segments.push_back(std::move(segment));
  }
  return genome;
}

/// What lies in [begin, end), segments at the ends cut off.
void append_part(const Genome& genome, std::size_t begin, std::size_t end, std::vector<Segment>& to) {
  for (const Segment& segment : genome.segments)
    if (segment.begin < end && segment.end > begin)
      to.push_back({std::max(segment.begin, begin), std::min(segment.end, end), segment.owner});
}

std::optional<Segment> parse_segment(std::string_view line) {
  Segment segment;
  for (std::size_t* position : {&segment.begin, &segment.end}) {
    const auto [rest, error] = std::from_chars(line.data(), line.data() + line.size(), *position);
    if (error != std::errc()) return std::nullopt;
    line.remove_prefix(static_cast<std::size_t>(rest - line.data()));
    if (line.empty() || line.front() != ' ') return std::nullopt;
    line.remove_prefix(1);
  }
  const std::size_t space = line.find(' ');
  const auto kind = std::ranges::find(kKindNames, line.substr(0, space));
  if (kind == kKindNames.end()) return std::nullopt;
  segment.owner.kind = static_cast<OwnerKind>(kind - kKindNames.begin());
  if (space != std::string_view::npos) segment.owner.backend = line.substr(space + 1);
  const bool named = segment.owner.kind != OwnerKind::kLevel1;
  if (named == segment.owner.backend.empty()) return std::nullopt;
  return segment;
}

}  // namespace

Genome genome_of_one(std::size_t nodes, const Owner& owner) { return canonical({{0, nodes, owner}}); }

Genome merged(Genome genome, std::size_t first, const Owner& owner) {
  COLLAGE_CHECK(first + 1 < genome.segments.size(), "two segments");
  genome.segments[first].end = genome.segments[first + 1].end;
  genome.segments[first].owner = owner;
  genome.segments.erase(genome.segments.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return canonical(std::move(genome.segments));
}

Genome assigned(const Genome& genome, std::size_t begin, std::size_t end, const Owner& owner) {
  std::vector<Segment> segments;
  append_part(genome, 0, begin, segments);
  segments.push_back({begin, end, owner});
  append_part(genome, end, genome.nodes(), segments);
  return canonical(std::move(segments));
}

Genome split(const Genome& genome, std::size_t position) {
  std::vector<Segment> segments;
  append_part(genome, 0, position, segments);
  append_part(genome, position, genome.nodes(), segments);
  return canonical(std::move(segments));
}

Genome with_border_at(Genome genome, std::size_t second, std::size_t position) {
  COLLAGE_CHECK(second > 0 && second < genome.segments.size(), "a border between two segments");
  Segment& left = genome.segments[second - 1];
  Segment& right = genome.segments[second];
  left.end = right.begin = std::clamp(position, left.begin, right.end);
  return canonical(std::move(genome.segments));
}

std::vector<std::size_t> common_borders(const Genome& a, const Genome& b) {
  const auto borders = [](const Genome& genome) {
    std::vector<std::size_t> positions = {0};
    for (const Segment& segment : genome.segments) positions.push_back(segment.end);
    return positions;
  };
  std::vector<std::size_t> common;
  std::ranges::set_intersection(borders(a), borders(b), std::back_inserter(common));
  return common;
}

Genome crossed(const Genome& a, const Genome& b, std::size_t begin, std::size_t end) {
  std::vector<Segment> segments;
  append_part(a, 0, begin, segments);
  append_part(b, begin, end, segments);
  append_part(a, end, a.nodes(), segments);
  return canonical(std::move(segments));
}

std::string to_text(const Genome& genome) {
  std::string text;
  for (const Segment& segment : genome.segments) {
    text +=
        fmt::format("{} {} {}", segment.begin, segment.end, kKindNames[static_cast<std::size_t>(segment.owner.kind)]);
    if (!segment.owner.backend.empty()) text += " " + segment.owner.backend;
    text += "\n";
  }
  return text;
}

Result<Genome> parse_genome(std::string_view text, std::size_t nodes) {
  Genome genome;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t line_end = std::min(rest.find('\n'), rest.size());
    std::optional<Segment> segment = parse_segment(rest.substr(0, line_end));
    if (!segment || segment->begin != genome.nodes() || segment->begin >= segment->end)
      return fail(ExitCode::kBadInput, "search/bad-genome", "genome", std::string(rest.substr(0, line_end)),
                  "BEGIN END level1|only NAME|region NAME, without gaps");
    genome.segments.push_back(std::move(*segment));
    rest.remove_prefix(std::min(line_end + 1, rest.size()));
  }
  if (genome.nodes() != nodes)
    return fail(ExitCode::kBadInput, "search/bad-genome", "genome", std::to_string(genome.nodes()) + " nodes",
                std::to_string(nodes) + " nodes");
  return canonical(std::move(genome.segments));
}

}  // namespace collage
