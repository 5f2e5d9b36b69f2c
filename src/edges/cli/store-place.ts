import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { LogError } from "#log/errors";

/** Refuses an address whose place cannot hold such a store: a mistake in the call, not a store that failed. */
export function checkStorePlace(address: string): void {
  const [, kind, place = ""] = /^(sqlite|jsonl):(.+)$/s.exec(address) ?? [];
  if (kind === undefined) return;
  const path = resolve(place);
  if (kind === "sqlite" && isFolder(path) === true)
    throw new LogError(
      "invalid_request",
      `${place} is a folder; sqlite: wants a file, such as sqlite:${place.replace(/(?<!\/)\/+$/, "")}/holdfast.db`,
      { store: address },
    );
  const blocked = fileOnTheWay(kind === "sqlite" ? dirname(path) : path);
  if (blocked !== null)
    throw new LogError(
      "invalid_request",
      kind === "jsonl" && blocked === path
        ? `${place} is a file; jsonl: wants a folder`
        : `${blocked} is a file, so there can be no store at ${place}`,
      { store: address },
    );
}

/** The nearest thing on the way up that exists, if it is no folder. */
function fileOnTheWay(path: string): string | null {
  for (let at = path; ; at = dirname(at)) {
    const found = isFolder(at);
    if (found !== null) return found ? null : at;
    if (at === dirname(at)) return null;
  }
}

function isFolder(path: string): boolean | null {
  try {
    return statSync(path).isDirectory();
  } catch {
    return null;
  }
}
