import { appendCases } from "./append.ts";
import { branchCases } from "./branch.ts";
import { closingCases } from "./closing.ts";
import { eraseCases } from "./erase.ts";
import { forkCases } from "./fork.ts";
import { largeCases } from "./large.ts";
import { linkCases } from "./links.ts";
import { ownerCases } from "./owner.ts";
import { readCases } from "./read.ts";
import type { Facet } from "#store/facets";
import type { ContractCase, ContractSubject } from "./rig.ts";
import { spaceCases } from "./space.ts";
import { summaryCases } from "./summary.ts";
import { windowCases } from "./window.ts";

export { largeCases };
export type { ContractCase, ContractSubject };

const LARGE = { conversations: 500, forks: 500 }; // `largeCases` makes the same of any size

/** Every promise of the store port. A case brings its own data and needs a subject whose store is empty. */
export const storeContract: readonly ContractCase[] = [
  ...appendCases,
  ...ownerCases,
  ...branchCases,
  ...windowCases,
  ...forkCases,
  ...linkCases,
  ...readCases,
  ...spaceCases,
  ...summaryCases,
  ...eraseCases,
  ...closingCases,
  ...largeCases(LARGE),
];

/** The promises that a store with these facets makes: those of the log, and those of each facet it declares. */
export function contractFor(facets: readonly Facet[]): readonly ContractCase[] {
  return storeContract.filter(({ needs = [] }) => needs.every((facet) => facets.includes(facet)));
}
