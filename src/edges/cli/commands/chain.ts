import { findConversation } from "../address.ts";
import { answer, type Command, remark } from "../command.ts";
import { chainRows, withFidelity } from "../view/chain-view.ts";

export const chain: Command = {
  name: "chain",
  summary: "Lists the upstream sessions a conversation has held, and why each began",
  usage: ["ID"],
  about: `Oldest first, the current one last: since when, whose, the entries each one carried, how it came
to know the conversation (by itself, from a transcript, was told again) and why it began. A fork
also shows the links of its source, marked ⑂; they are a record and never resumed from the fork.`,
  examples: ["holdfast chain ID", "holdfast chain ID --json"],
  options: {},
  arity: [1, 1],
  async run(call) {
    const { hold } = await call.open({ readOnly: true });
    const conversation = await findConversation(hold, call.args[0] ?? "");
    const chained = await conversation.chain();
    if (chained.length === 0 && !call.json)
      return remark(call, "This conversation has held no upstream session yet.");
    const told = withFidelity(chained, await conversation.facts(["attempt"]));
    const links = told.map(({ seq: _seq, ...link }) => link);
    return answer(call, { conversation: conversation.id, links }, () =>
      chainRows(told, call.io.out.isTerminal).join("\n"),
    );
  },
};
