import { appendCases } from "./append-cases.ts";
import { branchCases } from "./branch-cases.ts";
import { closingCases } from "./closing-cases.ts";
import { eraseCases } from "./erase-cases.ts";
import { forkCases } from "./fork-cases.ts";
import { largeCases } from "./large-cases.ts";
import { linkCases } from "./link-cases.ts";
import { ownerCases } from "./owner-cases.ts";
import { readCases } from "./read-cases.ts";
import { runCases } from "./run-cases.ts";
import type { Facet } from "#store/facets";
import type { ContractCase } from "./rig.ts";
import { spaceCases } from "./space-cases.ts";
import { summaryCases } from "./summary-cases.ts";
import { windowCases } from "./window-cases.ts";

const LARGE = { conversations: 250, forks: 150 }; // `largeCases` makes the same of any size

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
  ...runCases,
  ...eraseCases,
  ...closingCases,
  ...largeCases(LARGE),
];

/** The promises that a store with these facets makes: those of the log, and those of each facet it declares. */
export function contractFor(facets: readonly Facet[]): readonly ContractCase[] {
  return storeContract.filter(({ needs = [] }) => needs.every((facet) => facets.includes(facet)));
}
