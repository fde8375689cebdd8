// A task of people: what its author says of it, and the command that ends it.
//
// Boundary: what has to be said, and by whom, is the orchestrator's rule (apps/recovery-orchestrator/src/rules/task); the form asks for no less.
import { commanded, recoveries } from '../api/clients.js';
import { textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import type { Note, Verb } from '../parts/verb.js';
import { at } from './verbs.js';
import type { Worded } from './verbs.js';

const MESSAGE: Note = { name: 'content', label: 'What was done, and what shows it (required)', isRequired: true };

/** Said of a correction that is done, beside what was done. */
const OF_CORRECTION = [
  { name: 'safe_state', label: 'In which state it leaves things (required)' },
  { name: 'user_visible_outcome', label: 'What whom it concerns sees of it (required)' },
] as const;

export const TASK_VERBS: Worded = { close };

function close(row: Row, id: string): Verb {
  const isCorrection = textIn(row, 'task_kind') === 'correction';
  const more = isCorrection ? OF_CORRECTION : [];
  return {
    name: 'Close the task',
    isMain: true,
    happens: [
      'The task is closed with what you say was done. Nothing is called.',
      ...(isCorrection ? ['A correction that is done closes its step as corrected, not as compensated.'] : []),
    ],
    choices: [
      {
        name: 'outcome',
        label: 'It was',
        options: [
          ['done', 'done'],
          ['dropped', 'dropped'],
        ],
      },
    ],
    notes: [MESSAGE, ...more.map((note) => ({ ...note, isRequired: true, when: ['outcome', 'done'] as const }))],
    send: ({ reason, fields, key }) => {
      const outcome = fields['outcome'] === 'dropped' ? 'dropped' : 'done';
      const content = { message: fields['content'] ?? '', ...(outcome === 'done' ? saidIn(fields, more) : {}) };
      return commanded(recoveries.POST('/v1/tasks/{id}/close', { ...at(id, key), body: { outcome, content, reason } }));
    },
  };
}

function saidIn(fields: Readonly<Record<string, string>>, notes: readonly { readonly name: string }[]) {
  return Object.fromEntries(notes.map(({ name }) => [name, fields[name] ?? '']));
}
