/** What tells the agents apart on the wire: what they can do, how their ids look, how they say "unknown". */
import { randomBytes, randomUUID } from "node:crypto";
import { Refusal } from "./wire.ts";

export const CAPS = ["load", "resume", "fork", "list", "close", "delete"] as const;
export type Cap = (typeof CAPS)[number];
export const LIKES = ["claude", "codex", "opencode", "gemini", "plain"] as const;
export type Like = (typeof LIKES)[number];

export interface Flavour {
  readonly like: Like;
  readonly info: { readonly name: string; readonly title: string; readonly version: string };
  readonly caps: readonly Cap[];
  newId(): string;
  readonly messageIds: boolean;
  /** Settings as config options; else as modes alone. */
  readonly options: boolean;
  /** The session is there only once it was prompted. */
  readonly bornOnPrompt: boolean;
  /** A second prompt waits its turn; else it is refused. */
  readonly queues: boolean;
  /** A session that one process has opened cannot be opened by another as long as that lives. */
  readonly soleClient: boolean;
  /** Says what it says of a session it does not know. */
  unknown(method: string, id: string, cwd: string): Refusal;
}

/** A uuid whose first bytes are the time, as Codex makes them. */
function uuid7(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  const random = randomBytes(10).toString("hex");
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-a${random.slice(3, 6)}-${random.slice(6, 18)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function notFound(id: string): Refusal {
  return new Refusal(-32002, `Resource not found: ${id}`, { sessionId: id });
}

function internal(details: string): Refusal {
  return new Refusal(-32603, "Internal error", { details });
}

const ALL: readonly Cap[] = CAPS;

export const FLAVOURS: { readonly [L in Like]: Flavour } = {
  claude: {
    like: "claude",
    info: { name: "@agentclientprotocol/claude-agent-acp", title: "Claude Agent", version: "0.99.0" },
    caps: ALL,
    newId: () => randomUUID(),
    messageIds: true,
    options: true,
    bornOnPrompt: true,
    queues: true,
    soleClient: false,
    unknown: (method, id, cwd) => {
      if (method === "session/fork")
        return internal(`Session ${id} not found in project directory for ${cwd}`);
      if (method === "session/resume" && !UUID.test(id))
        return internal(
          `--resume requires a valid session ID when used with --print. Provided value "${id}"`,
        );
      return notFound(id);
    },
  },
  codex: {
    like: "codex",
    info: { name: "@agentclientprotocol/codex-acp", title: "Codex", version: "2.6.0" },
    caps: ALL,
    newId: uuid7,
    messageIds: true,
    options: true,
    bornOnPrompt: false,
    queues: false,
    soleClient: true,
    unknown: (method, id) =>
      method === "session/prompt" ? notFound(id) : internal(`no rollout found for thread id ${id}`),
  },
  opencode: {
    like: "opencode",
    info: { name: "OpenCode", title: "OpenCode", version: "1.18.33" },
    caps: ["load", "resume", "fork", "list", "close"],
    newId: () => `ses_${randomBytes(13).toString("hex")}`,
    messageIds: true,
    options: true,
    bornOnPrompt: false,
    queues: false,
    soleClient: false,
    unknown: (method, id) =>
      method === "session/prompt"
        ? new Refusal(-32602, "Invalid params", { sessionId: id })
        : new Refusal(-32603, "OpenCode service failure", { service: "session", errorName: "NotFoundError" }),
  },
  gemini: {
    like: "gemini",
    info: { name: "gemini-cli", title: "Gemini CLI", version: "0.61.0" },
    caps: ["load"],
    newId: () => randomUUID(),
    messageIds: false,
    options: false,
    bornOnPrompt: false,
    queues: false,
    soleClient: false,
    unknown: (method, id) =>
      method === "session/prompt"
        ? new Refusal(-32602, `Session not found: ${id}`)
        : internal(`Invalid session identifier "${id}".`),
  },
  plain: {
    like: "plain",
    info: { name: "plain-agent", title: "Plain", version: "1.0.0" },
    caps: [],
    newId: () => `plain-${randomUUID()}`,
    messageIds: false,
    options: false,
    bornOnPrompt: false,
    queues: false,
    soleClient: false,
    unknown: (_method, id) => notFound(id),
  },
};
