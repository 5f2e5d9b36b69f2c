import type { JSX } from "preact";
import { useState, useEffect } from "preact/hooks";
import { CopyIcon } from "./copy-icon.tsx";

type Highlighted = (code: string, language: string) => JSX.Element | null;

let highlight: Highlighted | null = null;
const CHARS_MAX = 50_000; // beyond it colours cost more than they tell
const LINES_MAX = 800;

/** Code, coloured once what colours it is there. */
export function CodeBlock({
  code,
  language,
}: {
  readonly code: string;
  readonly language: string;
}): JSX.Element {
  const [, arrived] = useState(highlight !== null);
  const isShort = code.length < CHARS_MAX && code.split("\n", LINES_MAX + 1).length <= LINES_MAX;
  useEffect(() => {
    if (highlight !== null || !isShort || language === "") return;
    void import("./highlight.tsx").then((module) => {
      highlight = module.highlighted;
      return arrived(true);
    });
  }, [isShort, language]);
  const coloured = isShort && language !== "" && highlight !== null ? highlight(code, language) : null;
  return (
    <div class="code-block">
      <CopyIcon text={code} what="code" />
      <pre
        class="code term"
        tabIndex={0}
        role="group"
        aria-label={language === "" ? "Code" : `Code, ${language}`}
      >
        {coloured ?? code}
      </pre>
    </div>
  );
}
