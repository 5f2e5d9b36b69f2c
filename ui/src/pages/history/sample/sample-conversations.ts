import type { EntryBody } from "#log/entry";
import { client } from "../../../data/api-client.ts";
import { SAMPLE_TITLE, sampleEntries } from "../empty/sample.ts";
import { DECISION, FAILING_TEST, FIX_ASKED, OTHER_MODEL, SECOND_TRY } from "./failing-test.ts";
import { LONG_JOB, LONG_JOB_MS } from "./long-job.ts";
import { BUDGET, CAKE, map, MUSIC, OUTBOX } from "./small-stories.ts";
import { timed } from "./told-entries.ts";

/** The conversation that whoever loads the sample is led to. */
export const SAMPLE_ID = "sample";

interface Sample {
  readonly id: string;
  readonly title: string;
  readonly entries: readonly EntryBody[];
  /** It shares what lies before an entry of another one. */
  readonly forkOf?: readonly [conversation: string, entry: string];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** What there is to see, the oldest first: lists are in the order in which things were written. */
function samples(nowMs: number): readonly Sample[] {
  const before = (hours: number): number => nowMs - hours * HOUR_MS;
  return [
    { id: "sample-music", title: "What the band needs at eight", entries: timed(MUSIC, before(98)) },
    { id: "sample-budget", title: "Budget of 900, three ways", entries: timed(BUDGET, before(52)) },
    { id: "sample-cake", title: "Lemon cake for twelve", entries: timed(CAKE, before(29)) },
    {
      id: "sample-map",
      title: "Invitation page: a map of the orchard",
      entries: timed(map(nowMs + 2 * HOUR_MS), before(17)),
    },
    { id: "sample-outbox", title: "Did the email go out?", entries: timed(OUTBOX, before(5)) },
    {
      id: "sample-job",
      title: "A long job",
      entries: timed(LONG_JOB, nowMs - LONG_JOB_MS - 3 * HOUR_MS),
    },
    { id: "sample-test", title: "A test fails", entries: timed(FAILING_TEST, nowMs - 100 * MINUTE_MS) },
    {
      id: "sample-second-try",
      title: "A test fails, second try",
      entries: timed(SECOND_TRY, nowMs - 80 * MINUTE_MS),
      forkOf: ["sample-test", DECISION],
    },
    {
      id: "sample-other-model",
      title: "A test fails, by example-2",
      entries: timed(OTHER_MODEL, nowMs - 75 * MINUTE_MS),
      forkOf: ["sample-test", FIX_ASKED],
    },
    { id: SAMPLE_ID, title: SAMPLE_TITLE, entries: sampleEntries(nowMs) },
  ];
}

async function make({ id, title, entries, forkOf }: Sample): Promise<void> {
  const key = `holdfast-ui-${id}`;
  if (forkOf === undefined) {
    await client.createConversation({ id, title, entries }, { key });
    return;
  }
  const [conversation, at] = forkOf;
  await client.fork({ conversation, at, id }, { key });
  await client.setTitle({ conversation: id, title }, { key: `${key}-title` });
  await client.appendEntries({ conversation: id, entries }, { key: `${key}-entries` });
}

/** Makes what is not there yet. */
export async function makeSample(nowMs: number): Promise<void> {
  const { conversations } = await client.listConversations({ prefix: SAMPLE_ID, limit: 100 });
  const there = new Set(conversations.map(({ conversation }) => conversation));
  for (const sample of samples(nowMs)) if (!there.has(sample.id)) await make(sample);
}
