/**
 * Goal: whoever holds one space learns nothing of another one and changes nothing in it, whatever names he has heard of it.
 * Method: every verb as data, with stolen ids in every place that takes one, in a store that has the other space and in one that has not:
 * each answer must be the same. Afterwards the other space is compared with what it was, by the port and by its bytes.
 */
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import { parseSpaceId } from "#log/ids";
import { decorateStore } from "#store/decorate";
import { VERBS } from "#store/facets";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { jsonlStore } from "#stores/jsonl/index";
import { sqliteStore } from "#stores/sqlite/index";
import { filesUnder } from "../support/files-under.ts";
import { HOLDFAST_PROBES, MEMORY_PROBES, methodsOf } from "../support/probes/holdfast-probes.ts";
import { type ProbedStore, probeStore } from "../support/probes/probe-spaces.ts";
import { OTHER } from "../support/probes/stolen-ids.ts";
import { VERB_PROBES } from "../support/probes/verb-probes.ts";
import { tempDir } from "../support/temp-dir.ts";

test("every verb of the port, of Holdfast and of Memory has its probe", () => {
  expect(Object.keys(VERB_PROBES).toSorted()).toEqual(VERBS.toSorted());
  expect(Object.keys(HOLDFAST_PROBES).toSorted()).toEqual(methodsOf(Holdfast).toSorted());
  expect(Object.keys(MEMORY_PROBES).toSorted()).toEqual([...methodsOf(Memory), "nowMs"].toSorted());
});

function inMemory(): ProbedStore {
  return {
    async make() {
      const backing = inMemoryBacking();
      return { open: async (nowMs) => inMemoryStore({ backing, nowMs }) };
    },
  };
}

/** The rows of the space's conversations, of every table that has some. */
function sqliteRows(path: string): string {
  using db = new DatabaseSync(path, { readOnly: true });
  const own = "(SELECT row FROM conversations WHERE space = ?)";
  const tables = db
    .prepare("SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c ON c.name = 'conversation'")
    .all()
    .map(({ name }) => `SELECT * FROM ${String(name)} WHERE conversation IN ${own}`);
  const asked = [`SELECT * FROM conversations WHERE row IN ${own}`, ...tables];
  return JSON.stringify(asked.map((text) => db.prepare(text).all(OTHER)));
}

const reference = inMemory();

describe("stolen ids", () => {
  test("lead nowhere in memory", async () => {
    const { leaks, changed, outcomes } = await probeStore(inMemory(), reference);
    expect([leaks, changed]).toEqual([[], false]);
    expect(Object.values(outcomes).filter((outcome) => Object(outcome).thrown !== undefined)).toEqual([]);
  });

  test("lead nowhere in SQLite", async () => {
    using dir = tempDir();
    let made = 0;
    const path = (): string => join(dir.path, `${made}.db`);
    const { leaks, changed } = await probeStore({
      async make() {
        made++;
        return { open: async (nowMs) => sqliteStore({ path: path(), nowMs }) };
      },
      bytes: async () => sqliteRows(path()),
    });
    expect([leaks, changed]).toEqual([[], false]);
  });

  test("lead nowhere in JSONL", async () => {
    using dir = tempDir();
    let made = 0;
    const folder = (): string => join(dir.path, String(made));
    const { leaks, changed } = await probeStore({
      async make() {
        made++;
        return { open: async (nowMs) => jsonlStore({ dir: folder(), nowMs }) };
      },
      bytes: async () =>
        JSON.stringify(
          filesUnder(join(folder(), OTHER))
            .filter((path) => statSync(path).isFile())
            .toSorted()
            .map((path) => [path, readFileSync(path, "latin1")]),
        ),
    });
    expect([leaks, changed]).toEqual([[], false]);
  });

  test("are noticed where a verb follows them: the probes can fail", async () => {
    // One verb at a time answers as if the thief were in the other space.
    const missed: string[] = [];
    for (const verb of VERBS) {
      const open = inMemory();
      const { leaks, changed } = await probeStore(
        {
          spoilt: true,
          async make() {
            const subject = await open.make();
            return {
              open: async (nowMs) => {
                const store = await subject.open(nowMs);
                const other = store.space(parseSpaceId(OTHER));
                return decorateStore(store, { verbs: () => ({ [verb]: other[verb] }) });
              },
            };
          },
        },
        reference,
      );
      if (leaks.length === 0 && !changed) missed.push(verb);
    }
    // Of a sound space a check has nothing to say.
    expect(missed).toEqual(["check"]);
  });
});
