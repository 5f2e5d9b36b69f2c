import { afterEach, beforeEach } from "vitest";
import { briefMessages } from "#testing/vendors/records-cases";
import { claudeStore } from "#vendors/claude/claude-store";
import type { NativeStore } from "#vendors/native-store";
import { aHome, type Home, ID } from "../homes.ts";

/** What Claude keeps, in a folder that every test has for itself. */
export class ClaudeHome {
  #home: Home | null = null;
  #store: NativeStore | null = null;

  constructor() {
    beforeEach(() => {
      this.#home = aHome();
      this.#store = claudeStore({ configDir: this.#home.dir });
    });
    afterEach(() => this.#home?.[Symbol.dispose]());
  }

  get home(): Home {
    return there(this.#home);
  }

  get store(): NativeStore {
    return there(this.#store);
  }

  /** Puts a transcript where Claude would. */
  put(text: string, id: string = ID): string {
    return this.home.put(`projects/-home-user-project/${id}.jsonl`, text);
  }

  async readOf(text: string): Promise<readonly string[]> {
    this.put(text);
    return briefMessages(await this.store.read(ID));
  }
}

function there<T>(value: T | null): T {
  if (value === null) throw new Error("Only in a test");
  return value;
}
