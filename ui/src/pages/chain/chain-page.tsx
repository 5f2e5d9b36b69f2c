import type { JSX } from "preact";
import type { Api } from "#edges/http/client/index";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { type Loaded, useLoaded } from "../../data/loaded.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Carried } from "../../parts/marks/carried.tsx";
import { Carrier, carrierLetter, carrierTone } from "../../parts/marks/carrier.tsx";
import { isCurrent, type Links, startWords } from "../../parts/marks/session-start.ts";
import { countText } from "../../parts/numbers.ts";
import { Moment } from "../../parts/shown-time.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { useReloadOn } from "../conversation/reload-on.ts";
import type { PageProps } from "../pages.ts";

type ChainLink = Api["getChain"]["response"]["links"][number];

const ROW_PX = 132;

/** The chain, and again when a turn ends or a session begins. */
function useChain(conversation: string): Loaded<Api["getChain"]["response"]> {
  const loaded = useLoaded(
    (signal) => client.getChain({ conversation, details: true }, { signal }),
    [conversation],
  );
  useReloadOn(loaded, conversation, ["turn_end", "upstream_link"]);
  return loaded;
}

function Range({
  link,
  conversation,
}: {
  readonly link: ChainLink;
  readonly conversation: string;
}): JSX.Element {
  const { carried, inherited, messages = 0 } = link;
  if (carried === null) return <span class="muted">no entries</span>;
  const words = `entries ${carried.fromSeq.toLocaleString("en-US")}–${carried.toSeq.toLocaleString("en-US")}`;
  return (
    <>
      {inherited ? (
        <span>{words}</span>
      ) : (
        <a class="link" href={conversationAddress(conversation, "log", { seq: String(carried.fromSeq) })}>
          {words}
        </a>
      )}
      <span>{countText(messages, "message")}</span>
    </>
  );
}

/** When a session was replaced: the next one started, or the fork was taken. */
function Until({ links, place }: { readonly links: Links; readonly place: number }): JSX.Element {
  const next = links[place + 1];
  if (isCurrent(links, place)) return <>until now</>;
  if (next === undefined || next.source !== links[place]?.source) return <>until the fork</>;
  return (
    <>
      to <Moment time={next.since} />
    </>
  );
}

function LinkRow({
  link,
  links,
  place,
  conversation,
}: {
  readonly link: ChainLink;
  readonly links: Links;
  readonly place: number;
  readonly conversation: string;
}): JSX.Element {
  const { id, agent, account, since, fidelity, priorContext = null, ended = null, inherited } = link;
  const name = `Session ${carrierLetter(place)}`;
  return (
    <article class="link-row" data-up={carrierTone(place)} aria-label={name}>
      <div class="link-top">
        <Carrier place={place} />
        <b>{name}</b>
        {isCurrent(links, place) ? <span class="tag">current</span> : null}
        {inherited ? <span class="tag">inherited from the source</span> : null}
        <CopyButton text={safeLine(id)} what="id of the agent session" />
      </div>
      <p class="link-facts">Started: {startWords(links, place)}</p>
      <div class="link-facts">
        <span>
          {safeLine(agent)}
          {account === null ? "" : ` · ${safeLine(account)}`}
        </span>
        <span>
          <Moment time={since} /> <Until links={links} place={place} />
        </span>
        <Range link={link} conversation={conversation} />
      </div>
      {place === 0 && priorContext === null ? null : (
        <Carried priorContext={priorContext} fidelity={fidelity} />
      )}
      {ended === null ? null : <p class="link-facts">Ended: “{safeLine(ended.reason)}”</p>}
    </article>
  );
}

export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const { value, error, reload } = useChain(conversation);
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  const { links } = value;
  return (
    <section class="block" aria-label="Sessions">
      <div class="block-head">
        <h2>Sessions</h2>
        <span class="muted">
          {countText(links.length, "agent session")} ran this conversation, newest last
        </span>
      </div>
      {links.length === 0 ? (
        <p class="muted">No agent sessions. Holdfast’s own agent loop and imports do not use them.</p>
      ) : (
        <VirtualList
          count={links.length}
          role="list"
          rowRole="listitem"
          label="Agent sessions"
          estimate={() => ROW_PX}
          keyOf={(index) => index}
          render={(index) => {
            const link = links[index];
            if (link === undefined) return <div />;
            return <LinkRow link={link} links={links} place={index} conversation={conversation} />;
          }}
        />
      )}
    </section>
  );
}
