/** What the agent's program does itself: its commands, and how it puts files and links into words for its model. */
import type { Session } from "./session.ts";
import type { Answer, Turn } from "./turn.ts";
import { type Fields, fieldsOf, textOf } from "./wire.ts";

const NOTHING = {
  totalTokens: 0,
  inputTokens: 0,
  outputTokens: 0,
  cachedReadTokens: 0,
  cachedWriteTokens: 0,
};

/** The command that the first block is, where the program takes it for one; it does so only there. */
export function commandOf(session: Session, blocks: readonly Fields[]): string | null {
  const name = /^\/(\S+)/.exec(textOf(blocks[0]?.["text"]))?.[1] ?? null;
  const { like } = session.inputs.flavour;
  return name !== null && (like === "claude" || like === "opencode" || name === "status") ? name : null;
}

/** Answers at once, with no model asked, and keeps nothing of it. */
export function runCommand(turn: Turn, name: string): Answer {
  const { session } = turn;
  const { like } = session.inputs.flavour;
  const clears = like === "claude" && ["clear", "new", "reset"].includes(name);
  if (clears) {
    session.file = { ...session.file, messages: [] };
    session.inputs.files.save(session.file);
    turn.update({ sessionUpdate: "plan", entries: [] });
  } else if (name === "cost" || name === "usage") turn.remark("Total cost: $0.10", REMARK_ID);
  else if (name === "status") turn.remark("**Model:** small");
  return { stopReason: "end_turn", usage: like === "codex" ? null : NOTHING };
}

const REMARK_ID = "2cd3d1d2-bc36-4471-b658-0cfffebbfaf4"; // the program's own words go by ids of this shape

/** The texts of a prompt as the agent hands them to its model and keeps them. */
export function textsFor(like: string, blocks: readonly Fields[]): readonly string[] {
  const context: string[] = [];
  const texts = blocks.map((block) => {
    const { type, uri } = block;
    if (type === "resource_link") return `[@${textOf(block["name"])}](${textOf(uri)})`;
    if (type !== "resource") return textOf(block["text"]);
    const resource = fieldsOf(block["resource"]);
    const link = `[@file](${textOf(resource["uri"])})`;
    const held = `<context ref="${textOf(resource["uri"])}">\n${textOf(resource["text"])}\n</context>`;
    if (like !== "claude") return `${link}\n${held}`;
    context.push(`\n${held}`);
    return link;
  });
  return [...texts, ...context].filter((text) => text !== "");
}
