import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { CLAUDE } from "#vendors/claude/claude";
import { tempDir } from "../../../support/temp-dir.ts";
import { by, posted, told } from "../raw-requests.ts";
import { serve } from "../served.ts";

const OWN = "11111111-1111-4111-8111-111111111111";

/** What only an agent has, over HTTP, on a store of this kind. */
export function agentSessionCases(kind: string, open: () => Promise<Holdfast>): void {
  test(`${kind}: a session that only an agent has is listed, made a conversation of once, and then listed no more; another space sees none`, async () => {
    using folder = tempDir();
    const project = join(folder.path, "projects", "-w");
    mkdirSync(project, { recursive: true });
    const line = {
      type: "user",
      uuid: "u",
      parentUuid: null,
      sessionId: OWN,
      cwd: "/w",
      message: { role: "user", content: "Hello" },
    };
    writeFileSync(
      join(project, `${OWN}.jsonl`),
      `${JSON.stringify({ ...line, timestamp: "2026-01-01T00:00:00.000Z" })}\n`,
    );
    const records = CLAUDE.records?.open(folder.path);
    if (records === undefined) throw new Error("Claude has records");
    await using served = await serve({
      holdfast: await open(),
      agentRecords: new Map([["claude", records]]),
    });
    const [client, theirs] = [
      served.client(await served.token("admin")),
      served.client(await served.token("admin", "other")),
    ];
    const session = { agent: "claude", session: OWN };
    expect((await client.listAgentSessions()).sessions).toMatchObject([{ ...session, cwd: "/w" }]);
    expect((await theirs.listAgentSessions()).sessions).toEqual([]);
    await expect(theirs.adoptAgentSession(session)).rejects.toMatchObject({ status: 404 });
    for (const odd of ["../x", `${OWN}x`, "/etc/passwd"])
      await expect(client.adoptAgentSession({ agent: "claude", session: odd })).rejects.toMatchObject({
        status: 404,
      });
    const conversation = `claude:${OWN}`;
    for (let times = 0; times < 2; times++)
      expect(await client.adoptAgentSession(session)).toMatchObject({ conversation });
    const { messages } = await (await served.holdfast.conversation(conversation)).context();
    expect(messages.map(({ content }) => content)).toEqual([[{ type: "text", text: "Hello" }]]);
    expect((await client.getChain({ conversation })).links).toMatchObject([{ id: OWN, reason: "adopted" }]);
    expect((await client.listAgentSessions()).sessions).toEqual([]);
    const writer = await served.token("write");
    for (const init of [by(writer), posted(writer, session)])
      expect(await told(await served.ask("/api/agent-sessions", init))).toMatchObject({ code: "no_right" });
  });
}
