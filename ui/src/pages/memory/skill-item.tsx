import type { JSX } from "preact";
import type { SkillView } from "#edges/http/client/views";
import { safeLine } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Failure } from "../../parts/failure.tsx";
import { lazy } from "../../parts/lazy.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { Moment } from "../../parts/shown-time.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { otherThan, type SkillRow, type UseOfSkill } from "./skill-rows.ts";

const Markdown = lazy(async () => (await import("../../text/markdown.tsx")).Markdown);

const OTHER = {
  elsewhere: "from another location",
  changed: "SKILL.md has changed since",
} as const;

function Instructions({ skill }: { readonly skill: SkillView }): JSX.Element {
  const { value, error, reload } = useLoaded(
    (signal) => client.getSkill({ skill: skill.name }, { signal }),
    [skill.name, skill.digest],
  );
  return (
    <>
      <dl class="kv">
        <dt>From</dt>
        <dd class="mono">{safeLine(skill.source)}</dd>
        <dt>Activated by</dt>
        <dd>{skill.forModel ? "you or a model" : "only you; models do not see it"}</dd>
        <dt>SHA-256</dt>
        <dd>
          <CopyButton text={skill.digest} what="digest of SKILL.md" />
        </dd>
        {value === null || value.files.length === 0 ? null : (
          <>
            <dt>Other files</dt>
            <dd class="mono">
              {value.files.map(safeLine).join(", ")}
              {value.moreFiles ? " and more" : ""}
            </dd>
          </>
        )}
      </dl>
      {error === null ? null : <Failure error={error} retry={reload} />}
      {value === null ? null : (
        <div class="skill-text" tabIndex={0} role="region" aria-label={`Instructions of ${skill.name}`}>
          <Markdown text={value.text} />
        </div>
      )}
    </>
  );
}

function Use({ use, skill }: { readonly use: UseOfSkill; readonly skill: SkillView | null }): JSX.Element {
  const other = otherThan(use, skill);
  return (
    <li class="row-flex wrap">
      <a class="link" href={conversationAddress(use.conversation, "", { at: use.entry })}>
        {safeLine(use.title ?? use.conversation)}
      </a>
      {use.active ? (
        <span class="tag ok">
          <Icon name="check" />
          active now
        </span>
      ) : null}
      {other === null ? null : <span class="tag unknown">{OTHER[other]}</span>}
      <span class="muted">
        activated <Moment time={use.time} />
      </span>
    </li>
  );
}

/** A skill: what it is for; its instructions and who used it when it is opened. */
export function SkillItem({
  row: { name, skill, uses },
  isOpen,
  toggle,
}: {
  readonly row: SkillRow;
  readonly isOpen: boolean;
  readonly toggle: () => void;
}): JSX.Element {
  return (
    <div class="fx">
      <button class="fx-line skill-line" type="button" aria-expanded={isOpen} onClick={toggle}>
        <Icon name={isOpen ? "down" : "right"} />
        <b class="mono cut">{safeLine(name)}</b>
        <span class="muted cut">
          {skill === null ? "not in the folders of this server" : safeLine(skill.description)}
        </span>
        {skill?.forModel === false ? <span class="tag">you only</span> : <span />}
        <span class="num faint">{uses.length === 0 ? "not used" : countText(uses.length, "use")}</span>
      </button>
      {isOpen ? (
        <div class="fx-open">
          {skill === null ? (
            <p data-testid="skill-missing">
              Conversations use this skill, but its folder is missing. Models do not receive it until the
              folder is back.
            </p>
          ) : (
            <>
              <p>{safeLine(skill.description)}</p>
              <Instructions skill={skill} />
            </>
          )}
          <section class="memory-changes" aria-label="Conversations that used it">
            <h2>Conversations that used it</h2>
            {uses.length === 0 ? (
              <p class="muted">None so far.</p>
            ) : (
              <ul>
                {uses.map((use) => (
                  <Use key={use.conversation} use={use} skill={skill} />
                ))}
              </ul>
            )}
          </section>
        </div>
      ) : null}
    </div>
  );
}
