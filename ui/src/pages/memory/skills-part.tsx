import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { SkillUse } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { changeQuery, query } from "../../router/location.ts";
import { SkillItem } from "./skill-item.tsx";
import { skillRows } from "./skill-rows.ts";

const ROW_PX = 44;

interface Uses {
  readonly uses: readonly SkillUse[];
  readonly cursor: string | null;
}

/** Who used which, as far as it was looked: the newest conversations, and further on a press. */
function useUses(): Uses & {
  readonly error: unknown;
  readonly isBusy: boolean;
  readonly further: () => void;
} {
  const first = useLoaded((signal) => client.listSkillUses(undefined, { signal }), []);
  const [more, setMore] = useState<Uses | null>(null);
  const [isBusy, setBusy] = useState(false);
  const [failed, setFailed] = useState<unknown>(null);
  const known = more ?? first.value ?? { uses: [], cursor: null };
  const further = (): void => {
    if (known.cursor === null || isBusy) return;
    setBusy(true);
    setFailed(null);
    client
      .listSkillUses({ cursor: known.cursor })
      .then(({ uses, cursor }) => setMore({ uses: [...known.uses, ...uses], cursor }), setFailed)
      .finally(() => setBusy(false));
  };
  return { ...known, error: first.error ?? failed, isBusy, further };
}

function NoSkills(): JSX.Element {
  return (
    <div class="state-body start">
      <p class="state-title">No skills</p>
      <p class="muted">
        A skill is a folder with a <code>SKILL.md</code>: a description, and instructions that the model
        receives while the skill is active. Holdfast looks in <code>.agents/skills</code> and in the folders
        that the server was started with. Activate a skill with <code>/skill NAME</code>; models can activate
        skills too.
      </p>
      <p>
        <CopyButton text="holdfast skills" what="command" />
      </p>
    </div>
  );
}

/** What models may be given, where it comes from, and who used it. */
export function SkillsPart(): JSX.Element {
  const { value, error, reload } = useLoaded((signal) => client.listServedSkills(undefined, { signal }), []);
  const used = useUses();
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  const rows = skillRows(value.skills, used.uses);
  const open = query.value.get("skill");
  return (
    <section class="block memory" aria-label="Skills">
      <div class="block-head">
        <span class="muted" role="status">
          {countText(value.skills.length, "skill")} in the folders of this server
          {value.issues.length === 0
            ? ""
            : `; ${countText(value.issues.length, "folder")} cannot be taken (${[...new Set(value.issues)].map(safeLine).join(", ").replaceAll("_", " ")}): holdfast skills says why`}
        </span>
        <span class="grow" />
        {used.cursor === null ? null : (
          <button class="btn small" type="button" disabled={used.isBusy} onClick={used.further}>
            {used.isBusy ? "Looking" : "Look for uses in older conversations"}
          </button>
        )}
      </div>
      {used.error === null ? null : <Failure error={used.error} />}
      {rows.length === 0 ? (
        <NoSkills />
      ) : (
        <VirtualList
          count={rows.length}
          role="list"
          rowRole="listitem"
          label="Skills"
          estimate={() => ROW_PX}
          keyOf={(index) => rows[index]?.name ?? index}
          render={(index) => {
            const row = rows[index];
            if (row === undefined) return <div />;
            const isOpen = open === row.name;
            return (
              <SkillItem
                row={row}
                isOpen={isOpen}
                toggle={() => changeQuery({ skill: isOpen ? null : row.name })}
              />
            );
          }}
        />
      )}
    </section>
  );
}
