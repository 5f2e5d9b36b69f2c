import { hash } from "node:crypto";
import type { Conversation } from "#conversation/conversation";
import type { BranchEntry } from "#conversation/history-pages";
import { safeLine, visibleText } from "#transfer/views/safe-text";
import { type TranscriptOptions, readTranscript, type Transcript } from "./read-transcript.ts";
import { type Part, redactionNote, sectionOf } from "./transcript-parts.ts";

const STYLE = `:root{color-scheme:light dark;--line:light-dark(#d5dae0,#343a43);--sunken:light-dark(#f4f6f8,#1a1e24);--faint:light-dark(#5c6673,#98a2b0)}
body{font:14px/1.55 system-ui,sans-serif;max-width:860px;margin:0 auto;padding:24px 16px}
h1{font-size:20px;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:12px;font-weight:600;margin:0 0 4px;color:var(--faint);overflow-wrap:anywhere}
header p{margin:0;color:var(--faint);font-size:12px;overflow-wrap:anywhere}
article{border-top:1px solid var(--line);padding:12px 0}
article.user{background:var(--sunken);padding-inline:12px;margin-inline:-12px}
article.note h2{font-weight:400}
pre{font:inherit;margin:0 0 8px;white-space:pre-wrap;overflow-wrap:anywhere}
pre.code{font:12px/1.5 ui-monospace,monospace;background:var(--sunken);border-radius:6px;padding:8px 10px}
details{margin:0 0 8px}
summary{cursor:pointer;font-size:12px;color:var(--faint);overflow-wrap:anywhere}
`;
// Nothing is loaded and nothing runs, whatever stands in it; the one style is named by its digest.
const POLICY = `default-src 'none'; style-src 'sha256-${hash("sha256", STYLE, "base64")}'; base-uri 'none'; form-action 'none'`;

/**
 * A branch as a web page that needs nothing but itself, redacted unless told otherwise. Everything that was said stands in it as text, so
 * that nothing of it is taken for HTML, a link or an image.
 */
export async function exportHtml(
  conversation: Conversation,
  options: TranscriptOptions = {},
): Promise<string> {
  return htmlOf(await readTranscript(conversation, options));
}

function htmlOf({ title, conversation, createdAt, updatedAt, redacted, entries }: Transcript): string {
  const name = line(title ?? "(no title)");
  const facts = `conversation ${line(conversation)} · started ${line(createdAt)} · changed ${line(updatedAt)}`;
  const articles = entries.map(articleOf).filter((article) => article !== "");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${name}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1>${name}</h1>
<p>${facts}</p>
<p>${redactionNote(redacted)}</p>
</header>
<main>
${articles.join("\n")}
</main>
</body>
</html>
`;
}

function articleOf(entry: BranchEntry): string {
  const section = sectionOf(entry);
  if (section === null) return "";
  const { by, heading, parts } = section;
  const hidden = entry.hidden ? " (hidden from the model)" : "";
  const body = parts.map(partHtml);
  const content = by === "tool" && body.length > 0 ? [folded("Input", body.join("\n"))] : body;
  const top = `<h2>${line(heading)}${hidden} · <time>${line(entry.time)}</time></h2>`;
  return [`<article class="${by}">`, top, ...content, "</article>"].join("\n");
}

function partHtml(part: Part): string {
  switch (part.as) {
    case "line":
      return `<p>${line(part.text)}</p>`;
    case "text":
      return `<pre>${text(part.text)}</pre>`;
    case "json":
      return `<pre class="code">${text(part.text)}</pre>`;
    case "thinking":
      return folded("Thinking", `<pre>${text(part.text)}</pre>`);
    case "call":
      return folded(`Calls ${line(part.name)}`, `<pre class="code">${text(part.input)}</pre>`);
  }
}

function folded(summary: string, body: string): string {
  return `<details><summary>${summary}</summary>\n${body}\n</details>`;
}

const SIGNS: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(value: string): string {
  return value.replaceAll(/[&<>"']/g, (sign) => SIGNS[sign] ?? "");
}

/** Words on one line. */
function line(value: string): string {
  return escaped(safeLine(value));
}

/** Words as they stand. A line break right behind the tag would be taken for none. */
function text(value: string): string {
  return `\n${escaped(visibleText(value))}`;
}
