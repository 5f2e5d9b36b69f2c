import type { ComponentChildren, JSX } from "preact";
import "../../styles/pages/transfer.css"; // comes with these pages alone: what is loaded first stays small

/** The header that both ways share. */
export function TransferHead({
  way,
  children,
}: {
  readonly way: "import" | "export";
  readonly children?: ComponentChildren;
}): JSX.Element {
  return (
    <header class="head">
      <div class="head-row">
        <h1 class="transfer-title">Import and export</h1>
        <nav class="seg" aria-label="Direction">
          <a href="/import" aria-current={way === "import" ? "true" : undefined}>
            Import
          </a>
          <a href="/export" aria-current={way === "export" ? "true" : undefined}>
            Export
          </a>
        </nav>
        <span class="grow" />
        {children}
      </div>
    </header>
  );
}
