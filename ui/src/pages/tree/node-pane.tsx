import type { ComponentChildren, JSX } from "preact";
import type { TreeNode } from "#edges/http/client/views";
import { safeLine, safeText, shortId } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { say } from "../../frame/said.tsx";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Icon, type IconName } from "../../parts/marks/icon.tsx";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { attempted, forkAt } from "../conversation/entry/acts.ts";
import { hasPage } from "../has-page.ts";
import type { ForkMark } from "./tree-rows.ts";
import { togglePick } from "./tree-picks.ts";

const KINDS: { readonly [kind: string]: string } = {
  start: "Start of the conversation",
  prompt: "Prompt",
  answer: "Answer",
  tools: "Tools",
  setting: "Setting",
};

function Leads({
  icon,
  to,
  children,
}: {
  readonly icon: IconName;
  readonly to: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <a class="btn" href={to}>
      <Icon name={icon} />
      {children}
    </a>
  );
}

/** Picks for a comparison, or lets go. */
function Pick({ address, side }: { readonly address: string; readonly side: "a" | "b" | null }): JSX.Element {
  return (
    <button
      class="btn"
      type="button"
      aria-pressed={side !== null}
      aria-keyshortcuts="Space"
      onClick={() => togglePick(address)}
    >
      <Icon name={side === null ? "plus" : "x"} />
      {side === null ? "Select to compare" : `${side.toUpperCase()} selected · Clear`}
    </button>
  );
}

async function goTo(conversation: string, entry: string): Promise<void> {
  const done = await attempted(() => client.goTo({ conversation, entry }));
  if (done !== null) say("The next message continues from here. Files and external effects are not undone.");
}

async function fork(conversation: string, entry: string): Promise<void> {
  const found = await attempted(() => client.getEntry({ conversation, entry }));
  if (found !== null) await forkAt(conversation, { entry: found, noFork: null });
}

interface NodePaneProps {
  readonly conversation: string;
  readonly node: TreeNode;
  /** Where the branch through it ends. */
  readonly end: string;
  readonly isLeaf: boolean;
  readonly side: "a" | "b" | null;
  /** What its way took since it parted from others. */
  readonly since: string;
}

/** The entry that was chosen, and where one can go from it. */
export function NodePane({ conversation, node, end, isLeaf, side, since }: NodePaneProps): JSX.Element {
  const { id, treeKind: kind, type, label, active, inherited, hidden, preview, children } = node;
  const address = `${conversation}@${id}`;
  const about = [
    `seq ${node.seq}`,
    active ? "on the active branch" : "on another branch",
    ...(children.length > 1 ? [`${children.length.toLocaleString("en-US")} branches start here`] : []),
    ...(inherited ? ["inherited"] : []),
    ...(hidden ? ["hidden from the model"] : []),
  ];
  return (
    <section class="node-pane" aria-labelledby="node-h">
      <h3 id="node-h">
        {KINDS[kind] ?? safeLine(type.replaceAll("_", " "))}
        {label === null ? null : (
          <span class="tag">
            <Icon name="label" />
            <span class="cut">{safeLine(label)}</span>
          </span>
        )}
      </h3>
      <p class="faint">{about.join(" · ")}</p>
      <p class="faint">{since}</p>
      {preview === "" ? null : <p class="node-words">{safeText(preview)}</p>}
      <div class="node-acts">
        <Leads
          icon="history"
          to={conversationAddress(conversation, "", { leaf: active ? null : end, at: id })}
        >
          Open in the conversation
        </Leads>
        <button class="btn" type="button" onClick={() => void fork(conversation, id)}>
          <Icon name="fork" />
          Fork from here
        </button>
        {isLeaf ? null : (
          <button class="btn" type="button" onClick={() => void goTo(conversation, id)}>
            <Icon name="steer" />
            Continue from here
          </button>
        )}
        {hasPage("/c/:conversation/context") ? (
          <Leads icon="context" to={conversationAddress(conversation, "context", { at: id })}>
            Context here
          </Leads>
        ) : null}
        {hasPage("/replay") ? (
          <Leads icon="replay" to={addressOf("/replay", { conversation, at: id, leaf: active ? null : end })}>
            Replay from here
          </Leads>
        ) : null}
        <Pick address={address} side={side} />
        <CopyButton text={address} what="address" />
      </div>
    </section>
  );
}

/** A fork that was chosen. */
export function ForkPane({
  fork: { conversation, title, isReplay, about, entry },
  side,
}: {
  readonly fork: ForkMark;
  readonly side: "a" | "b" | null;
}): JSX.Element {
  return (
    <section class="node-pane" aria-labelledby="node-h">
      <h3 id="node-h">{safeLine(title)}</h3>
      <p class="faint">{`${isReplay ? "Replay" : "Fork"} from ${shortId(entry)} · ${safeLine(about)}`}</p>
      <div class="node-acts">
        <Leads icon={isReplay ? "replay" : "fork"} to={conversationAddress(conversation)}>
          Open it
        </Leads>
        <Leads icon="history" to={conversationAddress(conversation, "tree")}>
          Its tree
        </Leads>
        <Pick address={conversation} side={side} />
        <CopyButton text={conversation} what="id" />
      </div>
    </section>
  );
}
