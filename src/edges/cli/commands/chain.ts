import { findConversation } from "../address.ts";
import { answer, type Command, remark } from "../command.ts";
import { chainRows } from "../view/chain-view.ts";

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
    const chained = await conversation.chain();
    if (chained.length === 0 && !call.json)
      return remark(call, "This conversation has held no upstream session yet.");
    const links = chained.map(({ seq: _seq, ...link }) => link);
    return answer(call, { conversation: conversation.id, links }, () => chainRows(chained).join("\n"));
  },
};
