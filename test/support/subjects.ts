import type { ContractSubject } from "../../src/store/contract/index.ts";
import { memoryBacking, memoryStore } from "../../src/stores/memory/index.ts";

export interface NamedSubject {
  readonly name: string;
  readonly durable: boolean;
  make(): Disposable & ContractSubject;
}

/** Every store, over data of its own: what runs here runs on all of them. */
export const subjects: readonly NamedSubject[] = [
  {
    name: "memory",
    durable: false,
    make() {
      const backing = memoryBacking();
      return {
        open: async (nowMs) => memoryStore({ backing, nowMs }),
        [Symbol.dispose]: () => backing.spaces.clear(),
      };
    },
  },
];
