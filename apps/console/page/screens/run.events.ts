// The rows of a run as one timeline. Pure.
import { fieldIn, listIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { codeWords } from '../words/kinds.js';

export interface Story {
  readonly mutations: readonly Row[];
  readonly commits: readonly Row[];
  readonly rollbacks: readonly Row[];
  readonly deliveries: readonly Row[];
  readonly undos: readonly Row[];
  readonly steps: readonly Row[];
}

export interface RunEvent {
  /** Of this event alone, among all of its run. */
  readonly id: string;
  readonly at: number;
  readonly kind: 'act' | 'fall' | 'plan' | 'person' | 'leg' | 'told' | 'end';
  readonly what: string;
  readonly who: string | null;
  readonly detail: string;
  readonly hash: string | null;
}

/** Everything that happened, the first first. */
export function eventsOf(story: Story): readonly RunEvent[] {
  return Object.entries(LISTS)
    .flatMap(([list, { id, eventsIn }]) =>
      story[list as keyof Story] /* its own keys */
        .flatMap((row) => named(`${list} ${textIn(row, 'tenant') ?? ''} ${textIn(row, id) ?? ''}`, eventsIn(row))),
    )
    .sort((a, b) => a.at - b.at);
}

type Unnamed = Omit<RunEvent, 'id'>;

function named(row: string, events: readonly Unnamed[]): readonly RunEvent[] {
  return events.map((one, index) => ({ ...one, id: `${row} ${index}` }));
}

type Told = Omit<Unnamed, 'at' | 'hash' | 'who'> & { readonly who?: string | null; readonly hash?: string | null };

/** One event, where its instant is known. */
function event(at: number | null, told: Told): readonly Unnamed[] {
  return at === null ? [] : [{ who: null, hash: null, ...told, at }];
}

function ofMutation(row: Row): readonly Unnamed[] {
  const capability = textIn(row, 'capability') ?? '';
  return [
    ...event(numberIn(row, 'forward', 'since') ?? numberIn(row, 'created_at'), {
      kind: 'act',
      what: `Called ${capability}`,
      who: textIn(row, 'execution', 'agent_id'),
      detail: textIn(row, 'execution', 'objective') ?? 'nobody said what for',
    }),
    ...event(numberIn(row, 'ref', 'committed_at'), {
      kind: 'act',
      what: 'The way back was bound',
      detail: `${textIn(row, 'ref', 'reversal_capability') ?? 'no tool undoes it'}, relying on ${listIn(row, 'ref', 'assumption_refs').join(', ') || 'nothing that is named'}`,
    }),
  ];
}

function ofCommit(row: Row): readonly Unnamed[] {
  return event(numberIn(row, 'recorded_at'), {
    kind: 'act',
    what: `Checkpoint ${textIn(row, 'checkpoint', 'step_id') ?? ''}`,
    who: textIn(row, 'checkpoint', 'agent_id'),
    detail: textIn(row, 'checkpoint', 'objective') ?? '',
    hash: textIn(row, 'recorded_hash'),
  });
}

function ofRollback(row: Row): readonly Unnamed[] {
  const said = fieldIn(row, 'evidence', 'statement', 'body');
  return [
    ...event(numberIn(row, 'evidence', 'stated_at'), {
      kind: 'fall',
      what: 'Somebody said it should not stand',
      who: textIn(row, 'evidence', 'source'),
      detail: said === undefined || said === null ? (textIn(row, 'evidence', 'ref') ?? 'sealed') : JSON.stringify(said),
    }),
    ...event(numberIn(row, 'mark', 'at'), {
      kind: 'fall',
      what: 'It fell',
      detail: `rollback ${textIn(row, 'rollback_id') ?? ''}`,
    }),
  ];
}

function ofUndo(row: Row): readonly Unnamed[] {
  return event(numberIn(row, 'opened_at'), {
    kind: 'person',
    what: 'An undo was asked for',
    who: textIn(row, 'evidence', 'source'),
    detail: textIn(row, 'undo_id') ?? '',
  });
}

function plannedOf(row: Row, call: string): readonly Unnamed[] {
  const detail = `${call}: ${codeWords(textIn(row, 'decision') ?? '')}`;
  return event(numberIn(row, 'decided_at'), { kind: 'plan', what: 'Planned', detail });
}

function ofStep(row: Row): readonly Unnamed[] {
  const call = textIn(row, 'call', 'capability') ?? 'nothing that can be called';
  const isByHand = textIn(row, 'resolved', 'by') !== null;
  const agreed = listIn(row, 'approvals').flatMap((one) =>
    event(numberIn(one, 'at'), {
      kind: 'person',
      what: 'Agreed',
      who: textIn(one, 'by'),
      detail: textIn(one, 'reason') ?? '',
    }),
  );
  const seen = listIn(row, 'last', 'observations').flatMap((one) =>
    event(numberIn(one, 'observed_at'), {
      kind: 'leg',
      what: codeWords(textIn(one, 'phase') ?? ''),
      who: textIn(one, 'capability'),
      detail: JSON.stringify(fieldIn(one, 'observed', 'body') ?? 'sealed'),
    }),
  );
  return [
    ...plannedOf(row, call),
    ...agreed,
    ...event(numberIn(row, 'first_dispatched_at'), {
      kind: 'leg',
      what: 'Sent to a worker',
      who: textIn(row, 'owner'),
      detail: call,
    }),
    ...seen,
    ...event(numberIn(row, 'last', 'at'), {
      kind: 'end',
      what: codeWords((isByHand ? textIn(row, 'last', 'outcome') : textIn(row, 'phase')) ?? ''),
      detail: codeWords(textIn(row, 'last', 'reason') ?? ''),
      hash: textIn(row, 'decision_record', 'record_hash'),
    }),
    ...wordsOn(row),
  ];
}

/** What people said against it, and how one of them closed it. */
function wordsOn(row: Row): readonly Unnamed[] {
  return [
    ...event(numberIn(row, 'denied_for', 'at'), {
      kind: 'person',
      what: 'Denied',
      who: textIn(row, 'denied_by'),
      detail: textIn(row, 'denied_for', 'reason') ?? '',
    }),
    ...event(numberIn(row, 'resolved', 'at'), {
      kind: 'person',
      what: 'Closed by hand',
      who: textIn(row, 'resolved', 'by'),
      detail: `${codeWords(textIn(row, 'resolved', 'resolution') ?? '')}: ${textIn(row, 'resolved', 'reason') ?? ''}`,
    }),
  ];
}

function ofDelivery(row: Row): readonly Unnamed[] {
  const who = textIn(row, 'consumer');
  return [
    ...event(numberIn(row, 'rolled_back_at'), {
      kind: 'told',
      what: 'Told',
      who,
      detail: `by ${textIn(row, 'mode') ?? ''} notice`,
    }),
    ...event(numberIn(row, 'answer', 'acknowledged_at'), {
      kind: 'told',
      what: 'Answered',
      who,
      detail: codeWords(textIn(row, 'phase') ?? ''),
    }),
  ];
}

/** By the list: the column that names its rows, and what happened by one of them. */
const LISTS: Readonly<
  Record<keyof Story, { readonly id: string; readonly eventsIn: (row: Row) => readonly Unnamed[] }>
> = {
  mutations: { id: 'mutation_id', eventsIn: ofMutation },
  commits: { id: 'commit_id', eventsIn: ofCommit },
  rollbacks: { id: 'rollback_id', eventsIn: ofRollback },
  undos: { id: 'undo_id', eventsIn: ofUndo },
  steps: { id: 'step_id', eventsIn: ofStep },
  deliveries: { id: 'delivery_id', eventsIn: ofDelivery },
};
