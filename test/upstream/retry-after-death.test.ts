/** A host that dies may not have heard what its agent did: whoever sends the prompt once more would have it done twice. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { Host } from "#turn/host";
import { Runtime } from "#upstream/runtime";
import type { NativeMessage, Upstream } from "#upstream/upstream";
import { LogError } from "#log/errors";
import { inMemoryStore } from "#stores/in-memory/index";
import type { Store } from "#store/store";
import type { SpaceStore } from "#store/facets";
import { actingUpstream, emailing } from "../support/acting-upstream.ts";

const host: Host = { onEvent: () => undefined };

/** The same store as a host sees it that is dead from its first intent on. */
function dyingAtIntent(store: Store): Store {
  let dead = false;
  const around = (space: SpaceStore): SpaceStore => ({
    ...space,
    append: async (request) => {
      dead ||= request.drafts.some(({ draft }) => draft.type === "tool_intent");
      if (dead) throw new LogError("disk_full", "This host is dead");
      return space.append(request);
    },
    renew: (request) => space.renew({ ...request, leaseMs: 0 }),
  });
  return { ...store, space: (id) => around(store.space(id)) };
}

async function afterDeath(upstream: (acts: string[]) => Upstream) {
  const acts: string[] = [];
  const store = inMemoryStore();
  const upstreams = [upstream(acts)] as const;
  const dead = new Runtime(new Holdfast(dyingAtIntent(store), "default"), { upstreams });
  const holdfast = new Holdfast(store, "default");
  const { id } = await holdfast.create();
  await dead.send(id, "email bob", host).catch(() => undefined);
  return { acts, id, holdfast, runtime: new Runtime(holdfast, { upstreams }) };
}

const elsewhere = (acts: string[]): Upstream => ({
  ...actingUpstream(async function* () {
    acts.push("email"); // it goes on whether or not anyone listens
    yield* emailing(() => undefined)({} as never);
  }),
  toolsElsewhere: true,
});

// A record that was cut looks like one in which nothing happened.
const cutRecord = async (): Promise<readonly NativeMessage[]> => [];

test.each([
  ["has no record", elsewhere],
  ["has a record that says nothing of it", (acts: string[]) => ({ ...elsewhere(acts), history: cutRecord })],
])("a prompt whose host died is not sent once more to an agent elsewhere that %s", async (_, upstream) => {
  const { acts, id, holdfast, runtime } = await afterDeath(upstream);
  await expect(runtime.retry(id, host)).rejects.toMatchObject({ code: "invalid_request" });
  expect(acts).toEqual(["email"]);
  expect(await runtime.send(id, "did it work?", host)).toMatchObject({ outcome: "completed" });
  expect((await (await holdfast.conversation(id)).head()).lease).toBeNull();
});

test("a prompt whose host died is sent once more to an agent that lives in the host", async () => {
  const { acts, id, runtime } = await afterDeath((made) =>
    actingUpstream(emailing(() => made.push("email"))),
  );
  expect(await runtime.retry(id, host)).toMatchObject({ outcome: "completed" });
  expect(acts).toEqual(["email"]);
});
