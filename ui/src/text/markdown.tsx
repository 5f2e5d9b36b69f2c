import { Lexer, type Token, type Tokens } from "marked";
import type { ComponentChildren, JSX } from "preact";
import { safeText } from "#transfer/views/safe-text";
import { lazy } from "../parts/lazy.tsx";
import { Checkbox, Inline } from "./inline.tsx";
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
    <li key={at} class={item.task ? "task" : undefined}>
      <Blocks tokens={item.tokens} depth={depth + 1} />
    </li>
  ));
  return token.ordered ? (
    <ol dir="auto" start={Number(token.start) || 1}>
      {items}
    </ol>
  ) : (
    <ul dir="auto">{items}</ul>
  );
}

type HeadingLevels = ReadonlyMap<Token, 2 | 3 | 4 | 5 | 6>;

/** The level of each heading on the page, below its title: none is more than one below the one before it, whatever the text says. */
function headingLevels(tokens: readonly Token[]): HeadingLevels {
  const levels = new Map<Token, 2 | 3 | 4 | 5 | 6>();
  let before = 1;
  for (const token of tokens) {
    if (token.type !== "heading") continue;
    const level = Math.min(6, (token as Tokens.Heading).depth + 1, before + 1) as 2 | 3 | 4 | 5 | 6;
    levels.set(token, level);
    before = level;
  }
  return levels;
}

/** As large as it is meant; one inside a list or a quote is no heading of the page. */
function Heading({
  token,
  level,
}: {
  readonly token: Tokens.Heading;
  readonly level: 2 | 3 | 4 | 5 | 6 | undefined;
}): JSX.Element {
  const Tag = level === undefined ? "p" : (`h${level}` as const);
  return (
    <Tag class={`heading d${token.depth}`} dir="auto">
      <Inline tokens={token.tokens} depth={0} />
    </Tag>
  );
}

function Table({ token }: { readonly token: Tokens.Table }): JSX.Element {
  return (
    <div class="scroll-x" tabIndex={0} role="group" aria-label="Table">
      <table class="sheet">
        <thead>
          <tr>
            {token.header.map((cell, at) => (
              <th key={at} scope="col" dir="auto" data-align={cell.align ?? undefined}>
                <Inline tokens={cell.tokens} depth={0} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, line) => (
            <tr key={line}>
              {row.map((cell, at) => (
                <td key={at} dir="auto" data-align={cell.align ?? undefined}>
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

function Block({
  token,
  depth,
  levels,
}: {
  readonly token: Token;
  readonly depth: number;
  readonly levels?: HeadingLevels;
}): ComponentChildren {
  if (depth > DEPTH_MAX) return <p>{token.raw}</p>;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "code":
      return <CodeBlock code={(token as Tokens.Code).text} language={(token as Tokens.Code).lang ?? ""} />;
    case "heading":
      return <Heading token={token as Tokens.Heading} level={levels?.get(token)} />;
    case "blockquote":
      return (
        <blockquote dir="auto">
          <Blocks tokens={(token as Tokens.Blockquote).tokens} depth={depth + 1} />
        </blockquote>
      );
    case "list":
      return <List token={token as Tokens.List} depth={depth} />;
    case "table":
      return <Table token={token as Tokens.Table} />;
    case "checkbox":
      return <Checkbox token={token as Tokens.Checkbox} />;
    case "hr":
      return <hr />;
    case "paragraph":
      return (
        <p dir="auto">
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
  levels,
}: {
  readonly levels?: HeadingLevels;
  readonly tokens: readonly Token[];
  readonly depth: number;
}): JSX.Element {
  return (
    <>
      {tokens.map((token, at) => (
        <Block key={at} token={token} depth={depth} {...(levels === undefined ? {} : { levels })} />
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
          <p key={at} class="plain" dir="auto">
            {shown}
          </p>
        ) : (
          <Blocks key={at} tokens={tokens} depth={0} levels={headingLevels(tokens)} />
        );
      })}
    </div>
  );
}
