import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";

const BLANK_MS = 150; // most answers are there before anybody sees that they were not

/** Still rows where rows will be; nothing at all for a moment. */
export function GhostRows({ rows = 8 }: { readonly rows?: number }): JSX.Element | null {
  const [isShown, show] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => show(true), BLANK_MS);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div class="ghosts" role="status">
      <span class="sr">Loading</span>
      <svg width="100%" height={rows * 34} aria-hidden="true">
        {Array.from({ length: rows }, (_, at) => (
          <rect
            key={at}
            class="ghost"
            x="16"
            y={at * 34 + 11}
            rx="3"
            width={at % 3 === 0 ? "46%" : "62%"}
            height="12"
          />
        ))}
      </svg>
    </div>
  );
}
