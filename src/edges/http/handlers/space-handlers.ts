import { hydrateRun, runNotFound } from "#conversation/runs/hydrate";
import { LogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { queryWords } from "#log/search";
import type { SpaceApi } from "#edges/http/routes/space-api";
import { diffJson } from "#transfer/shown/diff-json";
import type { NamedBranch } from "#transfer/shown/named-diff";
import { hydratedText } from "#transfer/shown/run-text";
import { snippetOf } from "#transfer/shown/search-snippet";
import { JsonText } from "#operations/operation";
import type { HandlersOf } from "./asked.ts";

const HITS = 20;
const RUNS_PAGE = 50;

export const SPACE_HANDLERS: HandlersOf<SpaceApi> = {
  async search({ holdfast, query }) {
    const { q, conversation, limit = HITS } = query;
    const words = queryWords(q);
    if (words.length === 0) throw new LogError("invalid_request", "There are no words to search for");
    const found = await holdfast.search(q, {
      limit,
      ...(conversation === undefined ? {} : { conversation }),
    });
    const hits = found.map(({ conversation: of, entry, seq, text }) => ({
      conversation: of,
      entry,
      seq,
      snippet: snippetOf(text, words),
    }));
    return { hits };
  },

  async diff({ holdfast, query }) {
    const { toolsOnly = false, stat = false, all = false } = query;
    const [a, b] = [branchOf("A", query.a), branchOf("B", query.b)];
    const [diff] = await holdfast.compare(comparedOf(a), [comparedOf(b)], { toolsOnly });
    if (diff === undefined) throw new LogError("invalid_request", "There is nothing to compare");
    const pieces = diffJson({ a, b, diff }, { isStat: stat, hasAll: all });
    return new Response(bytesOf(pieces), { headers: { "content-type": "application/json; charset=utf-8" } });
  },

  async listRuns({ holdfast, query }) {
    const { limit = RUNS_PAGE, cursor, conversation, ...filter } = query;
    return holdfast.space.runs({
      ...filter,
      limit,
      ...(cursor === undefined ? {} : { after: cursor }),
      ...(conversation === undefined ? {} : { conversation: parseConversationId(conversation) }),
    });
  },

  async getRun({ holdfast, params, query }) {
    const run = await holdfast.run(params.run, query);
    if (run === null) throw runNotFound(params.run, query.conversation ?? null);
    return run;
  },

  async forkRun({ holdfast, params, body, key }) {
    const { system, ...options } = body;
    const { conversation, run } = await holdfast.forkRun(params.run, {
      ...options,
      ...(key === undefined ? {} : { key }),
      ...(system === undefined ? {} : { promptPatch: { system } }),
    });
    const { origin, leaf } = await conversation.head();
    return {
      conversation: conversation.id,
      run,
      source: origin?.source ?? conversation.id,
      entry: origin?.entry ?? leaf.id,
    };
  },

  async hydrate({ holdfast, params, query }) {
    const from = query.conversation === undefined ? null : parseConversationId(query.conversation);
    return new JsonText(hydratedText(await hydrateRun(holdfast.space, params.run, from)));
  },
};

function branchOf(letter: string, address: string): NamedBranch {
  const [conversation = "", entry = null] = address.split("@");
  return { letter, address, conversation, entry };
}

function comparedOf({ conversation, entry }: NamedBranch): {
  readonly conversation: string;
  readonly at?: string;
} {
  return { conversation, ...(entry === null ? {} : { at: entry }) };
}

const CHUNK_CHARS = 65_536;

/** All of it need not fit into one text. */
function bytesOf(pieces: Iterator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull(controller) {
      let text = "";
      while (text.length < CHUNK_CHARS) {
        const { done, value } = pieces.next();
        if (done === true) {
          if (text !== "") controller.enqueue(encoder.encode(text));
          return controller.close();
        }
        text += value;
      }
      controller.enqueue(encoder.encode(text));
    },
  });
}
