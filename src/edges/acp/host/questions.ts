import type { Limit, PermissionAsked, Poison } from "#turn/host";
import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

/** Something a person is asked by the bridge itself, as a host asks for permissions. */
export interface Question {
  /** Names it among the host's own. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly yes: { readonly optionId: string; readonly name: string };
  readonly no: { readonly optionId: string; readonly name: string };
  /** For programs: goes into `_meta.holdfast`. */
  readonly meta: { readonly [name: string]: Json };
}

export function switchQuestion({ agent, next, message }: Limit): Question {
  return {
    name: "limit",
    title: `${agent} is at its limit. Go on with ${next}?`,
    text: message,
    yes: { optionId: "switch", name: `Go on with ${next}` },
    no: { optionId: "park", name: `Wait for ${agent}` },
    meta: { event: "limit", agent, next },
  };
}

export function hideQuestion({ entry, isPrompt, message }: Poison, agent: string): Question {
  return {
    name: "poisoned",
    title: `${agent} cannot take ${isPrompt ? "this prompt" : "an image in the history"}. Hide it from every model?`,
    text: `${message}\nThe log keeps it either way, and no other session is given it.`,
    yes: { optionId: "hide", name: "Hide it" },
    no: { optionId: "keep", name: "Leave it" },
    meta: { event: "poisoned", agent, entry, isPrompt },
  };
}

/** The question as the parameters of `session/request_permission`. */
export function questionText(question: Question, conversation: string): string {
  const { name, title, text, yes, no, meta } = question;
  return JSON.stringify({
    sessionId: conversation,
    toolCall: {
      toolCallId: `holdfast-${name}-${conversation}`,
      title,
      kind: "other",
      status: "pending",
      content: [{ type: "content", content: { type: "text", text } }],
    },
    options: [
      { ...yes, kind: "allow_once" },
      { ...no, kind: "reject_once" },
    ],
    _meta: { holdfast: meta },
  });
}

export const ALLOW = "allow";

/** A call that waits for a person, as the same parameters. */
export function permissionText(asked: PermissionAsked, shown: Fields, conversation: string): string {
  const { call: toolCallId, tool: title, input: rawInput, request } = asked;
  return JSON.stringify({
    sessionId: conversation,
    toolCall: { toolCallId, title, rawInput, ...shown, status: "pending" },
    options: [
      { optionId: ALLOW, name: "Allow", kind: "allow_once" },
      { optionId: "deny", name: "Deny", kind: "reject_once" },
    ],
    _meta: { holdfast: { event: "permission", request } },
  });
}
