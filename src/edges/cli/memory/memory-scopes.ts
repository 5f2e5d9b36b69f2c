import { Memory, type MemoryScope, scopeLog } from "#agent/memory/memory";
import { normalizeKey } from "#agent/memory/memory-rules";
import type { Project } from "#log/entry";
import { LogError } from "#log/errors";
import { type Call, remark } from "#edges/cli/command";
import { openHoldfast } from "#open";

export async function scopesOf(call: Call, memory: Memory): Promise<readonly MemoryScope[]> {
  const asked = scopeFlag(call);
  if (asked === "user") return ["user"];
  const project = await projectOf(call, memory);
  if (project === null && asked === "project") throw noFolder(call);
  const own = project === null ? [] : [{ project: project.id }];
  return asked === "project" ? own : ["user", ...own];
}

export async function oneScope(call: Call, memory: Memory): Promise<MemoryScope> {
  if (scopeFlag(call) !== "project") return "user";
  const project = await projectOf(call, memory);
  if (project === null) throw noFolder(call);
  return { project: project.id };
}

function scopeFlag({ flags }: Call): string | null {
  const scope = flags.text("scope") ?? null;
  if (scope === null || scope === "user" || scope === "project") return scope;
  throw new LogError("invalid_request", `--scope takes user or project, not "${scope}"`);
}

export function projectOf(call: Call, memory: Memory): Promise<Project | null> {
  return memory.projectOf(call.flags.text("folder") ?? process.cwd());
}

export function noFolder(call: Call): LogError {
  return new LogError("invalid_request", `There is no folder ${call.flags.text("folder") ?? process.cwd()}`);
}

interface Wanted {
  readonly keys: readonly string[];
  /** Whether removed ones are looked among, too, or alone. */
  readonly removedToo: boolean | "only";
}

/** Where each key is; one that is in both scopes is not guessed. */
export async function findMemories(
  call: Call,
  memory: Memory,
  { keys, removedToo }: Wanted,
): Promise<ReadonlyMap<MemoryScope, readonly string[]>> {
  const found = new Map<MemoryScope, string[]>();
  const scopes = await scopesOf(call, memory);
  for (const key of keys.map(normalizeKey)) {
    const having: MemoryScope[] = [];
    for (const scope of scopes) {
      const live = removedToo === "only" ? [] : await memory.list(scope);
      const removed = removedToo === false ? [] : await memory.list(scope, { removed: true });
      if ([...live, ...removed].some((one) => one.key === key)) having.push(scope);
    }
    const [only] = having;
    if (only === undefined)
      throw new LogError(
        "entry_not_found",
        `Nothing is ${removedToo === "only" ? "removed" : "remembered"} under ${key} here; nothing was changed`,
        { memory: key },
      );
    if (having.length > 1)
      throw new LogError(
        "ambiguous_id",
        `${key} is remembered of the user and of the project; say which with --scope`,
        { memory: key },
      );
    found.set(only, [...(found.get(only) ?? []), key]);
  }
  return found;
}

/** An erasure that was cut off hides what it is about; whoever sees it gone is told no lie: it is finished, or said. */
export async function finishErasing(call: Call, memory: Memory, scope: MemoryScope): Promise<void> {
  if ((await scopeLog(memory, scope).read()).erasing === null) return;
  try {
    await using writable = await openHoldfast({ store: call.store, space: call.space });
    await new Memory(writable).list(scope);
    await remark(call, "An erasure had been cut off; it is finished now.");
  } catch {
    await remark(
      call,
      "An erasure was cut off, and this store cannot be written now: the words are still in it.",
    );
  }
}
