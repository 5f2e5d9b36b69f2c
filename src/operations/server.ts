import { FORMAT_VERSION } from "#log/entry";
import { LogError } from "#log/errors";
import type { Finding } from "#store/requests";
import { SCHEMA_VERSION } from "#transfer/context-text";
import { type AgentView, operation } from "./operation.ts";
import {
  answer,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  open,
  optional,
  pageLimit,
  text,
} from "./schemas.ts";

/** One act, with the token that requested it and its outcome. */
export interface AuditLine {
  readonly time: string;
  /** The name of the token; `local` where a command or a program opened the store itself; null where no token was known. */
  readonly token: string | null;
  readonly space: string;
  readonly operation: string;
  readonly conversation: string | null;
  /** The token that was added or removed. */
  readonly target: string | null;
  readonly key: string | null;
  /** The client's, as the socket or a trusted proxy has it. */
  readonly address: string | null;
  /** `done`, the code of the error, or `intent`: the line was stored before the act. */
  readonly outcome: string;
  /** Of the answer over HTTP. */
  readonly status: number | null;
  /** How often; refused credentials are counted by minute and address. */
  readonly count: number;
}

/** What is served, and how much there is of it. */
export interface StoreView {
  readonly kind: string | null;
  readonly address: string | null;
  readonly bytes: number | null;
  /** Of entries, and of the objects that are answered. */
  readonly formatVersion: number;
  readonly schemaVersion: number;
  readonly conversations: number;
  /** Kept for programs, such as memory. */
  readonly unlisted: number;
  /** There are more than were counted. */
  readonly more: boolean;
  readonly damaged: readonly string[];
}

const server = { group: "Server", access: "read", kind: "read" } as const;
const figures = { group: "Figures", access: "read", kind: "read" } as const;
const AUDIT_PAGE = 100;
const COUNTED_MAX = 10_000; // conversations; of more the answer says so
const COUNTED_AT_ONCE = 500;

export const listAgents = operation({
  ...server,
  summary: "List the agents that run turns; the first is the default",
  http: "GET /api/agents",
  input: {},
  output: answer({
    agents: list(named("Agent", open<AgentView>({ agent: text(), models: list(text()) }))),
  }),
  run: async (_input, { turns }) => ({ agents: turns?.list() ?? [] }),
});

export const listAudit = operation({
  ...server,
  access: "admin",
  summary: "List the writes and exports of this space with their tokens and outcomes, oldest first",
  http: "GET /api/audit",
  cli: "audit",
  input: {
    month: optional(text({ pattern: /^\d{4}-\d{2}$/, about: "YYYY-MM (default: the current month)" })),
    after: optional(count({ about: "the `next` of the previous page" })),
    limit: optional(pageLimit),
  },
  output: answer({
    lines: list(
      named(
        "AuditLine",
        open<AuditLine>({
          time: text(),
          token: nullable(text()),
          space: text(),
          operation: text(),
          conversation: nullable(text()),
          target: nullable(text()),
          key: nullable(text()),
          address: nullable(text()),
          outcome: text(),
          status: nullable(count()),
          count: count(),
        }),
      ),
    ),
    next: nullable(count()),
  }),
  async run(input, { audit, holdfast }) {
    if (audit === undefined) throw new LogError("invalid_request", "This server has no audit log");
    return audit.read({ limit: AUDIT_PAGE, ...input, space: holdfast.spaceId });
  },
});

export const getStore = operation({
  ...figures,
  summary: "Show the store and its size; tokens with admin permission also see its location",
  http: "GET /api/store",
  input: {},
  output: answer({
    kind: nullable(text()),
    address: nullable(text()),
    bytes: nullable(count()),
    formatVersion: count(),
    schemaVersion: count(),
    conversations: count(),
    unlisted: count(),
    more: flag(),
    damaged: list(text()),
  }),
  async run(_input, { holdfast, place }): Promise<StoreView> {
    const counts = { listed: 0, unlisted: 0 };
    const damaged: string[] = [];
    let more = false;
    for (const kind of ["listed", "unlisted"] as const) {
      const filter = { unlisted: kind === "unlisted" };
      let cursor: string | null = null;
      do {
        const page: Awaited<ReturnType<typeof holdfast.listPage>> = await holdfast.listPage({
          limit: COUNTED_AT_ONCE,
          filter,
          ...(cursor === null ? {} : { cursor }),
        });
        counts[kind] += page.conversations.length;
        damaged.push(...page.conversations.flatMap((one) => (one.damage === null ? [] : [one.conversation])));
        ({ cursor } = page);
      } while (cursor !== null && counts[kind] < COUNTED_MAX);
      more ||= cursor !== null;
    }
    return {
      kind: place?.kind ?? null,
      address: place?.address ?? null,
      bytes: (await place?.bytes?.()) ?? null,
      formatVersion: FORMAT_VERSION,
      schemaVersion: SCHEMA_VERSION,
      conversations: counts.listed,
      unlisted: counts.unlisted,
      more,
      damaged,
    };
  },
});

export const checkSpace = operation({
  ...figures,
  access: "admin",
  long: true,
  summary: "Check every log of the space and verify its hashes, as `holdfast doctor` does, without repairs",
  http: "GET /api/check",
  input: {},
  output: answer({
    findings: list(
      open<Finding>({
        conversation: nullable(text()),
        severity: choice(["damage", "torn", "note"]),
        message: text({ max: 100_000 }),
        repaired: flag(),
      }),
    ),
  }),
  run: async (_input, { holdfast }) => ({ findings: await holdfast.check({ repair: false }) }),
});
