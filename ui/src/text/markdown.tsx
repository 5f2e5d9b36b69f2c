import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";
import { safeText } from "#transfer/views/safe-text";
import { lazy } from "../parts/lazy.tsx";
import { Inline } from "./inline.tsx";
import { plainStretches } from "./plain-stretches.ts";

const CodeBlock = lazy(async () => (await import("./code-block.tsx")).CodeBlock);
const DEPTH_MAX = 12; // what is nested deeper is shown as it was written

/** Null: the lexer gave up on it. */
function tokensOf(text: string): readonly Token[] | null {
  try {
    return new Lexer({ gfm: true }).lex(text);
  } catch {
    return null;
  }
}

function List({ token, depth }: { readonly token: Tokens.List; readonly depth: number }): JSX.Element {
  const items = token.items.map((item, at) => (
    <li key={at}>
      {item.task ? <span class="task">{item.checked === true ? "[x] " : "[ ] "}</span> : null}
      <Blocks tokens={item.tokens} depth={depth + 1} />
    </li>
  ));
  return token.ordered ? <ol start={Number(token.start) || 1}>{items}</ol> : <ul>{items}</ul>;
}

function Table({ token }: { readonly token: Tokens.Table }): JSX.Element {
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Table">
      <table class="sheet">
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at} scope="col">
                <Inline tokens={cell.tokens} depth={0} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, at) => (
                <td key={at}>
                  <Inline tokens={cell.tokens} depth={0} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Block({ token, depth }: { readonly token: Token; readonly depth: number }): ComponentChildren {
  if (depth > DEPTH_MAX) return <p>{token.raw}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "code":
      return <CodeBlock code={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ""} />;
    case "heading":
      return (
        <p class="heading">
          <Inline tokens={(token as Tokens.Heading).tokens} depth={0} />
        </p>
      );
    case "blockquote":
      return (
        <blockquote>
          <Blocks tokens={(token as Tokens.Blockquote).tokens} depth={depth + 1} />
        </blockquote>
      );
    case "list":
      return <List token={token as Tokens.List} depth={depth} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "hr":
      return <hr />;
    case "paragraph":
      return (
        <p>
          <Inline tokens={(token as Tokens.Paragraph).tokens} depth={0} />
        </p>
      );
    case "text":
      return (token as Tokens.Text).tokens === undefined ? (
        token.raw
      ) : (
        <Inline tokens={(token as Tokens.Text).tokens ?? []} depth={0} />
      );
    default:
      // HTML too: it is shown, never obeyed.
      return <p>{token.raw}</p>;
  }
}

function Blocks({
  tokens,
  depth,
}: {
  readonly tokens: readonly Token[];
  readonly depth: number;
}): JSX.Element {
  return (
    <>
      {tokens.map((token, at) => (
        <Block key={at} token={token} depth={depth} />
      ))}
    </>
  );
}

/** What a model or a person wrote, as elements of ours: no HTML is ever made of it. */
export function Markdown({ text }: { readonly text: string }): JSX.Element {
  return (
    <div class="prose">
      {plainStretches(safeText(text)).map(({ isPlain, text: shown }, at) => {
        const tokens = isPlain ? null : tokensOf(shown);
        return tokens === null ? (
          <p key={at} class="plain">
            {shown}
          </p>
        ) : (
          <Blocks key={at} tokens={tokens} depth={0} />
        );
      })}
    </div>
  );
}
