// The window between a click and a command: what will happen, why one wants it, and what came of it. One for every verb.
//
// Invariants
//   D1. Nothing is sent before the person has read what will happen and said so.
//   D2. A command is sent once per window: a second click repeats it under the same key.
//   D3. What was typed survives a refusal, a reload and a lost session; the word that says one is sure does not, it is typed anew.
import { AlertDialog } from 'radix-ui';
import { useId, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiProblem } from '../api/problem.js';
import { useDraft } from './draft.js';
import { Trouble } from './trouble.tsx';

export interface Choice {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, says: string])[];
}

export interface Verb {
  /** On the button, and at the head of the window. */
  readonly name: string;
  /** What will happen, sentence by sentence. */
  readonly happens: readonly string[];
  readonly isGrave?: boolean;
  readonly isMain?: boolean;
  /** Fields beside the reason. */
  readonly choices?: readonly Choice[];
  /** A longer text that the verb asks for, such as evidence. */
  readonly note?: { readonly name: string; readonly label: string; readonly isRequired?: boolean };
  /** Text that has to be typed, so that nobody does it by accident. */
  readonly typed?: string;
  /** Nobody keeps a reason of it, so none is asked for. */
  readonly isUnexplained?: boolean;
  /** A button that is there and cannot be pressed says why. */
  readonly blocked?: string | null;
  readonly key?: string;
  /** Sends it. Errors: ApiProblem. */
  readonly send: (said: Said) => Promise<'done' | 'pending'>;
}

export interface Said {
  readonly reason: string;
  readonly fields: Readonly<Record<string, string>>;
  readonly key: string;
}

interface Props {
  readonly verb: Verb;
  /** What is typed is kept under it. */
  readonly about: string;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  /** Changed since the window opened? Then nothing is sent. */
  readonly isChanged?: boolean;
}

/** A button and its window. */
export function Decision({ verb, about, isOpen, onOpen, isChanged = false }: Props): ReactNode {
  const whyId = useId();
  const { name, blocked = null, isGrave = false, isMain = false } = verb;
  return (
    <AlertDialog.Root open={isOpen} onOpenChange={onOpen}>
      <span className="verb">
        <AlertDialog.Trigger
          className={isGrave ? 'grave' : isMain ? 'primary' : 'button'}
          disabled={blocked !== null}
          aria-describedby={blocked === null ? undefined : whyId}
        >
          {name}
        </AlertDialog.Trigger>
        {blocked === null ? null : (
          <small id={whyId} className="quiet">
            {blocked}
          </small>
        )}
      </span>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="overlay" />
        <AlertDialog.Content className="window">
          <AlertDialog.Title>{name}</AlertDialog.Title>
          <AlertDialog.Description asChild>
            <div>
              <p>What will happen:</p>
              <ul className="happens">
                {verb.happens.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            </div>
          </AlertDialog.Description>
          <Form
            verb={verb}
            about={about}
            isChanged={isChanged}
            onDone={() => {
              onOpen(false);
            }}
          />
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

const REASON_MAX = 2_000;

function Form({
  verb,
  about,
  isChanged,
  onDone,
}: {
  readonly verb: Verb;
  readonly about: string;
  readonly isChanged: boolean;
  readonly onDone: () => void;
}): ReactNode {
  const [draft, write, forget] = useDraft(`${about}.${verb.name}`);
  const [sending, setSending] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [isPending, setPending] = useState(false);
  const [key] = useState(() => crypto.randomUUID());
  const reason = draft['reason'] ?? '';
  const [typed, setTyped] = useState('');
  const isTyped = verb.typed === undefined || typed === verb.typed;
  const send = async (): Promise<void> => {
    setSending(true);
    setProblem(null);
    try {
      if (isChanged) throw new ApiProblem('CHANGED_MEANWHILE', 409, '');
      const state = await verb.send({ reason, fields: draft, key });
      forget();
      if (state === 'pending') setPending(true);
      else onDone();
    } catch (cause) {
      setProblem(cause);
    } finally {
      setSending(false);
    }
  };
  if (isPending) return <Pending />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {isChanged ? <Trouble cause={new ApiProblem('CHANGED_MEANWHILE', 409, '')} /> : null}
      <Fields verb={verb} draft={draft} write={write} />
      {verb.typed === undefined ? null : <Sure word={verb.typed} typed={typed} onTyped={setTyped} />}
      {verb.isUnexplained === true ? null : <Why reason={reason} write={write} />}
      {problem === null || isChanged ? null : <Trouble cause={problem} />}
      <div className="buttons">
        <AlertDialog.Cancel className="button" type="button">
          Not now
        </AlertDialog.Cancel>
        <button
          type="submit"
          className={verb.isGrave === true ? 'grave' : 'primary'}
          disabled={sending || !isTyped || isChanged}
        >
          {sending ? 'Sending …' : verb.name}
        </button>
      </div>
    </form>
  );
}

function Why({
  reason,
  write,
}: {
  readonly reason: string;
  readonly write: (name: string, text: string) => void;
}): ReactNode {
  return (
    <label className="field">
      Why, in your words
      <textarea
        required
        maxLength={REASON_MAX}
        rows={3}
        value={reason}
        onChange={({ target }) => {
          write('reason', target.value);
        }}
      />
    </label>
  );
}

function Fields({
  verb,
  draft,
  write,
}: {
  readonly verb: Verb;
  readonly draft: Readonly<Record<string, string>>;
  readonly write: (name: string, text: string) => void;
}): ReactNode {
  const { choices = [], note } = verb;
  return (
    <>
      {choices.map(({ name, label, options }) => (
        <label key={name} className="field">
          {label}
          <select
            required
            value={draft[name] ?? ''}
            onChange={({ target }) => {
              write(name, target.value);
            }}
          >
            <option value="" disabled>
              choose
            </option>
            {options.map(([value, says]) => (
              <option key={value} value={value}>
                {says}
              </option>
            ))}
          </select>
        </label>
      ))}
      {note === undefined ? null : (
        <label className="field">
          {note.label}
          <textarea
            required={note.isRequired === true}
            rows={3}
            maxLength={REASON_MAX}
            value={draft[note.name] ?? ''}
            onChange={({ target }) => {
              write(note.name, target.value);
            }}
          />
        </label>
      )}
    </>
  );
}

interface SureProps {
  readonly word: string;
  readonly typed: string;
  readonly onTyped: (text: string) => void;
}

function Sure({ word, typed, onTyped }: SureProps): ReactNode {
  return (
    <label className="field">
      <span>
        To be sure, type <code>{word}</code>
      </span>
      <input
        value={typed}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => {
          onTyped(target.value);
        }}
      />
    </label>
  );
}

function Pending(): ReactNode {
  return (
    <div role="status">
      <p>
        The command was taken, and its outcome is not known yet. This screen shows it as soon as it is; there is nothing
        to send again.
      </p>
      <AlertDialog.Cancel className="button">Close</AlertDialog.Cancel>
    </div>
  );
}
