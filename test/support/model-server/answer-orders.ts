import { simActs, piecesOf } from "#agent/models/sim-orders";
import type { ScriptedAnswer, WireName } from "./scripted-answer.ts";

type Fields = { readonly [name: string]: unknown };

/** What a request says, as far as orders need it. */
interface Turn {
  readonly role: "user" | "assistant" | "result";
  readonly text: string;
}

/** Answers as the simulated model does: it echoes, remembers, recalls, and calls tools when told to. */
export function answerOrders(request: { readonly wire: WireName; readonly parsed: unknown }): ScriptedAnswer {
  const turns = turnsOf(request.wire, request.parsed).filter(
    ({ text }) => !text.trim().startsWith("<system-reminder>"),
  );
  const prompt = turns.findLastIndex(({ role, text }) => role === "user" && text !== "");
  const since = turns.slice(prompt + 1);
  const results = since.slice(since.findLastIndex(({ role }) => role === "assistant") + 1);
  const acts = simActs({
    prompt: turns[prompt]?.text ?? "",
    answers: since.filter(({ role }, at) => role === "assistant" && since[at - 1]?.role !== "assistant")
      .length,
    results: results.map(({ text }) => text),
    texts: turns.map(({ text }) => text),
    isSummary: JSON.stringify(request.parsed).includes("You write summaries of conversations"),
  });
  const words = acts.flatMap((act) => (act.do === "say" ? [act.text] : [])).join("");
  const thought = acts.flatMap((act) => (act.do === "think" ? [act.text] : [])).join("\n");
  return {
    text: piecesOf(words),
    calls: acts.flatMap((act) => (act.do === "call" ? [{ name: act.name, input: act.input }] : [])),
    ...(thought === "" ? {} : { thinking: { text: thought, signature: "signed" } }),
  };
}

function turnsOf(wire: WireName, parsed: unknown): readonly Turn[] {
  const body = (parsed ?? {}) as Fields;
  const list = wire === "openai" ? body["input"] : wire === "google" ? body["contents"] : body["messages"];
  return (Array.isArray(list) ? list : []).flatMap((item: Fields) => itemTurns(item));
}

function itemTurns(item: Fields): readonly Turn[] {
  const role = item["role"];
  if (item["type"] === "function_call_output") return [{ role: "result", text: textIn(item["output"]) }];
  if (role === "tool") return [{ role: "result", text: textIn(item["content"]) }];
  if (item["type"] === "function_call" || role === "assistant" || role === "model")
    return [{ role: "assistant", text: textIn(item["content"] ?? item["parts"]) }];
  if (role !== "user") return [];
  const content = item["content"] ?? item["parts"];
  if (!Array.isArray(content)) return [{ role: "user", text: textIn(content) }];
  return content.map((block: Fields): Turn => {
    const response = block["functionResponse"] as Fields | undefined;
    const isResult = block["type"] === "tool_result" || response !== undefined;
    return {
      role: isResult ? "result" : "user",
      text: textIn(response?.["response"] ?? block["content"] ?? block["text"]),
    };
  });
}

function textIn(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return value.map((one) => textIn(one)).join("\n");
  if (typeof value !== "object" || value === null) return "";
  const { text, content, error, output } = value as Fields;
  return textIn(text ?? content ?? error ?? output);
}
