import { homedir } from "node:os";
import { join } from "node:path";
import type { Call } from "#edges/cli/command";
import type { AgentRecords } from "#transfer/agent-sessions";
import { VENDORS } from "#vendors/known-vendors";
import type { NativeStore } from "#vendors/native-store";
import type { Vendor } from "#vendors/vendor";

type Env = Readonly<Record<string, string | undefined>>;

/** Where an agent keeps its own histories; null where it cannot be read. */
export function nativeRecords({ records }: Vendor, env: Env): NativeStore | null {
  if (records === null) return null;
  return records.open(env[records.variable] ?? join(env["HOME"] ?? homedir(), records.folder));
}

/** Those of all agents whose records can be read. */
export function knownRecords(env: Env): AgentRecords {
  return new Map(
    VENDORS.flatMap((vendor) => {
      const records = nativeRecords(vendor, env);
      return records === null ? [] : [[vendor.name, records] as const];
    }),
  );
}

/**
 * What agents keep in a person's home is shown to that person alone: by `holdfast ui`, on a server that nobody else is told of. One that is
 * reached by other names serves whoever has a token for it.
 */
export function ownRecords({
  flags,
  io,
}: Pick<Call, "flags"> & { readonly io: Pick<Call["io"], "env"> }): AgentRecords {
  const isOwn =
    flags.has("supervised") &&
    flags.list("allow-host").length === 0 &&
    flags.text("public-url") === undefined;
  return isOwn ? knownRecords(io.env) : new Map();
}
