import type { Holdfast } from "#conversation/holdfast";
import { FORMAT_VERSION } from "#log/entry";

const LONG = "a long tool output ".repeat(1_000);

let second = 0;
/** A body as text, with an id and a time of its own. */
function at(id: string, type: string, payload: string): string {
  const time = new Date(Date.UTC(2026, 0, 1, 10, 0, ++second)).toISOString();
  return `{"id":"${id}","time":"${time}","type":"${type}",${payload}}`;
}

function said(role: string, content: string, more: string = ""): string {
  return `"message":{"role":"${role}","content":[${content}]${more}}`;
}

function text(words: string): string {
  return `{"type":"text","text":"${words}"}`;
}

/** A conversation that has one of everything the current version writes, and a fork of it. */
export async function goldenChat(holdfast: Holdfast): Promise<void> {
  second = 0;
  const chat = await holdfast.create({ id: "chat", title: `Version ${FORMAT_VERSION}`, cwd: "/repo" });
  const call = '{"type":"toolCall","id":"c1","name":"bash","input":{"n":12345678901234567890,"x":1.0,"x":2}}';
  const used = '"usage":{"inputTokens":5,"outputTokens":4}';
  await chat.append(
    [
      at("u1", "message", said("user", text("Fix the tests"))),
      at("a1", "message", said("assistant", call, `,"model":"example-1","stopReason":"toolUse",${used}`)),
      at(
        "r1",
        "message",
        said(
          "toolResult",
          text("NUL \\u0000, lone \\ud800, 東京"),
          ',"toolCallId":"c1","toolName":"bash","isError":true',
        ),
      ),
      at("mc", "model_change", '"model":"example-2"'),
    ],
    { key: "turn-1" },
  );
  await chat.append([
    at("a2", "message", said("assistant", text("The parser is wrong."))),
    at("l1", "upstream_link", '"upstream":"up-1","agent":"claude","reason":"first"'),
    at("sc", "state_change", '"state":{"step":1}'),
    at("cu", "custom", '"customType":"note","data":{"any":"json"}'),
  ]);
  await chat.append([
    at(
      "rs",
      "run_start",
      '"run":"r","trigger":"timer","triggerId":"t:7","mailbox":"inbox","window":200000,"policy":{},"tools":["bash"],"seedCount":0,"continues":"r0","promptPatch":{"date":null}',
    ),
    at("ts", "turn_start", '"turn":"t","prompt":"u1","run":"r"'),
    at("at", "attempt", '"turn":"t","model":"example-2","promptDigest":"9f2c","toolsDigest":"5b0e"'),
    at("ae", "attempt_end", `"turn":"t","class":"limit","model":"example-2",${used}`),
    at(
      "up",
      "update",
      '"turn":"t","data":{"events":[{"type":"other","data":1},{"type":"final_text","message":"m","text":"w"}]}',
    ),
    at(
      "uq",
      "update",
      '"turn":"t","data":{"events":[{"type":"told","data":1},{"type":"text","text":"x","remark":true}]}',
    ),
    at("pm", "permission", '"request":"p1","call":"c1","turn":"t","options":[{"id":"yes","name":"Allow"}]'),
    at("te", "turn_end", '"turn":"t","outcome":"completed"'),
    at("re", "run_end", '"run":"r","status":"failed","error":{"message":"no money"}'),
    at("cw", "cwd", '"cwd":"/moved","project":{"id":"git:abc"}'),
  ]);
  await chat.appendOutside([
    at("lb", "label", '"target":"a2","label":"decision"'),
    at("hd", "hide", '"target":"r1"'),
    at("pa", "permission_answer", '"request":"p1","outcome":"allowed","option":"yes","by":"ann"'),
    at("st", "steer", `"steer":"s","state":"accepted","content":[${text("wait")}],"when":"turn","turn":"t"`),
    at("md", "metadata", '"metadata":{"tags":["a"],"pinned":true,"colour":"red"}'),
  ]);
  const blocks = [
    '{"type":"text","text":"","providerMetadata":{"google":{"thoughtSignature":"c2ln"}}}',
    '{"type":"redactedThinking","data":"b3BhcXVl"}',
    '{"type":"server_tool_use","id":"x","n":12345678901234567890}',
    '{"type":"file","mediaType":"text/plain","data":"eA==","name":"a.txt"}',
  ].join(",");
  await chat.append([
    at("big", "message", said("user", text(LONG), ',"details":{"kept":1},"internal":true')),
    at("old", "message", `"details":{"kept":2},"internal":true,${said("user", text("as format 1 had it"))}`),
    at("pb", "message", said("assistant", blocks)),
  ]);
  await chat.append(at("k1", "compaction", '"summary":"Tests fail.","firstKeptEntryId":"a2"'));
  const fork = await chat.fork({ at: "a2", id: "fork" });
  await fork.append(at("f1", "message", said("user", text("Another way"))));
  await chat.append(at("lf", "leaf", '"target":"u1"'));
  await chat.append(at("b1", "message", said("assistant", text("Which tests?"))));
}
