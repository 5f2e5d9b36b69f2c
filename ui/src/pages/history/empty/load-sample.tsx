import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { client } from "../../../data/api-client.ts";
import { Failure } from "../../../parts/failure.tsx";
import { conversationAddress } from "../../../router/addresses.ts";
import { navigate } from "../../../router/location.ts";

const SAMPLE_ID = "sample";

/** Makes a conversation that shows what there is to see; a second time it leads to the first. */
export function LoadSample(): JSX.Element {
  const [error, setError] = useState<unknown>(null);
  const load = async (): Promise<void> => {
    try {
      const { sampleEntries, SAMPLE_TITLE } = await import("./sample.ts");
      await client.createConversation(
        { id: SAMPLE_ID, title: SAMPLE_TITLE, entries: sampleEntries(Date.now()) },
        { key: "holdfast-ui-sample" },
      );
      navigate(conversationAddress(SAMPLE_ID));
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <button class="btn" type="button" onClick={() => void load()}>
        Load the sample
      </button>
      {error === null ? null : <Failure error={error} />}
    </>
  );
}
