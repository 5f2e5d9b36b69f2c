import { type ComponentType, h, type JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Failure } from "./failure.tsx";

/** A component that is loaded when it is first shown. */
export function lazy<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  let found: ComponentType<P> | null = null;
  return function Lazy(props: P): JSX.Element | null {
    const [state, setState] = useState<"loading" | "there" | "failed">(found === null ? "loading" : "there");
    useEffect(() => {
      if (state !== "loading") return;
      const arrive = async (): Promise<void> => {
        try {
          found = await load();
          setState("there");
        } catch {
          setState("failed");
        }
      };
      void arrive();
    }, [state]);
    if (state === "failed") return <Failure error={null} retry={() => setState("loading")} />;
    return found === null ? null : h<P>(found, props);
  };
}
