import type { Call } from "#edges/cli/command";
import { knownRecords } from "./native-records.ts";
import type { AgentRecords } from "#transfer/agent-sessions";

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
