import { client } from "../../../data/api-client.ts";

const PAGE = 200;
const PAGES_MAX = 25; // whoever has more goes by the history

/** The conversation so many rows further in the history; null: there is none, or it is too far down. */
export async function neighbourOf(conversation: string, step: 1 | -1): Promise<string | null> {
  let [before, cursor]: [string | null, string | null] = [null, null];
  let isNext = false;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const page: Awaited<ReturnType<typeof client.listConversations>> = await client.listConversations({
      limit: PAGE,
      ...(cursor === null ? {} : { cursor }),
    });
    for (const { conversation: one } of page.conversations) {
      if (isNext) return one;
      if (one === conversation && step === -1) return before;
      if (one === conversation) isNext = true;
      before = one;
    }
    cursor = page.next;
    if (cursor === null) return null;
  }
  return null;
}
