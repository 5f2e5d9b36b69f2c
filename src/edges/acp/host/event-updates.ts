import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { PermissionAsked } from "#turn/host";
import type { TurnEvent } from "#turn/rules/turn-event";

/** What a host shows of a call beyond its name and input: a title, its kind, places, changes to files. */
export type Describe = (call: { readonly name: string; readonly input: Json }) => Fields;

export const nothingMore: Describe = () => ({});

/** The events of one turn as updates a host can show. */
export class EventUpdates {
  readonly #describe: Describe;
  readonly #calls = new Set<string>();

  constructor(describe: Describe = nothingMore) {
    this.#describe = describe;
  }

  /** Null for an event that is nothing to show. */
  updateOf(event: TurnEvent): Fields | null {
    if (event.type === "tool") return this.#tool(event);
    if (event.type !== "text" && event.type !== "thinking") return null;
    const sessionUpdate = event.type === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    const named = event.message === undefined ? {} : { messageId: event.message };
    return { sessionUpdate, content: { type: "text", text: event.text }, ...named };
  }

  /** A call that waits for a person. */
  asked({ call, tool, input }: PermissionAsked): Fields {
    return {
      sessionUpdate: this.#kindOf(call),
      toolCallId: call,
      title: tool,
      rawInput: input,
      ...this.#describe({ name: tool, input }),
      status: "pending",
    };
  }

  #kindOf(toolCallId: string): "tool_call" | "tool_call_update" {
    const known = this.#calls.has(toolCallId);
    this.#calls.add(toolCallId);
    return known ? "tool_call_update" : "tool_call";
  }

  #tool(event: Extract<TurnEvent, { type: "tool" }>): Fields {
    const { call, step, name, input, state, output, detail = {} } = event;
    const toolCallId = step === undefined ? call : `${call}/${step}`;
    const { content: change, ...described } = this.#describe({ name, input });
    const said = output === undefined ? [] : [{ type: "content", content: { type: "text", text: output } }];
    const content = change !== undefined && state !== "failed" ? change : said;
    const status = { started: "in_progress", done: "completed", failed: "failed" }[state];
    return {
      sessionUpdate: this.#kindOf(toolCallId),
      toolCallId,
      title: name,
      rawInput: input,
      ...described,
      ...(Array.isArray(content) && content.length === 0 ? {} : { content }),
      ...detail,
      status,
    };
  }
}
