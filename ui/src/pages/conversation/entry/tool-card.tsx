import type { ComponentChildren, JSX } from "preact";
import { safeLine, safeText } from "#transfer/views/safe-text";
import type { ThreadRow } from "#edges/http/client/views";
import type { Entry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import { callText } from "#operations/text";
import { Icon, type IconName } from "../../../parts/marks/icon.tsx";
import { lazy } from "../../../parts/lazy.tsx";
import { changeIn } from "../../../text/changes/edited-text.ts";
import { wordsOf } from "../../../text/message-words.ts";
import { tellingArgument } from "../../../text/telling-argument.ts";
import { CopyIcon } from "../../../text/copy-icon.tsx";
import { LongText } from "../../../text/long/long-text.tsx";
import { shownChars } from "../../../text/long/shown-chars.ts";
import { MessageBody } from "./message-body.tsx";
import { isCardOpen, setCardOpen } from "./open-cards.ts";

const Ansi = lazy(async () => (await import("../../../text/ansi.tsx")).Ansi);
const LineDiff = lazy(async () => (await import("../../../text/changes/line-diff.tsx")).LineDiff);

const ICONS: readonly (readonly [RegExp, IconName])[] = [
  [/bash|shell|exec|command|terminal/i, "terminal"],
  [/mail/i, "mail"],
  [/grep|search|find|glob/i, "search"],
  [/edit|write|read|file|patch/i, "file"],
];

function iconOf(name: string): IconName {
  return ICONS.find(([pattern]) => pattern.test(name))?.[1] ?? "bolt";
}

type ShownCall = ThreadRow["calls"][number];

const STATE_ICONS: { readonly [S in ShownCall["state"]]: IconName } = {
  done: "check",
  failed: "x",
  unknown: "unknown",
  running: "runs",
  asked: "lock",
  not_started: "dash",
};

function Output({
  content,
  conversation,
}: {
  readonly content: readonly ContentBlock[];
  readonly conversation: string;
}): JSX.Element {
  const words = wordsOf(content);
  const media = content.filter(({ type }) => type !== "text");
  return (
    <>
      {words === "" ? null : (
        <div class="code-block">
          <CopyIcon text={words} what="output" />
          {words.length > shownChars(words) ? (
            <LongText text={words} label="Output" />
          ) : (
            <pre class="code term" tabIndex={0} role="group" aria-label="Output">
              <Ansi text={words} />
            </pre>
          )}
        </div>
      )}
      {media.length === 0 ? null : <MessageBody content={media} conversation={conversation} />}
    </>
  );
}

function Inside({
  shown,
  result,
  conversation,
}: {
  readonly shown: ShownCall;
  readonly result: Entry | null;
  readonly conversation: string;
}): JSX.Element {
  const { input, name } = shown;
  const change = changeIn(input);
  const content = result?.type === "message" ? result.message.content : [];
  const given = typeof input === "string" ? input : JSON.stringify(input, null, 2);
  return (
    <>
      {change === null ? (
        <div class="code-block">
          <CopyIcon text={given} what="input" />
          {given.length > shownChars(given) ? (
            <LongText text={given} label="Input" />
          ) : (
            <pre class="code term given" tabIndex={0} role="group" aria-label="Input">
              {safeText(given)}
            </pre>
          )}
        </div>
      ) : (
        <LineDiff {...change} name={tellingArgument(input) || name} />
      )}
      <Output content={content} conversation={conversation} />
    </>
  );
}

function UnknownNote({ verify }: { readonly verify?: () => void }): JSX.Element {
  return (
    <div class="effect-note">
      <span>This call started but its outcome is unknown. Holdfast did not retry it.</span>
      <span class="muted">The model reads: “outcome unknown, verify before retrying”.</span>
      {verify === undefined ? null : (
        <span class="effect-acts">
          <button class="link" type="button" onClick={verify}>
            Ask the agent to verify
          </button>
        </span>
      )}
    </div>
  );
}

function tookText(ms: number): string {
  return ms < 1_000
    ? `${ms} ms`
    : ms < 60_000
      ? `${(ms / 1_000).toFixed(1)} s`
      : `${Math.round(ms / 60_000)} min`;
}

/** A call of a tool on one line, and what is inside of it when it is opened. */
export function ToolCard({
  shown,
  result = null,
  conversation,
  verify,
  children,
}: {
  readonly shown: ShownCall;
  readonly result?: Entry | null;
  readonly conversation: string;
  readonly verify?: () => void;
  /** Beneath what came of it. */
  readonly children?: ComponentChildren;
}): JSX.Element {
  const { call, name, input, state, tookMs } = shown;
  const card = `${conversation} ${call}`;
  // What changes a file, and what nobody saw the end of, are looked at first.
  const isOpen = isCardOpen(card, changeIn(input) !== null || state === "unknown");
  const tone = state === "unknown" ? "tag unknown" : state === "failed" ? "minus" : "ok";
  return (
    <details
      class={state === "unknown" ? "card effect-unknown" : "card"}
      open={isOpen}
      onToggle={(event) => event.currentTarget.open !== isOpen && setCardOpen(card, event.currentTarget.open)}
    >
      <summary>
        <Icon name="right" class="chev" />
        <Icon name={iconOf(name)} />
        <span class="tool">{safeLine(name)}</span>
        <span class="arg cut">{tellingArgument(input)}</span>
        <span class="res">
          {tookMs === null ? null : <span class="faint">{tookText(tookMs)}</span>}
          <span class={tone}>
            <Icon name={STATE_ICONS[state]} />
            {callText(shown)}
          </span>
        </span>
      </summary>
      {state === "unknown" && isOpen ? <UnknownNote {...(verify === undefined ? {} : { verify })} /> : null}
      {isOpen ? <Inside shown={shown} result={result} conversation={conversation} /> : null}
      {isOpen ? children : null}
    </details>
  );
}
