import type { EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import type { ForkPoint, Head, Known } from "#log/lineage/head";

/** A fork shares its source up to one node and sees nothing the source, or anything above it, adds later. */
export function planFork(source: Head, at: Known): ForkPoint {
  if (at.place === null) {
    throw new LogError("unknown_target", `${at.id} is a fact; a fork grows from a node`, { target: at.id });
  }
  return { ...at.place, source: source.conversation, entry: at.id, head: source.headSeq };
}

/** The first entry of a fork's own log. */
export function originBody(point: ForkPoint, cwd: string | undefined): EntryBody {
  const origin = { conversation: point.source, entry: point.entry, head: point.head };
  return { type: "conversation", ...(cwd === undefined ? {} : { cwd }), origin };
}
