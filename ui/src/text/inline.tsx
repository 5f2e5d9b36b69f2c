import type { Token, Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";

const DEPTH_MAX = 12;
const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** Where a link leads, where it is one that may be followed: with who is there, as people call it. */
function safeLink(href: string): { readonly href: string; readonly host: string } | null {
  if (!URL.canParse(href)) return null;
  const url = new URL(href);
  if (!SCHEMES.has(url.protocol)) return null;
  return { href: url.href, host: url.protocol === "mailto:" ? url.pathname : url.host };
}

function Link({ token, depth }: { readonly token: Tokens.Link; readonly depth: number }): JSX.Element {
  const to = safeLink(token.href);
  if (to === null) return <span>{token.raw}</span>;
  return (
    <>
      <a class="out" href={to.href} target="_blank" rel="noopener noreferrer nofollow">
        <Inline tokens={token.tokens} depth={depth + 1} />
      </a>
      {token.text.includes(to.host) ? null : <span class="host"> ({to.host})</span>}
    </>
  );
}

/** Asking for an image would tell its owner who reads this: it is named, and can be followed. */
function RemoteImage({ token }: { readonly token: Tokens.Image }): JSX.Element {
  const to = safeLink(token.href);
  return (
    <span class="remote-image">
      [image{token.text === "" ? "" : `: ${token.text}`}, not loaded
      {to === null ? null : (
        <>
          {" from "}
          <a class="out" href={to.href} target="_blank" rel="noopener noreferrer nofollow">
            {to.host}
          </a>
        </>
      )}
      ]
    </span>
  );
}

/** The box of a task in a list. */
export function Checkbox({ token }: { readonly token: Tokens.Checkbox }): JSX.Element {
  return <input type="checkbox" checked={token.checked} disabled aria-label="Task" />;
}

function InlineToken({ token, depth }: { readonly token: Token; readonly depth: number }): ComponentChildren {
  if (depth > DEPTH_MAX) return token.raw;
  const inside = (): JSX.Element => (
    <Inline tokens={(token as { readonly tokens?: readonly Token[] }).tokens ?? []} depth={depth + 1} />
  );
  switch (token.type) {
    case "strong":
      return <strong>{inside()}</strong>;
    case "em":
      return <em>{inside()}</em>;
    case "del":
      return <del>{inside()}</del>;
    case "codespan":
      return <code>{(token as Tokens.Codespan).text}</code>;
    case "checkbox":
      return <Checkbox token={token as Tokens.Checkbox} />;
    case "br":
      return <br />;
    case "link":
      return <Link token={token as Tokens.Link} depth={depth} />;
    case "image":
      return <RemoteImage token={token as Tokens.Image} />;
    case "escape":
      return (token as Tokens.Escape).text;
    case "text":
      return (token as Tokens.Text).tokens === undefined ? (token as Tokens.Text).text : inside();
    default:
      return token.raw;
  }
}

/** Words within a line. */
export function Inline({
  tokens,
  depth,
}: {
  readonly tokens: readonly Token[];
  readonly depth: number;
}): JSX.Element {
  return (
    <>
      {tokens.map((token, at) => (
        <InlineToken key={at} token={token} depth={depth} />
      ))}
    </>
  );
}
