// What may be done about a step, what each does, and how it is sent. The services decide; nothing here lets anything through.
import { answered, commanded, recoveries, underKey } from '../api/clients.js';
import { ApiProblem } from '../api/problem.js';
import { REVIEW } from '../api/shapes.js';
import type { Verb } from '../parts/verb.js';
import { stillAs } from '../parts/held.rules.js';
import { agreement, consequence, isSameStep, notCalled, readAt, whyBlind } from './review.rules.js';
import type { ReadReview } from './review.rules.js';
import { sentenceOf } from '../words/refusals.js';
import { forRoles } from './verbs.js';

/** Errors: ApiProblem. */
export async function readReview(stepId: string): Promise<ReadReview> {
  const call = recoveries.GET('/v1/reviews/{step_id}', { params: { path: { step_id: stepId } } });
  return readAt(await answered(REVIEW, call), Date.now());
}

const at = (seen: ReadReview, key: string) => ({ params: { path: { id: seen.step_id }, header: underKey(key) } });

type VerbOf = (seen: ReadReview) => Verb;

/** By the word of its route. The digest of what was seen goes with it where the route takes one. */
const VERBS: Readonly<Record<string, VerbOf>> = {
  approve: (seen) => ({
    name: 'Approve',
    key: 'a',
    isMain: true,
    left: { says: 'Time left to begin', until: seen.closes_at },
    happens: [
      ...consequence(seen),
      agreement(seen.approvals.given.length, seen.approvals.required) ??
        'Yours is the last agreement: it is done at once.',
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
    happens: [notCalled(seen), 'The effect goes to a person, who settles it by hand.'],
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
      'A worker looks first whether an earlier attempt has undone it.',
      'A tool that takes keys is sent the same one and acts once; one that takes none may act twice.',
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
    notes: [{ name: 'evidence', label: 'What shows it: a ticket, a receipt, what you saw' }],
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
    notes: [{ name: 'runbook', label: 'Where it is written what to do (an address; may stay empty)' }],
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

const DECIDING = ['approver', 'administrator'] as const;

/** Who may send each, as the service lets in (libs/service/src/edge/access.ts). */
const ROLES: Readonly<Record<string, readonly string[]>> = {
  approve: ['approver'],
  deny: ['approver'],
  check: DECIDING,
  retry: DECIDING,
  resolve: DECIDING,
  escalate: ['reporter', 'operator', ...DECIDING],
  abandon: DECIDING,
  'break-glass': ['operator', 'administrator'],
};

/** What is offered for a step, in the order of its use; a button that cannot be pressed says why. What is grave only its roles see. */
export function verbsOf(seen: ReadReview, roles: readonly string[]): readonly Verb[] {
  const isFor = (word: string): boolean => roles.some((role) => ROLES[word]?.includes(role));
  // What a role lacks is said as for every other verb.
  const barred = new Map(
    (seen.may_not ?? []).map(({ word, code, message }) => [
      word,
      code === 'ROLE_REQUIRED' ? null : (sentenceOf(code) ?? message),
    ]),
  );
  const isBlind = seen.phase === 'awaiting_approval' && !seen.may.includes('approve') && !barred.has('approve');
  const still = stillAs(seen, { read: () => readReview(seen.step_id), isSame: isSameStep });
  return Object.entries(VERBS).flatMap(([word, sends]) => {
    const verb = sends(seen);
    const isShown = seen.may.includes(word) || barred.has(word) || (isBlind && word === 'approve');
    if (!isShown || (verb.isGrave === true && !isFor(word))) return [];
    const blocked = isBlind && word === 'approve' ? whyBlind(seen) : (barred.get(word) ?? null);
    return forRoles([{ ...verb, still, blocked }], ROLES[word] ?? [], roles);
  });
}

function digestOf({ action_digest: digest }: ReadReview): string {
  if (digest === null) throw new ApiProblem('ITEM_NOT_READY', 409, '');
  return digest;
}

function resolutionOf(word: string | undefined): 'repaired' | 'corrected' | 'accepted' {
  return word === 'repaired' || word === 'corrected' ? word : 'accepted';
}

function severityOf(word: string | undefined): 'sev1' | 'sev2' | 'sev3' | 'sev4' {
  return word === 'sev1' || word === 'sev2' || word === 'sev3' ? word : 'sev4';
}
