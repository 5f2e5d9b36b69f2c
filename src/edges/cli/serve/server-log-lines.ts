import type { LogFields, LogLevel } from "#edges/http/server-log";
import type { ServerLog } from "#edges/http/index";
import { LogError } from "#log/errors";
import { safeText } from "#transfer/shown/shown-text";
import type { Call, Flags } from "#edges/cli/command";

const LEVELS: readonly LogLevel[] = ["debug", "info", "warn", "error"];
const FORMATS = ["text", "json"] as const;

/** Writes what a server logs to stderr, as `--log-format` and `--log-level` say: one line for each event. */
export function logLines({ flags, io }: Call, ordinary: LogLevel): ServerLog {
  const format = oneOf(flags, "log-format", FORMATS) ?? "text";
  const least = LEVELS.indexOf(oneOf(flags, "log-level", LEVELS) ?? ordinary);
  return (level, message, fields) => {
    if (LEVELS.indexOf(level) < least) return;
    const time = new Date().toISOString();
    const line =
      format === "json"
        ? JSON.stringify({ time, level, message, ...fields })
        : `${time} ${level.padEnd(5)} ${message} ${textOf(fields)}`.trimEnd();
    void io.err.write(`${line}\n`);
  };
}

function oneOf<T extends string>(flags: Flags, name: string, allowed: readonly T[]): T | undefined {
  const given = flags.text(name);
  const found = allowed.find((one) => one === given);
  if (given !== undefined && found === undefined)
    throw new LogError("invalid_request", `Invalid --${name} "${given}". Use ${allowed.join(", ")}.`, {
      option: name,
    });
  return found;
}

/** `name=value` pairs; an error last, as it reads. Text of clients is quoted, so that no line can be forged. */
function textOf({ error, ...fields }: LogFields): string {
  const pairs = Object.entries(fields).flatMap(([name, value]) => {
    if (value === undefined || value === null) return [];
    const isPlain = typeof value !== "object" && /^[\w.:/@-]{1,256}$/.test(String(value));
    return [`${name}=${isPlain ? String(value) : safeText(JSON.stringify(value))}`];
  });
  const reason = typeof error === "string" ? [safeText(error)] : [];
  return [...pairs, ...reason].join(" ");
}
