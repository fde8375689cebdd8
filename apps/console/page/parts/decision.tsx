// The window between a click and a command: what will happen, why one wants it, and what came of it. One for every verb.
//
// Invariants
//   D1. Nothing is sent before the person has read what will happen and said so.
//   D2. A command is sent once per window: a second click repeats it under the same key, also once the command itself changed the thing.
//   D3. What was typed survives a refusal, a reload and a lost session; the word that says one is sure does not, it is typed anew.
//   D4. While a command is on the way its window stays open; what came of it is asked for, and shown where it was refused.
import { AlertDialog } from 'radix-ui';
import { useId, useState } from 'react';
import type { ReactNode } from 'react';
import type { Taken } from '../api/outcome.js';
import { MAY_CLOSE } from './decision.phases.js';
import type { Phase } from './decision.phases.js';
import { useDraft } from './draft.js';
import { useSending } from './sending.js';
import { Countdown } from './shown.tsx';
import { Trouble } from './trouble.tsx';
import type { Verb } from './verb.js';

interface Props {
  readonly verb: Verb;
  /** What is typed is kept under it. */
  readonly about: string;
  readonly isOpen: boolean;
  readonly onOpen: (isOpen: boolean) => void;
  /** Changed since the window opened? Then nothing is sent that was not before. */
  readonly isChanged?: boolean;
}

/** A button and its window. */
export function Decision({ verb, about, isOpen, onOpen, isChanged = false }: Props): ReactNode {
  const whyId = useId();
  const [phase, setPhase] = useState<Phase>('asking');
  const { name, left, blocked = null, isGrave = false, isMain = false } = verb;
  return (
    <AlertDialog.Root
      open={isOpen}
      onOpenChange={(next) => {
        if (next || MAY_CLOSE[phase]) onOpen(next);
      }}
    >
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
                {left?.until === undefined || left.until === null ? null : (
                  <li>
                    {left.says}: <Countdown until={left.until} over="none any more" />
                  </li>
                )}
              </ul>
            </div>
          </AlertDialog.Description>
          <Form
            verb={verb}
            about={about}
            isChanged={isChanged}
            phase={phase}
            onPhase={setPhase}
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

interface FormProps {
  readonly verb: Verb;
  readonly about: string;
  readonly isChanged: boolean;
  readonly phase: Phase;
  readonly onPhase: (phase: Phase) => void;
  readonly onDone: () => void;
}

function Form(props: FormProps): ReactNode {
  const { verb, about, phase } = props;
  const [draft, write, forget] = useDraft(`${about}.${verb.name}`);
  const { wrong, isHeld, taken, send } = useSending({ ...props, still: verb.still, send: verb.send, forget, write });
  const reason = draft['reason'] ?? '';
  const [typed, setTyped] = useState('');
  const isTyped = verb.typed === undefined || typed === verb.typed;
  const sending = phase === 'sending';
  if (phase === 'taken' || phase === 'unknown') return <Pending isAsked={phase === 'taken'} taken={taken} />;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void send({ reason, fields: draft });
      }}
    >
      <Fields verb={verb} draft={draft} write={write} />
      {verb.typed === undefined ? null : <Sure word={verb.typed} typed={typed} onTyped={setTyped} />}
      {verb.isUnexplained === true ? null : <Why reason={reason} write={write} />}
      {wrong === null || sending ? null : <Trouble cause={wrong} />}
      <div className="buttons">
        <AlertDialog.Cancel className="button" type="button" disabled={sending}>
          Not now
        </AlertDialog.Cancel>
        <button
          type="submit"
          className={verb.isGrave === true ? 'grave' : 'primary'}
          disabled={sending || !isTyped || isHeld}
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
  const { choices = [], notes = [] } = verb;
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
      {notes
        .filter(({ when }) => when === undefined || draft[when[0]] === when[1])
        .map(({ name, label, isRequired = false }) => (
          <label key={name} className="field">
            {label}
            <textarea
              required={isRequired}
              rows={3}
              maxLength={REASON_MAX}
              value={draft[name] ?? ''}
              onChange={({ target }) => {
                write(name, target.value);
              }}
            />
          </label>
        ))}
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

function Pending({ isAsked, taken }: { readonly isAsked: boolean; readonly taken: Taken | null }): ReactNode {
  const places = taken?.places ?? [];
  return (
    <div role="status">
      <p>
        {isAsked && places.length > 0
          ? 'The command was taken. What came of it is being asked for …'
          : 'The command was taken, and its outcome is not known yet: it goes on. This screen shows what came of it as soon as that is known; there is nothing to send again.'}
      </p>
      {places.map((place) => (
        <p key={place} className="quiet">
          Ticket <code>{place.slice(place.lastIndexOf('/') + 1)}</code>
        </p>
      ))}
      <AlertDialog.Cancel className="button">Close</AlertDialog.Cancel>
    </div>
  );
}
