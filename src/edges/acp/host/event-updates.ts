import type { Fields } from "#log/json/json-fields";
import type { TurnEvent } from "#turn/rules/turn-event";

/** The events of one turn as updates a host can show. */
export class EventUpdates {
  readonly #calls = new Set<string>();

  /** Null for an event that is nothing to show. */
  updateOf(event: TurnEvent): Fields | null {
    if (event.type === "tool") return this.#tool(event);
    if (event.type !== "text" && event.type !== "thinking") return null;
    const sessionUpdate = event.type === "text" ? "agent_message_chunk" : "agent_thought_chunk";
    const named = event.message === undefined ? {} : { messageId: event.message };
    return { sessionUpdate, content: { type: "text", text: event.text }, ...named };
  }

  #tool(event: Extract<TurnEvent, { type: "tool" }>): Fields {
    const { call, step, name, input, state, output, detail = {} } = event;
    const toolCallId = step === undefined ? call : `${call}/${step}`;
    const known = this.#calls.has(toolCallId);
    this.#calls.add(toolCallId);
    const said = output === undefined ? [] : [{ type: "content", content: { type: "text", text: output } }];
    const status = { started: "in_progress", done: "completed", failed: "failed" }[state];
    return {
      sessionUpdate: known ? "tool_call_update" : "tool_call",
      toolCallId,
      title: name,
      rawInput: input,
      ...(said.length === 0 ? {} : { content: said }),
      ...detail,
      status,
    };
  }
}
