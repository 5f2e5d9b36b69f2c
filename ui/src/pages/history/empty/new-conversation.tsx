import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../../../data/api-client.ts";
import { onKey, useKeys } from "../../../frame/keys.ts";
import { mayWrite } from "../../../frame/store-foot.tsx";
import { warn } from "../../../frame/said.tsx";
import { Icon } from "../../../parts/marks/icon.tsx";
import { conversationAddress } from "../../../router/addresses.ts";
import { navigate } from "../../../router/location.ts";

async function begin(): Promise<void> {
  try {
    const { conversation } = await client.createConversation({});
    navigate(conversationAddress(conversation));
  } catch (error) {
    warn(error instanceof Error ? error.message : "The conversation could not be created.");
  }
}

export function NewConversation(): JSX.Element {
  const [isBusy, setBusy] = useState(false);
  const run = (): void => {
    if (isBusy) return;
    setBusy(true);
    void begin().finally(() => setBusy(false));
  };
  useKeys([onKey("newConversation", run)]);
  const isClosed = !mayWrite.value;
  return (
    <button class="btn primary" type="button" disabled={isClosed} onClick={run}>
      <Icon name="plus" />
      New
    </button>
  );
}
