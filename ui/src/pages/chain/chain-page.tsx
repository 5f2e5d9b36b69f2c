import type { JSX } from "preact";
import { safeLine } from "#transfer/shown/shown-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { Carrier, carrierTone } from "../../parts/marks/carrier.tsx";
import { clockText, dayText } from "../../parts/shown-time.tsx";
import type { PageProps } from "../pages.ts";
import { openedConversation } from "../conversation/opened-conversation.ts";

const FIDELITY: Readonly<Record<string, string>> = {
  native: "by its own memory",
  transcript: "from a transcript that was written for it",
  preamble: "from a preamble: messages word for word, older ones in outline",
};

/** Every upstream session that the conversation has held: why it began, what it was told, which entries it carried. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const rollovers = openedConversation(conversation)?.view.headSeq ?? 0;
  const { value, error, reload } = useLoaded(
    (signal) => client.getChain({ conversation }, { signal }),
    [conversation, rollovers],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <p class="block" />;
  if (value.links.length === 0)
    return (
      <p class="block muted">
        No upstream session has carried it: turns of our own loop have none, and neither has an import.
      </p>
    );
  return (
    <div class="block scroll-x" tabIndex={0} role="region" aria-label="Chain">
      <table class="sheet chain-sheet">
        <caption class="sr">Upstream sessions, the oldest first</caption>
        <thead>
          <tr>
            {[
              "",
              "Session",
              "Agent",
              "Since",
              "Why it began",
              "How it knows the conversation",
              "Entries",
            ].map((name) => (
              <th key={name} scope="col">
                {name === "" ? <span class="sr">Carrier</span> : name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {value.links.map(({ id, agent, account, since, reason, fidelity, carried, inherited }, place) => (
            <tr key={place} data-up={carrierTone(place)}>
              <td class="band">
                <Carrier place={place} />
              </td>
              <td>
                <CopyButton text={safeLine(id)} what="session" />
                {inherited ? <span class="tag">inherited</span> : null}
                {place === value.links.length - 1 ? <span class="tag ok">head</span> : null}
              </td>
              <td>
                {safeLine(agent)}
                {account === null ? "" : `, ${safeLine(account)}`}
              </td>
              <td>
                {dayText(since)} {clockText(since)}
              </td>
              <td>{safeLine(reason).replaceAll("_", " ")}</td>
              <td>{fidelity === null ? "was never asked" : FIDELITY[fidelity]}</td>
              <td class="num">{carried === null ? "none" : `${carried.fromSeq}–${carried.toSeq}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
