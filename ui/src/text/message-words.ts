import { type ContentBlock, type Message, textOfBlocks } from "#log/message";

/** The words in a message, without what it called, thought or showed. */
export function wordsOf(content: readonly ContentBlock[]): string {
  return textOfBlocks(content, "\n\n");
}

/** Whether a person said it: what a program tells the model in between is no prompt. */
export function isPromptOf({ role, internal }: Message): boolean {
  return role === "user" && internal !== true;
}
