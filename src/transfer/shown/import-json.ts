import type { ImportedBundle, ImportedConversation } from "#transfer/import/import-bundle";

/** What was imported as one object for programs: all of it added up, named by its first conversation. */
export interface ImportedView {
  readonly conversation: string | undefined;
  readonly entries: number;
  readonly format: string;
  readonly problems: ImportedBundle["problems"];
  readonly blobs: number;
  readonly missing: readonly string[];
  readonly missingSeeds: readonly string[];
  readonly linked: boolean;
  readonly links: "kept" | "new";
  readonly unprovenSeq: number | undefined;
}

export function importJson({ format, conversations, problems }: ImportedBundle): ImportedView {
  const [first] = conversations;
  return {
    conversation: first?.conversation,
    entries: sum(conversations, "entries"),
    format,
    problems,
    blobs: sum(conversations, "blobs"),
    missing: conversations.flatMap(({ missing }) => missing),
    missingSeeds: conversations.flatMap(({ missingSeeds }) => missingSeeds),
    linked: conversations.every(({ linked }) => linked),
    links: conversations.every(({ links }) => links === "kept") ? "kept" : "new",
    unprovenSeq: first?.unprovenSeq,
  };
}

function sum(conversations: readonly ImportedConversation[], count: "entries" | "blobs"): number {
  return conversations.reduce((total, conversation) => total + conversation[count], 0);
}
