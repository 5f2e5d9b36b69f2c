import type { Conversation } from "./conversation.ts";
import type { Hold } from "./hold.ts";
import { linkRecords } from "../log/sending/proof.ts";

/**
 * The only acts that let go of what was before. Limits, crashes, expiry, logins and model switches are none of them.
 *
 * | act | conversation id | chain | context | history |
 * |---|---|---|---|---|
 * | newChat | stays | stays, no id is resumed across the reset | starts empty | stays readable |
 * | signOut | stays | stays, the account's ids are not resumed | stays | stays readable |
 * | popOut | a new one beside it | inherited as a record | shared up to the fork | shared up to the fork |
 */
export async function newChat(conversation: Conversation): Promise<void> {
  await conversation.append({ type: "reset", reason: "new_chat" });
}

/** Makes every upstream id of an account unresumable, in every conversation of the space. Returns how many. */
export async function signOut(hold: Hold, account: string): Promise<number> {
  let ended = 0;
  for await (const listed of hold.list()) {
    const conversation = await hold.conversation(listed.conversation);
    const records = linkRecords(await conversation.facts(["upstream_link", "upstream_end"]));
    for (const record of records.filter((link) => link.account === account && !link.retired)) {
      await conversation.endUpstream(record.upstream, "sign_out");
      ended++;
    }
  }
  return ended;
}

export async function popOut(
  conversation: Conversation,
  options: { readonly at?: string; readonly id?: string } = {},
): Promise<Conversation> {
  return conversation.fork(options);
}
