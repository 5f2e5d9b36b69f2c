import { homedir } from "node:os";
import { join } from "node:path";
import type { AgentRecords } from "#transfer/agent-sessions";
import { VENDORS } from "#vendors/known-vendors";
import type { NativeStore } from "#vendors/records/native-store";
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
