import { findConversation } from "../address.ts";
import { answer, type Command, remark } from "../command.ts";
import { clockOf } from "../view/time.ts";
import { pad, safeLine } from "../terminal.ts";

export const chain: Command = {
  name: "chain",
  summary: "Lists the upstream sessions a conversation has held, and why each began",
  usage: ["ID"],
  about: `Oldest first, the current one last, with the entries each one carried. A fork also shows the
links of its source; they are a record and never resumed from the fork.`,
  examples: ["holdfast chain ID", "holdfast chain ID --json"],
  options: {},
  arity: [1, 1],
  async run(call) {
    const { hold } = await call.open({ readOnly: true });
    const conversation = await findConversation(hold, call.args[0] ?? "");
    const links = (await conversation.chain()).map(
      ({ id, agent, account, reason, since, carried, inherited }) => ({
        id,
        agent,
        account,
        reason,
        since,
        carried,
        inherited,
      }),
    );
    if (links.length === 0 && !call.json)
      return remark(call, "This conversation has held no upstream session yet.");
    return answer(call, { conversation: conversation.id, links }, () =>
      links
        .map(({ id, agent, reason, since, carried, inherited }, index) => {
          const range = carried === null ? "nothing carried" : `entries ${carried.fromSeq}–${carried.toSeq}`;
          const head = `${inherited ? "⑂" : " "}${String(index + 1).padStart(3)}  ${clockOf(since)}  ${pad(safeLine(agent), 12)}`;
          return `${head}  ${safeLine(id)}  (${safeLine(reason)}; ${range})`;
        })
        .join("\n"),
    );
  },
};
