import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { toWire } from "#stores/sqlite/sqlite-errors";
import { ReadConnection } from "./read-connection.ts";
import type { Reader } from "./reader.ts";
import { searchEntries } from "./search-query.ts";
import type { PendingRequest, Question, ThreadOptions } from "./thread.ts";

// The entry of the reading thread: answers what would keep the caller's thread for too long.

if (parentPort !== null) listen(parentPort, workerData as ThreadOptions);

function listen(port: MessagePort, { path, readOnly }: ThreadOptions): void {
  let connection: ReadConnection | null = null;
  port.on("message", ({ n, question }: PendingRequest) => {
    if (question.kind === "close") {
      connection?.close();
      return port.close();
    }
    const read = async (): Promise<unknown> => {
      connection ??= new ReadConnection(path, readOnly);
      return connection.read((reader) => answer(reader, question));
    };
    read().then(
      (value) => port.postMessage({ n, ok: true, value }, []),
      (error: unknown) => port.postMessage({ n, ok: false, error: toWire(error, path) }, []),
    );
  });
}

function answer(reader: Reader, question: Exclude<Question, { kind: "close" }>): unknown {
  switch (question.kind) {
    case "ids":
      return reader.ids(question.space, question.request);
    case "page":
      return reader.page(question.space, question.request);
    case "read":
      return reader.read(question.space, question.request);
    case "search":
      return searchEntries(reader, question.space, question.request);
  }
}
