import type { JSX } from "preact";
import { changeQuery, query } from "../../router/location.ts";
import { mayWrite } from "../../frame/store-foot.tsx";
import { onKey, useKeys } from "../../frame/keys.ts";
import { Icon } from "../../parts/marks/icon.tsx";
import { RememberedPart } from "./remembered-part.tsx";
import { SkillsPart } from "./skills-part.tsx";
import "../../styles/pages/memory.css";

const CLOSED = { key: null, skill: null, edit: null, q: null, removed: null };

function remember(): void {
  changeQuery({ ...CLOSED, view: null, edit: "new" });
}

/** What is known beyond conversations: what is remembered, and the skills that models may be given. */
export function Page(): JSX.Element {
  const isSkills = query.value.get("view") === "skills";
  const isEditing = query.value.get("edit") !== null;
  useKeys(mayWrite.value ? [onKey("remember", remember)] : []);
  return (
    <>
      <header class="head">
        <div class="head-row">
          <h1>
            Memory<span class="wide"> and skills</span>
          </h1>
          <span class="seg" role="group" aria-label="View">
            <button
              type="button"
              aria-pressed={!isSkills}
              onClick={() => changeQuery({ ...CLOSED, view: null })}
            >
              Memory
            </button>
            <button
              type="button"
              aria-pressed={isSkills}
              onClick={() => changeQuery({ ...CLOSED, view: "skills" })}
            >
              Skills
            </button>
          </span>
          <span class="grow" />
          {mayWrite.value && !isSkills && !isEditing ? (
            <button class="btn primary" type="button" onClick={remember}>
              <Icon name="plus" />
              <span class="wide">Add to memory</span>
              <span class="only-narrow">Add</span>
            </button>
          ) : null}
        </div>
      </header>
      {isSkills ? <SkillsPart /> : <RememberedPart />}
    </>
  );
}
