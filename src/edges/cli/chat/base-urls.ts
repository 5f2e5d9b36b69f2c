import type { Agent } from "#agent/agent";
import type { ModelGiven } from "#agent/models/model";
import type { Conversation } from "#conversation/conversation";
import { type Fields, fieldsOf, textIn } from "#log/json/json-fields";
import { isSameJson } from "#log/json/same-json";

/** The member of a conversation's config that says where the models of a provider are served. */
const MEMBER = "baseUrls";

/** Where models are served, by provider: the URL is that of one service, and a model of another provider is not asked there. */
export class BaseUrls {
  readonly #urls = new Map<string, string>();

  constructor(config: Fields) {
    for (const [provider, stored] of Object.entries(fieldsOf(config[MEMBER]))) {
      const url = textIn(stored);
      if (url !== null) this.#urls.set(provider, url);
    }
  }

  of(model: ModelGiven): string | undefined {
    return typeof model === "string" ? this.#urls.get(providerOf(model)) : undefined;
  }

  set(model: string, url: string): void {
    this.#urls.set(providerOf(model), url);
  }

  forget(model: string): void {
    this.#urls.delete(providerOf(model));
  }

  /** The config with what may be kept of it. */
  in(config: Fields): Fields {
    const kept = [...this.#urls].filter(([, url]) => isKept(url));
    if (kept.length === 0 && config[MEMBER] === undefined) return config;
    return { ...config, [MEMBER]: { ...fieldsOf(config[MEMBER]), ...Object.fromEntries(kept) } };
  }
}

function providerOf(model: string): string {
  return model.split("/")[0] ?? model;
}

/** A log is read by others: what may be a secret is not written into it. */
function isKept(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { username, password, search } = new URL(url);
  return `${username}${password}${search}` === "";
}

/** Writes a change of a conversation's config, if it is one. */
export async function changeConfig(
  agent: Agent,
  conversation: Conversation,
  change: (config: Fields) => Fields,
): Promise<void> {
  const { config } = await conversation.settings();
  if (isSameJson(config, change(config))) return;
  await agent.note(conversation, async () => {
    const now = (await conversation.settings()).config;
    return [{ type: "config_change", config: change(now) }];
  });
}
