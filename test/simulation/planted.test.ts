/**
 * The simulation on trial. Goal: a harness that would not notice the bugs it was built for proves nothing. Method: each
 * bug is planted from outside, by a rule replaced in this file or by something between the host and its agents, and
 * the stories must be seen to break.
 */
import { afterEach, expect, test, vi } from "vitest";
import type { NativeMessage, Upstream, UpstreamSession } from "#upstream/upstream";
import type { EntryBody } from "#log/entry";
import type { ContextMessage } from "#log/projections/pairs";
import type { AttemptFacts, NextStep } from "#turn/rules/ending";
import type { EndingClass } from "#log/ending-class";
import { throughPort } from "./agent-watch.ts";
import { play, type StoryOptions } from "./story.ts";

const SEEDS = 80;

const planted = vi.hoisted(() => ({ bug: "" }));
afterEach(() => {
  planted.bug = "";
});

vi.mock("../../src/turn/rules/ending.ts", async (original) => {
  const real = await original<typeof import("#turn/rules/ending")>();
  const nextStep = (ending: EndingClass, facts: AttemptFacts): NextStep => {
    if (planted.bug === "chain reset on a rate limit" && ending === "limit")
      return { do: "finish", outcome: "failed", upstream: "drop" };
    if (planted.bug === "re-send after a tool ran")
      return real.nextStep(ending, { ...facts, toolStarted: false });
    if (planted.bug === "a session that always fails is kept")
      return real.nextStep(ending, { ...facts, failedBefore: false });
    if (planted.bug === "recovery looping") return real.nextStep(ending, { ...facts, recovered: false });
    return real.nextStep(ending, facts);
  };
  return { ...real, nextStep };
});

/** Another host's process is taken for the one that was told, and what a process held once for all there is. */
vi.mock("../../src/upstream/rules/proof.ts", async (original) => {
  const real = await original<typeof import("#upstream/rules/proof")>();
  const isBehind: typeof real.isBehind = (link, holds) =>
    planted.bug !== "any process is the same" && real.isBehind(link, holds);
  const proofOf: typeof real.proofOf = (link, standing) => {
    const any = planted.bug === "any process is the same" && standing.knownUpTo !== null;
    return real.proofOf(link, any ? { ...standing, knownUpTo: standing.lastModelNode } : standing);
  };
  return { ...real, isBehind, proofOf };
});

/** Whatever stands behind some old words of ours is taken for new. */
vi.mock("../../src/upstream/rules/agent-record.ts", async (original) => {
  const real = await original<typeof import("#upstream/rules/agent-record")>();
  const unseenMessages: typeof real.unseenMessages = (theirs, ours) =>
    real.unseenMessages(theirs, planted.bug === "own turns adopted" ? ours.slice(2) : ours);
  const unrecordedEvents: typeof real.unrecordedEvents = (record, heard) =>
    real.unrecordedEvents(
      planted.bug === "every result is a success" ? record.map(asSuccess) : record,
      heard,
    );
  return { ...real, unseenMessages, unrecordedEvents };
});

/** A result as a reader has it that leaves out whether it was an error. */
function asSuccess({ message }: Pick<NativeMessage, "message">): Pick<NativeMessage, "message"> {
  return { message: message.role === "toolResult" ? { ...message, isError: false } : message };
}

/** An agent in the host's process is asked on as soon as it has said what it is about to do. */
vi.mock("../../src/turn/recorder.ts", async (original) => {
  const real = await original<typeof import("#turn/recorder")>();
  class Recorder extends real.Recorder {
    override unawaitedIntent(): Promise<unknown> | null {
      const intent = super.unawaitedIntent();
      return planted.bug === "act before the intent is durable" ? null : intent;
    }
  }
  return { ...real, Recorder };
});

/** A turn that is taken up numbers its steps anew, so that nothing of it is known. */
vi.mock("../../src/agent/loop/answer-entries.ts", async (original) => {
  const real = await original<typeof import("#agent/loop/answer-entries")>();
  const answerPlace: typeof real.answerPlace = (facts, seq) => {
    const place = real.answerPlace(facts, seq);
    return place === null || planted.bug !== "steps numbered anew" ? place : { ...place, step: 0 };
  };
  return { ...real, answerPlace };
});

/** Words go out with the next step, and nobody writes that they did. */
vi.mock("../../src/turn/accept.ts", async (original) => {
  const real = await original<typeof import("#turn/accept")>();
  const deliveredBodies: typeof real.deliveredBodies = (waiting) => {
    const bodies = real.deliveredBodies(waiting);
    return planted.bug === "delivery not recorded" ? bodies.filter(({ type }) => type !== "steer") : bodies;
  };
  return { ...real, deliveredBodies };
});

/** A model of the loop is told the newest messages only, or no results of its calls. */
vi.mock("../../src/agent/models/request.ts", async (original) => {
  const real = await original<typeof import("#agent/models/request")>();
  const callOptionsOf: typeof real.callOptionsOf = (model, request) => {
    let { messages } = request;
    if (planted.bug === "loop without its history") messages = messages.slice(-2);
    if (planted.bug === "calls without results")
      messages = messages.filter(({ role }) => role !== "toolResult");
    if (planted.bug === "blank texts") messages = messages.map(withBlank);
    return real.callOptionsOf(model, { ...request, messages });
  };
  return { ...real, callOptionsOf };
});

/** A message as an answer can be: with a text that says nothing. */
function withBlank<M extends ContextMessage>(message: M): M {
  return { ...message, content: [...message.content, { type: "text", text: " " }] };
}

/** Texts that say nothing are sent. */
vi.mock("../../src/agent/models/message-parts.ts", async (original) => {
  const real = await original<typeof import("../../src/agent/models/message-parts.ts")>();
  const isBlank: typeof real.isBlank = (text) => planted.bug !== "blank texts" && real.isBlank(text);
  return { ...real, isBlank };
});

/** A replay gives a recorded result the details of the log, in which the state stands. */
vi.mock("../../src/turn/effects/tool-output.ts", async (original) => {
  const real = await original<typeof import("#turn/effects/tool-output")>();
  const returnedBeside: typeof real.returnedBeside = (details) =>
    planted.bug === "recorded state in the details" && details !== undefined
      ? { details }
      : real.returnedBeside(details);
  return { ...real, returnedBeside };
});

/** A session that has summarized its history is taken to hold nothing. */
vi.mock("../../src/upstream/attempt.ts", async (original) => {
  const real = await original<typeof import("#upstream/attempt")>();
  const endKnowledge: typeof real.endKnowledge = (turn, attempted, ended) =>
    planted.bug === "a summary undone" && JSON.stringify(ended.events).includes("compaction_update")
      ? { holds: null, written: { held: null } }
      : real.endKnowledge(turn, attempted, ended);
  return { ...real, endKnowledge };
});

/** A sign-out empties a context only where the account spoke last. */
vi.mock("../../src/log/projections/signed-in.ts", async (original) => {
  const real = await original<typeof import("#log/projections/signed-in")>();
  class AccountReader extends real.AccountReader {
    readonly #isTheirs: (link: Parameters<typeof real.isTheirs>[0]) => boolean;
    readonly #links = new Map<string, boolean>();
    #last: boolean = false;

    constructor(...[who, reset]: ConstructorParameters<typeof real.AccountReader>) {
      super(who, reset);
      this.#isTheirs = (link) => real.isTheirs(link, who);
    }

    override add(...[entry, source]: Parameters<(typeof real.AccountReader)["prototype"]["add"]>): void {
      super.add(entry, source);
      if (entry.type === "upstream_link") this.#links.set(entry.upstream, this.#isTheirs(entry));
      if (entry.type === "attempt") this.#last = this.#links.get(entry.upstream ?? "") === true;
    }

    override get found(): boolean {
      return super.found && (planted.bug !== "whoever spoke last is signed out" || this.#last);
    }
  }
  return { ...real, AccountReader };
});

/** A fork has whatever its source had by then, also what does not lie before the node it was taken at. */
vi.mock("../../src/conversation/read-log.ts", async (original) => {
  const real = await original<typeof import("#conversation/read-log")>();
  const inheritedBranch: typeof real.inheritedBranch = async (space, conversation) => {
    if (planted.bug !== "a fork has its source's later sessions")
      return real.inheritedBranch(space, conversation);
    const logs = await real.inheritedLogs(space, conversation);
    return logs.map(({ source, head }) => ({ source, upTo: head }));
  };
  return { ...real, inheritedBranch };
});

/** Text without the id of a message is a remark of the adapter, whichever version of it that is. */
vi.mock("../../src/vendors/adapters.ts", async (original) => {
  const real = await original<typeof import("#vendors/adapters")>();
  const dialectOf: typeof real.dialectOf = (vendor, introduced) =>
    planted.bug === "words without ids are remarks" ? vendor.dialect : real.dialectOf(vendor, introduced);
  return { ...real, dialectOf };
});

/** A request begins with whoever has said the first word. */
vi.mock("../../src/log/projections/pairs.ts", async (original) => {
  const real = await original<typeof import("#log/projections/pairs")>();
  const openedByUser: typeof real.openedByUser = (messages, opening) =>
    planted.bug === "the assistant first" ? messages : real.openedByUser(messages, opening);
  return { ...real, openedByUser };
});

/** What a model has signed is left out of what it is sent again. */
vi.mock("../../src/agent/models/assistant-parts.ts", async (original) => {
  const real = await original<typeof import("../../src/agent/models/assistant-parts.ts")>();
  const assistantParts: typeof real.assistantParts = (message, asking) =>
    real
      .assistantParts(message, asking)
      .map((part) =>
        planted.bug === "signatures left out" ? Object.assign(part, { providerOptions: undefined }) : part,
      );
  return { ...real, assistantParts };
});

/** What the newest upstream id carried, and nothing from before it. */
vi.mock("../../src/upstream/read-prior.ts", async (original) => {
  const real = await original<typeof import("#upstream/read-prior")>();
  const readPriorContext: typeof real.readPriorContext = async (space, conversation, wanted) => {
    const prior = await real.readPriorContext(space, conversation, wanted);
    if (planted.bug !== "filter by the newest upstream id only") return prior;
    const [link] = await space.read({ conversation, limit: 1, newestFirst: true, types: ["upstream_link"] });
    const carried = await space.read({
      conversation,
      after: link?.seq ?? 0,
      limit: 10_000,
      types: ["message"],
    });
    const ids = new Set(carried.map((entry) => entry.id));
    return { ...prior, messages: prior.messages.filter((message) => ids.has(message.entryId)) };
  };
  return { ...real, readPriorContext };
});

const late = vi.hoisted(() => ({ links: new Map<string, readonly EntryBody[]>() }));

vi.mock("../../src/upstream/sessions/choose.ts", async (original) => {
  const real = await original<typeof import("#upstream/sessions/choose")>();
  const linkBody: typeof real.linkBody = (link, upstream) => {
    const bodies = real.linkBody(link, upstream);
    if (planted.bug !== "link written after the prompt") return bodies;
    late.links.set(link.id, bodies);
    return [];
  };
  return { ...real, linkBody };
});

vi.mock("../../src/upstream/stream.ts", async (original) => {
  const real = await original<typeof import("#upstream/stream")>();
  const stream: typeof real.stream = async (turn, at) => {
    const streamed = await real.stream(turn, at);
    const link = late.links.get(at.choice.id) ?? [];
    late.links.delete(at.choice.id);
    if (link.length > 0) await turn.work.owner.append(link);
    if (planted.bug === "a new id is a new name") return { ...streamed, rolled: false };
    return streamed;
  };
  return { ...real, stream };
});

/** Tells an agent what was before only when a resume failed in its face. */
function onDetectedFailure(upstream: Upstream): Upstream {
  const trusting = (session: UpstreamSession): UpstreamSession =>
    throughPort(session, (request) => session.prompt({ ...request, proven: true }));
  let failed = false;
  return {
    ...upstream,
    open: async (settings) => {
      const session = await upstream.open(settings);
      return failed ? session : trusting(session);
    },
    resume: async (id, settings) => {
      failed = true;
      const session = trusting(await upstream.resume(id, settings));
      failed = false;
      return session;
    },
  };
}

/** The first violations from this seed on; null when there are none within a few. */
async function firstViolations(
  from: number = 1,
  more: Partial<StoryOptions> & { readonly seeds?: number } = {},
): Promise<string | null> {
  const { seeds = SEEDS, ...others } = more;
  for (let seed = from; seed < from + seeds; seed++) {
    const { violations } = await play({ people: 3, prompts: 12, probability: 0.02, ...others, seed });
    if (violations.length > 0) return `seed ${seed}: ${violations.join("\n")}`;
  }
  return null;
}

// The stories in which the planted ones are found; the long run has hundreds without a finding.
test.each([1, 50])(
  "nothing is found where nothing is planted (from seed %i)",
  async (from) => {
    expect(await firstViolations(from, { seeds: 6 })).toBeNull();
  },
  60_000,
);

/** Where only a kind of fault shows a bug, it strikes more often. */
const OFTEN = { probability: 0.2, kills: false };

test.each<[bug: string, shows: RegExp, more?: Partial<StoryOptions>]>([
  ["filter by the newest upstream id only", /was answered/],
  ["link written after the prompt", /before its link was durable|before it was linked/],
  ["chain reset on a rate limit", /for a mere limit|was limited and then left/],
  ["re-send after a tool ran", /sent again after a tool ran|sent twice/],
  ["recovery looping", /recovered \d+ times/],
  ["any process is the same", /was answered/],
  ["a new id is a new name", /was answered/, { ...OFTEN, faults: ["roll"] }],
  ["a session that always fails is kept", /prompts in a row and was used again/, { faults: ["corrupt"] }],
  ["a summary undone", /summarized .* and is told it again/],
  ["words without ids are remarks", /taken to have said nothing/],
  ["own turns adopted", /was told twice/],
  ["act before the intent is durable", /sent twice/, { seed: 68 }], // it needs a kill in the very moment
  ["every result is a success", /recorded as done and never ran/, { seed: 10 }],
  ["steps numbered anew", /sent twice|started twice/, { seed: 222 }],
  ["delivery not recorded", /was told twice/],
  ["loop without its history", /was answered|refused a request/],
  ["the assistant first", /first message must be the user's/],
  ["signatures left out", /signature of a/],
  ["calls without results", /have the results|have no results/],
  ["blank texts", /is blank/],
  ["recorded state in the details", /its record does not have/, { seed: 29 }],
  ["whoever spoke last is signed out", /which was signed out of/, { seed: 13 }],
  ["a fork has its source's later sessions", /began after the fork was taken/],
])(
  "the stories break on a planted bug: %s",
  async (bug, shows, { seed = 1, ...more } = {}) => {
    planted.bug = bug;
    expect(await firstViolations(seed, more)).toMatch(shows);
  },
  60_000,
);

test("the stories break on a planted bug: prior context only on detected failure", async () => {
  // An agent that does not know of an email sends it again.
  expect(await firstViolations(1, { around: onDetectedFailure })).toMatch(/was answered|sent twice/);
});
