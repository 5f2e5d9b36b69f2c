import type { JSX } from "preact";
import type { ReplayView } from "#edges/http/client/views";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";

const WORDS: Readonly<Record<ReplayView["status"], readonly [IconName, string, string]>> = {
  running: ["replay", "running", "ok"],
  completed: ["check", "completed", ""],
  stopped: ["stop", "stopped", ""],
  failed: ["x", "failed", "bad"],
  lost: ["unknown", "interrupted", "unknown"],
};

export function ReplayStatus({ status }: { readonly status: ReplayView["status"] }): JSX.Element {
  const [icon, words, tone] = WORDS[status];
  return (
    <span class={`tag ${tone}`} data-testid={`replay-${status}`}>
      <Icon name={icon} />
      {words}
    </span>
  );
}
