import { expect } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import { parseSpaceId } from "#log/ids";
import type { ContractSubject } from "#store/contract/rig";
import { Rig, user } from "#store/contract/rig";
import { HOLDFAST_PROBES, MEMORY_PROBES } from "./holdfast-probes.ts";
import { dumpSpace, fillOther, OTHER, SECRET, type Stolen } from "./stolen-ids.ts";
import { VERB_PROBES } from "./verb-probes.ts";
import { spaceOf } from "#conversation/on-space";

/** What came of each attempt, by the verb and the space that it was made in. */
type Outcomes = { readonly [attempt: string]: unknown };

async function outcomeOf(attempt: () => Promise<unknown>): Promise<unknown> {
  try {
    return { answer: await attempt() };
  } catch (error) {
    if (!isLogError(error)) return { thrown: String(error) };
    const { code, message, details } = error;
    return { code, message, details };
  }
}

/** A space with nothing in it, and one with logs of the same names as the other's and what is its own in them. */
const THIEVES = ["empty", "twin"];

async function fillTwin(rig: Rig, holdfast: Holdfast): Promise<void> {
  for (const id of ["shared", "shared-fork", "mine"])
    await rig.create(spaceOf(holdfast), id, [user(`own of ${id}`, `${id}-own`)]);
}

/** Every attempt, in an order that is always the same; verbs that take away come last. */
async function probe(subject: ContractSubject, stolen: Stolen, library: boolean): Promise<Outcomes> {
  const outcomes: { [attempt: string]: unknown } = {};
  for (const name of THIEVES) {
    await using rig = new Rig(subject);
    const holdfast = new Holdfast(await rig.open(), name, rig.idsAndTime);
    if (name === "twin") outcomes["twin filled"] = await outcomeOf(() => fillTwin(rig, holdfast));
    const thief = { rig, space: spaceOf(holdfast), stolen };
    const probes = [
      ...Object.entries(VERB_PROBES)
        .filter(([verb]) => verb !== "erase")
        .map(([verb, attempts]) => [verb, attempts(thief)] as const),
      ...(library ? [HOLDFAST_PROBES, MEMORY_PROBES] : []).flatMap((table) =>
        Object.entries(table).map(([verb, attempts]) => [`.${verb}`, attempts(holdfast, stolen)] as const),
      ),
      ["erase", VERB_PROBES.erase(thief)] as const,
    ];
    for (const [verb, attempts] of probes)
      for (const [at, attempt] of attempts.entries())
        outcomes[`${name} ${verb} ${at}`] = await outcomeOf(attempt);
  }
  return outcomes;
}

/** A store to probe. What it makes is gone when it is made anew. */
export interface ProbedStore {
  make(): Promise<ContractSubject>;
  /** What the other space is on the disk, where there is one. */
  bytes?(): Promise<string>;
  /** A store that is spoilt on purpose is probed by the port alone: the library counts on what a store promises. */
  readonly spoilt?: boolean;
}

interface Probed {
  readonly outcomes: Outcomes;
  /** Attempts that were answered otherwise than in a store without the other space. */
  readonly leaks: readonly string[];
  readonly changed: boolean;
}

/** The same attempts with the other space there and without it: whoever can tell them apart has learnt something. */
export async function probeStore(probed: ProbedStore, reference: ProbedStore = probed): Promise<Probed> {
  const subject = await probed.make();
  await using rig = new Rig(subject);
  const store = await rig.open();
  const stolen = await fillOther(rig, store);
  const other = store.space(parseSpaceId(OTHER));
  const before = [await dumpSpace(other), await probed.bytes?.()];
  expect(before[0]).toContain(SECRET);
  expect([stolen.listCursor, stolen.runCursor]).not.toContain("");
  const outcomes = await probe(subject, stolen, probed.spoilt !== true);
  const after = await dumpSpace(other).catch((error: unknown) => String(error));
  const changed = after !== before[0] || (await probed.bytes?.()) !== before[1];
  const alone = await probeAlone(reference, stolen);
  const leaks = Object.keys(outcomes).filter((attempt) => {
    const [one, two] = [outcomes[attempt], alone[attempt]].map(comparable);
    return one !== two || one?.includes(SECRET) === true;
  });
  return { outcomes, leaks, changed };
}

const KNOWN = new WeakMap<ProbedStore, Outcomes>();

/** What the same attempts come to without the other space; names, times and links are the same in every run. */
async function probeAlone(reference: ProbedStore, stolen: Stolen): Promise<Outcomes> {
  const alone = KNOWN.get(reference) ?? (await probe(await reference.make(), stolen, true));
  KNOWN.set(reference, alone);
  return alone;
}

function comparable(outcome: unknown): string {
  return JSON.stringify(outcome, (_, value: unknown) =>
    value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value,
  );
}
