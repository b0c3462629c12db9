#!/usr/bin/env python3
"""Makes the file of what tunes have shown of the cost model's effects, which an installation begins with.

In:  cost stores of tunes, of any machines. Out: lib/collage/priors.json of the product (src/tune/price/shipped_effects.h).
How: each tune keeps, for its model, the effects of backends, implementations and kinds of operators and how certain they
     are (src/tune/price/pricing_memory.h). Here they are pooled by class of processor and number of threads, with a
     deviation between models, as the product pools those of its own store (src/tune/price/effect_table.h). Effects that
     are hardly certain, or were seen in one tune alone, are left out. Sections of the file for classes and numbers of
     threads that no store has stay as they are. With --add the others are pooled with what the stores show, whose models
     must be others than those of the file; without it they are replaced.

    tools/train_priors.py --out src/tune/price/priors.json costs.sqlite other-machine.sqlite
"""

import argparse
import collections
import json
import pathlib
import sqlite3

SCHEMA = "collage.priors/1"
BETWEEN_MODELS = 0.1
FEWEST_TUNES = 2
MOST_BYTES = 2 << 20


def records_of(store):
    """(class of processor, threads), hash of the model, effects: of each model and accuracy class that was tuned."""
    with sqlite3.connect(f"file:{store}?mode=ro", uri=True) as connection:
        rows = connection.execute("SELECT key, json FROM verdicts WHERE key LIKE 'effects %' ORDER BY key")
        for key, text in rows:
            record = json.loads(text)
            yield (record["processor"], record["threads"]), key.rpartition(" graph=")[2], record["learnt"]


def pooled(tunes):
    """Means by weight, as pooled_effects() of the product."""
    seen = collections.defaultdict(list)
    for effects in tunes:
        for name, (mean, weight) in effects.items():
            if weight > 0:
                seen[name].append((mean, 1 / (BETWEEN_MODELS**2 + 1 / weight)))
    out = {}
    for name, known in sorted(seen.items()):
        if len(known) < FEWEST_TUNES:
            continue
        weight = sum(w for _, w in known)
        out[name] = [round(sum(m * w for m, w in known) / weight, 3), round(weight, 1)]
    return out


def priors_of(stores, before=None, adds=False):
    """`before`: sections by group, for groups that no store has, or with `adds` for all; none by default."""
    tunes = collections.defaultdict(list)
    models = collections.defaultdict(set)
    for store in stores:
        for group, model, effects in records_of(store):
            tunes[group].append(effects)
            models[group].add(model)
    new = {group: {"processor": group[0], "threads": group[1], "models": len(models[group]), "effects": pooled(tunes[group])}
           for group in tunes}
    if adds:
        new = {group: added(before[group], section) if group in before else section for group, section in new.items()}
    return {"schema": SCHEMA, "sections": [section for _, section in sorted(((before or {}) | new).items())]}


def added(before, new):
    """What two sections of one class say together: weights add up."""
    effects = dict(before["effects"])
    for name, (mean, weight) in new["effects"].items():
        known_mean, known_weight = effects.get(name, (0, 0))
        both = weight + known_weight
        effects[name] = [round((mean * weight + known_mean * known_weight) / both, 3), round(both, 1)]
    return before | {"models": before["models"] + new["models"], "effects": dict(sorted(effects.items()))}


def sections_in(file):
    if not file.exists():
        return {}
    return {(section["processor"], section["threads"]): section for section in json.loads(file.read_text())["sections"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="+", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--add", action="store_true", help="pool with the sections of the file")
    options = parser.parse_args()
    priors = priors_of(options.stores, sections_in(options.out), options.add)
    text = json.dumps(priors, separators=(",", ":")) + "\n"
    if len(text) > MOST_BYTES:
        raise SystemExit(f"{len(text)} bytes are more than {MOST_BYTES}")
    options.out.write_text(text)
    for section in priors["sections"]:
        print(f"{section['processor']}, {section['threads']} threads: {len(section['effects'])} effects of "
              f"{section['models']} models")
    print(f"{options.out}: {len(text)} bytes")


if __name__ == "__main__":
    main()
