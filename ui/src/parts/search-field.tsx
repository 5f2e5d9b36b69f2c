import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { KeyAct } from "../frame/key-table.ts";
import { onKey, useKeys } from "../frame/keys.ts";
import { changeQuery } from "../router/location.ts";
import { Icon } from "./marks/icon.tsx";

interface SearchFieldProps {
  /** As they are in the address, `q`: what is typed goes there, once somebody pauses. */
  readonly words: string;
  readonly label: string;
  readonly placeholder: string;
  /** Whose key leads here. */
  readonly act: KeyAct;
}

const TYPED_MS = 200;

export function SearchField({ words, label, placeholder, act }: SearchFieldProps): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(words);
  useLayoutEffect(() => setTyped(words), [words]); // with what is drawn: what is typed next is not lost
  useEffect(() => {
    const timer = setTimeout(() => typed !== words && changeQuery({ q: typed }), TYPED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  useKeys([onKey(act, () => input.current?.focus())]);
  return (
    <span class="field">
      <Icon name="search" />
      <input
        ref={input}
        type="search"
        aria-label={label}
        placeholder={placeholder}
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
      <kbd class="wide">/</kbd>
    </span>
  );
}
