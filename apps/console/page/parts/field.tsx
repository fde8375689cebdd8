// One line of text to type, kept in a draft (draft.ts) while its screen is away.
import type { InputHTMLAttributes, ReactNode } from 'react';

/** What is typed on a screen, by name of its field. */
export interface Typing {
  readonly draft: Readonly<Record<string, string>>;
  readonly write: (name: string, text: string) => void;
}

type Given = Pick<InputHTMLAttributes<HTMLInputElement>, 'required' | 'list' | 'placeholder' | 'pattern' | 'maxLength'>;

/** Longest text unless told otherwise: less than an identifier of a record may have. */
const TEXT_MAX = 400;

export function Field({
  of: { draft, write },
  name,
  label,
  ...given
}: Given & { readonly of: Typing; readonly name: string; readonly label: string }): ReactNode {
  return (
    <label className="field">
      {label}
      <input
        value={draft[name] ?? ''}
        autoComplete="off"
        spellCheck={false}
        maxLength={TEXT_MAX}
        onChange={({ target }) => {
          write(name, target.value);
        }}
        {...given}
      />
    </label>
  );
}
