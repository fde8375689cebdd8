// What may be done about a step, what each does, and how it is sent. The services decide; nothing here lets anything through.
import { answered, commanded, recoveries, underKey } from '../api/clients.js';
import { ApiProblem } from '../api/problem.js';
import { REVIEW } from '../api/shapes.js';
import type { Review } from '../api/shapes.js';
import type { Verb } from '../parts/decision.tsx';
import { stillAs } from '../parts/held.rules.js';
import { amountText } from '../parts/amount.js';
import { lengthOf } from '../parts/clock.js';
import { MISSING } from '../words/kinds.js';

export const readReview = (stepId: string): Promise<Review> =>
  answered(REVIEW, recoveries.GET('/v1/reviews/{step_id}', { params: { path: { step_id: stepId } } }));

/** Is the step as somebody read it? */
export function isSameStep(seen: Review, now: Review): boolean {
  return now.action_digest === seen.action_digest && now.phase === seen.phase;
}

const at = (seen: Review, key: string) => ({ params: { path: { id: seen.step_id }, header: underKey(key) } });

type VerbOf = (seen: Review) => Verb;

/** By the word of its route. The digest of what was seen goes with it where the route takes one. */
const VERBS: Readonly<Record<string, VerbOf>> = {
  approve: (seen) => ({
    name: 'Approve',
    key: 'a',
    isMain: true,
    happens: [
      ...consequence(seen),
      agreement(seen),
      'You agree to exactly what is on the screen; if anything in it changes, your agreement does not count.',
    ],
    send: ({ reason, key }) =>
      commanded(
        recoveries.POST('/v1/steps/{id}/approve', {
          ...at(seen, key),
          body: { action_digest: digestOf(seen), reason },
        }),
      ),
  }),
  deny: (seen) => ({
    name: 'Deny',
    key: 'd',
    happens: [
      `${seen.compensation?.capability ?? 'The compensation'} is not called. What the agent did stands.`,
      'The effect goes to a person, who settles it by hand.',
    ],
    send: ({ reason, key }) =>
      commanded(
        recoveries.POST('/v1/steps/{id}/deny', { ...at(seen, key), body: { action_digest: digestOf(seen), reason } }),
      ),
  }),
  check: (seen) => ({
    name: 'Look again',
    happens: ['A worker looks whether the effect is undone by now. Nothing is changed by looking.'],
    choices: [
      {
        name: 'purpose',
        label: 'Because',
        options: [
          ['repair', 'somebody repaired it by hand'],
          ['reconcile', 'an earlier attempt may have taken effect'],
        ],
      },
    ],
    send: ({ reason, fields, key }) =>
      commanded(
        recoveries.POST('/v1/steps/{id}/check', {
          ...at(seen, key),
          body: { purpose: fields['purpose'] === 'reconcile' ? 'reconcile' : 'repair', evidence: {}, reason },
        }),
      ),
  }),
  retry: (seen) => ({
    name: 'Retry',
    happens: [
      ...consequence(seen),
      'It is reconciled first and sent under the same key, so that it cannot take effect twice.',
      'Whoever has to agree is asked anew.',
    ],
    send: ({ reason, key }) =>
      commanded(recoveries.POST('/v1/steps/{id}/retry', { ...at(seen, key), body: { reason } })),
  }),
  resolve: (seen) => ({
    name: 'Close by hand',
    happens: [
      'The item is closed with what you say about it. Nothing is called.',
      'It is not counted as compensated: only an observation does that.',
    ],
    choices: [
      {
        name: 'resolution',
        label: 'How',
        options: [
          ['repaired', 'repaired: the effect was undone by hand'],
          ['corrected', 'corrected: something else makes up for it'],
          ['accepted', 'accepted: it stays as it is'],
        ],
      },
    ],
    note: { name: 'evidence', label: 'What shows it: a ticket, a receipt, what you saw' },
    send: ({ reason, fields, key }) =>
      commanded(
        recoveries.POST('/v1/steps/{id}/resolve', {
          ...at(seen, key),
          body: {
            resolution: resolutionOf(fields['resolution']),
            evidence: { note: fields['evidence'] ?? '' },
            reason,
          },
        }),
      ),
  }),
  escalate: (seen) => ({
    name: 'Escalate',
    happens: ['An incident is made of this, with a severity. Whoever is on duty is told. Nothing else changes.'],
    choices: [
      {
        name: 'severity',
        label: 'How bad',
        options: [
          ['sev1', '1: people or much money are harmed now'],
          ['sev2', '2: soon'],
          ['sev3', '3: today'],
          ['sev4', '4: when there is time'],
        ],
      },
    ],
    note: { name: 'runbook', label: 'Where it is written what to do (an address; may stay empty)' },
    send: ({ reason, fields, key }) =>
      commanded(
        recoveries.POST('/v1/steps/{id}/escalate', {
          ...at(seen, key),
          body: { severity: severityOf(fields['severity']), runbook: fields['runbook']?.trim() || null, reason },
        }),
      ),
  }),
  abandon: (seen) => ({
    name: 'Give up',
    isGrave: true,
    happens: [
      'The compensation is given up: nothing is called any more.',
      'The effect is accepted as it is. This cannot be taken back.',
    ],
    typed: 'give up',
    send: ({ reason, key }) =>
      commanded(recoveries.POST('/v1/steps/{id}/abandon', { ...at(seen, key), body: { reason } })),
  }),
  'break-glass': (seen) => ({
    name: 'Break the glass',
    isGrave: true,
    happens: [
      ...consequence(seen),
      'You agree in an emergency, in place of the people the contract asks for. Two people have to, each with a reason.',
      'It holds for 15 minutes and stands in the log for ever.',
    ],
    typed: 'emergency',
    send: ({ reason, key }) =>
      commanded(
        recoveries.POST('/v1/steps/{id}/break-glass', {
          ...at(seen, key),
          body: { action_digest: digestOf(seen), valid_ms: GLASS_MS, reason },
        }),
      ),
  }),
};

const GLASS_MS = 900_000;

/** Verbs that a service does not offer by phase, and those who may try them. */
const UNOFFERED: readonly {
  readonly word: string;
  readonly phases: readonly string[];
  readonly roles: readonly string[];
}[] = [
  { word: 'abandon', phases: ['awaiting_approval', 'halted'], roles: ['approver', 'administrator'] },
  { word: 'break-glass', phases: ['awaiting_approval'], roles: ['operator', 'administrator'] },
];

/** What is offered for a step, in the order of its use; a button that cannot be pressed says why. */
export function verbsOf(seen: Review, roles: readonly string[]): readonly Verb[] {
  const more = UNOFFERED.filter(
    ({ phases, roles: who }) => phases.includes(seen.phase) && roles.some((role) => who.includes(role)),
  );
  const words = [...seen.may, ...more.map(({ word }) => word)];
  const isBlind = seen.phase === 'awaiting_approval' && !seen.may.includes('approve');
  const shown = Object.keys(VERBS).filter((word) => words.includes(word) || (isBlind && word === 'approve'));
  const still = stillAs(seen, { read: () => readReview(seen.step_id), isSame: isSameStep });
  return shown.flatMap((word) => {
    const sends = VERBS[word]?.(seen);
    if (sends === undefined) return [];
    const verb = { ...sends, still };
    return [word === 'approve' && isBlind ? { ...verb, blocked: whyBlind(seen) } : verb];
  });
}

function whyBlind({ missing }: Review): string {
  return `Nobody can agree yet: ${missing.map((fact) => MISSING[fact] ?? fact).join('; ')}.`;
}

/** What agreeing leads to, in the words of the contract. */
function consequence({ compensation, action }: Review): readonly string[] {
  if (compensation === null) return ['Nothing is proposed to be called.'];
  const { capability, residue, risk, success_condition: success } = compensation;
  return [
    `${capability} is called with the arguments on the screen${action.value === null ? '' : `; at stake: ${amountText(action.value)}`}.`,
    ...(residue === null ? [] : [`What stays different: ${residue}`]),
    ...(risk === null ? [] : [`If it was not needed: ${risk}`]),
    ...(success === null ? [] : [`It counts as undone only once another capability has seen: ${success}`]),
  ];
}

function agreement({ approvals: { given, required }, time_left_ms: left }: Review): string {
  const more = required - given.length - 1;
  const who =
    more > 0
      ? `${more} more ${more === 1 ? 'person has' : 'people have'} to agree after you.`
      : 'Yours is the last agreement: it is done at once.';
  return left === null ? who : `${who} It can still begin for ${lengthOf(left)}.`;
}

function digestOf({ action_digest: digest }: Review): string {
  if (digest === null) throw new ApiProblem('ITEM_NOT_READY', 409, '');
  return digest;
}

function resolutionOf(word: string | undefined): 'repaired' | 'corrected' | 'accepted' {
  return word === 'repaired' || word === 'corrected' ? word : 'accepted';
}

function severityOf(word: string | undefined): 'sev1' | 'sev2' | 'sev3' | 'sev4' {
  return word === 'sev1' || word === 'sev2' || word === 'sev3' ? word : 'sev4';
}
