/** What a session is given in front of a prompt: as much as it lacks, and nothing where it is verified. */
import { expect, test } from "vitest";
import type { PromptRequest, Upstream, UpstreamSession } from "#upstream/upstream";
import { withPreamble } from "#upstream/rules/preamble";
import { NO_PRIOR_CONTEXT } from "#upstream/rules/prior-context";
import { aRig, type Rig } from "./rig.ts";

/** A rig that keeps what each prompt was given. */
async function watched(): Promise<{ readonly rig: Rig; readonly given: PromptRequest[] }> {
  const given: PromptRequest[] = [];
  const watch = (session: UpstreamSession): UpstreamSession => ({
    id: session.id,
    transcript: session.transcript,
    get process() {
      return session.process;
    },
    prompt: (request) => (given.push(request), session.prompt(request)),
    cancel: () => session.cancel(),
    close: () => session.close(),
  });
  const around = (upstream: Upstream): Upstream => ({
    ...upstream,
    open: async (settings) => watch(await upstream.open(settings)),
    resume: async (id, settings) => watch(await upstream.resume(id, settings)),
  });
  return { rig: await aRig({ around }), given };
}

test("a verified session is given nothing, a new one what was said before, once", async () => {
  const { rig, given } = await watched();
  await rig.say("remember color=blue", "remember shape=round", "recall color");
  expect(given.map(({ prior, proven }) => [prior, proven])).toEqual(
    given.map(() => [NO_PRIOR_CONTEXT, true]),
  );
  expect(withPreamble(NO_PRIOR_CONTEXT, "as it is")).toBe("as it is");
  rig.script({ kind: "expire", phase: "start" });
  expect(await rig.say("recall shape")).toBe("round");
  expect(given.at(-1)).toMatchObject({ proven: false });
  expect(JSON.stringify(given.at(-1)?.prior)).toContain("shape=round");
  expect(await rig.say("recall color")).toBe("blue");
  expect(given.at(-1)).toMatchObject({ proven: true, prior: NO_PRIOR_CONTEXT });
});
