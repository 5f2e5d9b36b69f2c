/** What every conversation behind the bridge is asked again and again. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { Talk } from "./agent-rig.ts";
import { type BridgeRig, filesIn } from "./bridge-rig.ts";
import type { FakeModel } from "./fake-model.ts";
import type { AgentName } from "./install.ts";
import { at, textAt } from "./json.ts";

/** The answer is right, and it is because the model was sent what was said in the first turn. */
export async function recalls(host: Talk, model: FakeModel, mark: string): Promise<readonly unknown[]> {
  const { said, updates } = await host.prompt(`what is color? #${mark}`);
  expect(said).toContain(`color is blue #${mark}`);
  const sent = model.requests().at(-1);
  expect(sent?.prompt).toContain(`#${mark}`);
  expect(sent?.said.join("\n")).toContain("color=blue");
  return updates;
}

/** What the person said, as a host was shown it. */
export function askedIn(updates: readonly unknown[]): readonly string[] {
  return updates
    .filter((update) => at(update, "sessionUpdate") === "user_message_chunk")
    .map((update) => textAt(update, "content", "text"));
}

/** Deletes everything an agent keeps of its sessions; it must not run. */
export function forgetAll(rig: BridgeRig, agent: AgentName): void {
  const files = storedBy(rig, agent);
  expect(files).not.toEqual([]);
  for (const file of files) rmSync(file);
}

/** The files an agent keeps its sessions in. */
export function storedBy(rig: BridgeRig, agent: AgentName): readonly string[] {
  const inHome = (...path: readonly string[]): string => join(rig.home.path, ...path);
  switch (agent) {
    case "claude":
      return rig.transcripts();
    case "codex":
      return filesIn(inHome(".codex", "sessions"), ".jsonl");
    case "opencode":
      return ["db", "db-wal", "db-shm"].flatMap((ending) =>
        filesIn(inHome(".local", "share", "opencode"), `opencode.${ending}`),
      );
    case "gemini":
      return filesIn(inHome(".gemini", "tmp"), ".jsonl");
  }
}
