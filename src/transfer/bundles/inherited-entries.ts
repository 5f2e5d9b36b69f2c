import { branchPages } from "#conversation/branch-pages";
import type { Conversation } from "#conversation/conversation";
import { idForKey } from "#conversation/id-for-key";
import { type Entry, FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { INHERITED_FACTS, targetOf } from "#log/entry-types";
import { type EntryId, parseEntryId } from "#log/ids";
import type { ForkPoint } from "#log/lineage/head";
import { labelsOf } from "#log/projections/labels";
import type { HeadView } from "#store/requests";
import { membersOf, objectText } from "#log/json/json-text";

/** What a fork inherited, as entries of a log of its own. */
export interface Inherited {
  readonly count: number;
  /** In their order; they have no numbers yet. */
  entries(): AsyncGenerator<StoredEntry>;
}

/** A fork's origin as files and entries write it. */
export function originMember({ source, entry, head }: ForkPoint): object {
  return { conversation: source, entry, head };
}

/** The branch a fork grew from, and what its sources had said about those entries when it was made. */
export async function inheritedEntries(
  conversation: Conversation,
  head: HeadView & { readonly origin: ForkPoint },
): Promise<Inherited> {
  const { origin } = head;
  const { nodes, facts } = await factsOnBranch(conversation, head);
  return {
    count: nodes + facts.length,
    async *entries() {
      for await (const page of branchPages(conversation, origin))
        for (const node of page) {
          // Imported, the log says by itself how far it was inherited.
          const payload =
            node.parentId === null
              ? withOrigin(node.payload, JSON.stringify(originMember(origin)))
              : node.payload;
          yield changedEntry(node, { payload });
        }
      yield* facts;
    },
  };
}

/** A copy member by member: the text of an entry that was read is not listed among them. */
export function changedEntry(
  { v, id, seq, parentId, time, type, payload }: StoredEntry,
  change: Partial<StoredEntry>,
): StoredEntry {
  return { v, id, seq, parentId, time, type, payload, ...change };
}

interface BranchFacts {
  readonly nodes: number;
  readonly facts: readonly StoredEntry[];
}

/** How long the branch is, and all that is said about its nodes. The branch itself is not held. */
async function factsOnBranch(
  conversation: Conversation,
  head: HeadView & { readonly origin: ForkPoint },
): Promise<BranchFacts> {
  const { id: fork } = conversation;
  const own = await ownHides(conversation);
  const labels = labelsOf(await conversation.inheritedFacts(["label"]));
  const others = INHERITED_FACTS.length === 0 ? [] : await conversation.inheritedFacts(INHERITED_FACTS);
  const targets = new Set(others.map((fact) => factTarget(fact)));
  const there = new Set<EntryId>();
  const facts: StoredEntry[] = [];
  const addFact = (type: "hide" | "label", target: EntryId, payload: object): void => {
    const id = parseEntryId(idForKey(type, fork, target));
    const fact = { v: FORMAT_VERSION, id, seq: 0, parentId: null, time: head.createdAt, type };
    facts.push({ ...fact, payload: JSON.stringify(payload) });
  };
  let nodes = 0;
  for await (const page of branchPages(conversation, head.origin))
    for (const { id, hidden } of page) {
      nodes++;
      const label = labels.get(id);
      if (hidden && !own.has(id)) addFact("hide", id, { target: id });
      if (label !== undefined) addFact("label", id, { target: id, label });
      if (targets.has(id)) there.add(id);
    }
  for (const fact of others) {
    const target = factTarget(fact);
    // A fork's own entries may have the ids of these facts already.
    if (target !== null && there.has(target))
      facts.push(changedEntry(fact, { id: parseEntryId(idForKey(fact.type, fork, fact.id)) }));
  }
  return { nodes, facts };
}

function factTarget(fact: Entry): EntryId | null {
  return targetOf(fact.type, { ...fact });
}

/** The entries whose hiding the fork decided itself; its own log carries that. */
async function ownHides(conversation: Conversation): Promise<ReadonlySet<EntryId>> {
  const targets = new Set<EntryId>();
  for (const fact of await conversation.facts(["hide"])) if (fact.type === "hide") targets.add(fact.target);
  return targets;
}

/** The first entry says how far the log was inherited, so that what its source paid for is not counted twice. */
export function withOrigin(body: string, origin: string): string {
  const others = membersOf(body).filter(({ name }) => name !== "forkedFrom");
  return objectText([...others, { name: "forkedFrom", text: origin }]);
}

/** The object with another value of a member, where that stands. */
export function replaceMember(object: string, name: string, text: string): string {
  return objectText(membersOf(object).map((member) => (member.name === name ? { name, text } : member)));
}
