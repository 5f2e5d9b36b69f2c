import { membersOf, objectText } from "#log/json/json-text";

/** The first entry says how far the log was inherited, so that what its source paid for is not counted twice. */
export function withOrigin(body: string, origin: string): string {
  const others = membersOf(body).filter(({ name }) => name !== "forkedFrom");
  return objectText([...others, { name: "forkedFrom", text: origin }]);
}

/** The object with another value of a member, where that stands. */
export function replaceMember(object: string, name: string, text: string): string {
  return objectText(membersOf(object).map((member) => (member.name === name ? { name, text } : member)));
}
