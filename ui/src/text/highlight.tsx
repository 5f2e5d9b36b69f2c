import bash from "highlight.js/lib/languages/bash";
import cpp from "highlight.js/lib/languages/cpp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import markdown from "highlight.js/lib/languages/markdown";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import type { ComponentChildren, JSX } from "preact";

const lowlight = createLowlight({
  bash,
  cpp,
  css,
  diff,
  go,
  java,
  javascript,
  json,
  markdown,
  python,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});

type Node = ReturnType<typeof lowlight.highlight>["children"][number];

function nodeOf(node: Node, at: number): ComponentChildren {
  if (node.type === "text") return node.value;
  if (node.type !== "element") return null;
  const names = node.properties["className"];
  return (
    <span key={at} class={Array.isArray(names) ? names.join(" ") : ""}>
      {node.children.map((child, place) => nodeOf(child, place))}
    </span>
  );
}

/** Code with its words told apart; null: nobody knows the language. */
export function highlighted(code: string, language: string): JSX.Element | null {
  const name = language.toLowerCase().split(/[\s,{]/)[0] ?? "";
  if (!lowlight.registered(name)) return null;
  return <>{lowlight.highlight(name, code).children.map((node, at) => nodeOf(node, at))}</>;
}
