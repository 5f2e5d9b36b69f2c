import { client } from "../../data/api-client.ts";
import { say } from "../../frame/said.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { navigate } from "../../router/location.ts";
import { attempted } from "../conversation/entry/acts.ts";

/** A fork in which a run that continues this one is begun; what is said next is said in it. */
export async function forkFrom(run: string, conversation: string, at: string | null): Promise<void> {
  const made = await attempted(() => client.forkRun({ run, conversation, ...(at === null ? {} : { at }) }));
  if (made === null) return;
  navigate(conversationAddress(made.conversation));
  say(`Forked as ${made.conversation}. Files and external effects are not undone.`);
}
