import type { ContractSubject } from "#store/contract/rig";
import { join } from "node:path";
import { jsonlStore } from "#stores/jsonl/index";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { sqliteStore } from "#stores/sqlite/index";
import { tempDir } from "./temp-dir.ts";

export interface NamedSubject {
  readonly name: string;
  readonly durable: boolean;
  make(): Disposable & ContractSubject;
}

/** Every store that needs no server, over data of its own: what runs here runs on all of them. */
export const subjects: readonly NamedSubject[] = [
  {
    name: "memory",
    durable: false,
    make() {
      const backing = inMemoryBacking();
      return {
        open: async (nowMs) => inMemoryStore({ backing, nowMs }),
        [Symbol.dispose]: () => backing.spaces.clear(),
      };
    },
  },
  {
    name: "sqlite",
    durable: true,
    make() {
      const dir = tempDir();
      return {
        open: async (nowMs) => sqliteStore({ path: join(dir.path, "holdfast.db"), nowMs }),
        [Symbol.dispose]: () => dir[Symbol.dispose](),
      };
    },
  },
  {
    name: "jsonl",
    durable: true,
    make() {
      const dir = tempDir();
      return {
        open: async (nowMs) => jsonlStore({ dir: join(dir.path, "store"), nowMs }),
        [Symbol.dispose]: () => dir[Symbol.dispose](),
      };
    },
  },
];
