import { resolve } from "node:path";
import type { Holdfast } from "#conversation/holdfast";
import type { ListFilter } from "#conversation/list-conversations";
import { listConversations } from "#operations/conversations";
import type { ListedRow } from "#operations/views/listed-rows";
import { pagesOf } from "#edges/cli/operation-command";
import { type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { pastTime } from "#edges/cli/manage/past-time";
import { headingRow, listRow, plainRow, rowState } from "#edges/cli/view/list-view";

const PAGE = 100;

export const ls: Command = {
  name: "ls",
  summary: "Lists conversations, the most recently changed first",
  usage: [
    "[PREFIX] [-n COUNT] [--cwd PATH] [--repo PATH] [--status WORD] [--label LABEL] [--tag TAG] [--agent NAME] [--since TIME] [--archived | --all] [--unlisted]",
    "--agents [-n COUNT] [--repo PATH] [--agent NAME] [--since TIME]",
  ],
  about: `On a terminal one line each with headings: the end of the id, which names it as well as the
whole; last change, number of entries, state, agent or model, folder, title. The state is empty for an
idle conversation; else working, waiting (for your answer), interrupted (the process of a turn exited),
stopped, failed, paused (limit), limit reset, damaged, or newer format. In a pipe: the whole id, last change, entries, title.
With --json one object per line.

  PREFIX         only ids that start with this
  -n COUNT       at most this many
  --cwd PATH     only those of this folder, as it was written (also --folder)
  --repo PATH    only those of this folder or one below it
  --status WORD  working, waiting (for your answer), live (either), unclean (a turn failed or never
                 ended, or it is damaged), limited (its agent reached a limit), rolled (it
                 continued in another session of its agent)
  --label LABEL  only those with an entry of this label
  --tag TAG      only those with this tag
  --agent NAME   only those that this agent carried last
  --since TIME   only those that were changed since: 14d, 12h, 2026-01-31
  --archived     only those that are archived, which are left out otherwise
  --all          those that are archived as well
  --unlisted     only those that are kept for a program, which are left out otherwise
  --agents       the sessions that only an agent has, in the folders of Claude Code and Codex: AGENT:SESSION,
                 last change, folder, title. \`holdfast acp\` goes on with one under that id`,
  examples: [
    "holdfast ls",
    "holdfast ls -n 5",
    "holdfast ls --repo . --since 14d",
    "holdfast ls --status unclean",
    "holdfast ls --agents",
    "holdfast ls --json | head -1",
  ],
  options: {
    limit: { type: "string", short: "n" },
    folder: { type: "string" },
    cwd: { type: "string" },
    repo: { type: "string" },
    status: { type: "string" },
    label: { type: "string" },
    since: { type: "string" },
    all: { type: "boolean" },
    agents: { type: "boolean" },
    tag: { type: "string" },
    agent: { type: "string" },
    archived: { type: "boolean" },
    unlisted: { type: "boolean" },
  },
  arity: [0, 1],
  async run(call) {
    const [prefix] = call.args;
    const { out } = call.io;
    const limit = call.flags.count("limit") ?? Number.POSITIVE_INFINITY;
    const filter = filterOf(call);
    if (call.flags.has("agents")) {
      const { printAgentSessions } = await import("#edges/cli/resume/agent-sessions");
      return printAgentSessions(call, { limit, filter });
    }
    const holdfast = await call.open({ readOnly: true });
    const view = { columns: out.columns, style: out.style };
    const withArchived = filter.archived === true || call.flags.has("all");
    let shown = 0;
    for await (const row of rowsOf(holdfast, {
      ...filter,
      ...statusOf(call),
      ...(prefix ? { prefix } : {}),
    })) {
      if (shown >= limit) break;
      if (!withArchived && row.summary?.metadata.archived === true) continue;
      shown++;
      if (call.json) {
        await out.write(jsonLine(row));
        continue;
      }
      if (shown === 1 && out.isTerminal) await out.write(`${headingRow(view)}\n`);
      const looked = out.isTerminal || row.damage !== null;
      const state = looked ? await rowState(holdfast, row) : { agent: null, state: "" };
      await out.write(`${out.isTerminal ? listRow(row, state, view) : plainRow(row, state.state, view)}\n`);
    }
    if (shown === 0 && !call.json && limit > 0) await remark(call, nothingIn(call, filter));
  },
};

async function* rowsOf(holdfast: Holdfast, filter: object): AsyncGenerator<ListedRow> {
  for await (const page of pagesOf(listConversations, { ...filter, limit: PAGE }, { holdfast }))
    yield* page.conversations;
}

function nothingIn({ args, flags }: Call, filter: ListFilter): string {
  if (args.length > 0) return "No conversation id starts with that.";
  return Object.keys(filter).length === 0 && flags.text("status") === undefined
    ? "No conversations yet. `holdfast new` creates one; `holdfast demo` shows what Holdfast does."
    : "No conversation is like that.";
}

function statusOf({ flags }: Call): { readonly status?: string } {
  const status = flags.text("status");
  return status === undefined ? {} : { status };
}

function filterOf({ flags }: Call): ListFilter {
  const cwd = flags.text("cwd") ?? flags.text("folder");
  const [repo, tag, agent] = [flags.text("repo"), flags.text("tag"), flags.text("agent")];
  const [label, since] = [flags.text("label"), flags.text("since")];
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(repo === undefined ? {} : { under: resolve(repo) }),
    ...(tag === undefined ? {} : { tag }),
    ...(agent === undefined ? {} : { agent }),
    ...(label === undefined ? {} : { label }),
    ...(since === undefined ? {} : { since: pastTime("since", since, Date.now()) }),
    ...(flags.has("archived") ? { archived: true } : {}),
    ...(flags.has("unlisted") ? { unlisted: true } : {}),
  };
}
