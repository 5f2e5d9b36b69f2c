import type { JSX } from "preact";
import type { Api } from "#edges/http/client/index";
import { safeLine } from "#transfer/shown/shown-text";
import { client } from "../../data/api-client.ts";
import { type Loaded, useLoaded } from "../../data/loaded.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Carried } from "../../parts/marks/carried.tsx";
import { Carrier, carrierTone } from "../../parts/marks/carrier.tsx";
import { countText } from "../../parts/numbers.ts";
import { Moment } from "../../parts/shown-time.tsx";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { useReloadOn } from "../conversation/reload-on.ts";
import type { PageProps } from "../pages.ts";

type ChainLink = Api["getChain"]["response"]["links"][number];

const ROW_PX = 112;

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
  if (carried === null) return <span class="muted">carried nothing</span>;
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

function LinkRow({
  link,
  place,
  until,
  conversation,
}: {
  readonly link: ChainLink;
  readonly place: number;
  /** When the next one began; null: it is the head. */
  readonly until: string | null;
  readonly conversation: string;
}): JSX.Element {
  const { id, agent, account, reason, since, fidelity, told = null, ended = null, inherited } = link;
  return (
    <article class="link-row" data-up={carrierTone(place)} aria-label={`Upstream ${place + 1}`}>
      <div class="link-top">
        <Carrier place={place} />
        <b>{safeLine(reason).replaceAll("_", " ")}</b>
        <CopyButton text={safeLine(id)} what="id of the upstream session" />
        {until === null && !inherited ? <span class="tag">carries it now</span> : null}
        {inherited ? <span class="tag">of the source of the fork</span> : null}
      </div>
      <div class="link-facts">
        <span>
          {safeLine(agent)}
          {account === null ? "" : ` · ${safeLine(account)}`}
        </span>
        <span>
          <Moment time={since} /> {until === null ? "until now" : "to "}
          {until === null ? null : <Moment time={until} />}
        </span>
        <Range link={link} conversation={conversation} />
      </div>
      {place === 0 && told === null ? null : <Carried told={told} fidelity={fidelity} />}
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
    <section class="block" aria-label="Chain">
      <div class="block-head">
        <h2>Chain</h2>
        <span class="muted">
          {countText(links.length, "upstream session")} carried this conversation, the newest last
        </span>
      </div>
      {links.length === 0 ? (
        <p class="muted">
          No upstream session has carried it: turns of our own loop have none, and neither has an import.
        </p>
      ) : (
        <VirtualList
          count={links.length}
          role="list"
          rowRole="listitem"
          label="Upstream sessions"
          estimate={() => ROW_PX}
          keyOf={(index) => index}
          render={(index) => {
            const link = links[index];
            if (link === undefined) return <div />;
            return (
              <LinkRow
                link={link}
                place={index}
                until={links[index + 1]?.since ?? null}
                conversation={conversation}
              />
            );
          }}
        />
      )}
    </section>
  );
}
