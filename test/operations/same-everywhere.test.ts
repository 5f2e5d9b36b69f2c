import { join } from "node:path";
import { afterAll } from "vitest";
import { tempDir } from "../support/temp-dir.ts";
import { sameEverywhere } from "./same-everywhere.ts";

const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());

sameEverywhere("sqlite", () => `sqlite:${join(folder.path, "store.db")}`);
