import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Failure } from "../../../parts/failure.tsx";
import { conversationAddress } from "../../../router/addresses.ts";
import { navigate } from "../../../router/location.ts";

/** Makes conversations that show what there is to see; a second time it leads to what is there. */
export function LoadSample(): JSX.Element {
  const [error, setError] = useState<unknown>(null);
  const load = async (): Promise<void> => {
    try {
      const { makeSample, SAMPLE_ID } = await import("../sample/sample-conversations.ts");
      await makeSample(Date.now());
      navigate(conversationAddress(SAMPLE_ID));
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <>
      <button class="btn" type="button" onClick={() => void load()}>
        Load sample data
      </button>
      {error === null ? null : <Failure error={error} />}
    </>
  );
}
