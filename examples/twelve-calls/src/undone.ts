// What Recourse claims of each call after the undo, beside what its service holds now. Pure.
import { factsOf, numberOf, textOf } from '@recourse/example-drifted-refund';
import type { Facts } from '@recourse/example-drifted-refund';
import { FORWARD, INVERSE } from '@recourse/example-little-services';
import type { Call, Column, Doc, World } from '@recourse/example-little-services';
import { canonicalJson, sha256Hex } from '@recourse/kernel';

/** One line of the report, with what the service says. */
export interface Undone {
  readonly at: number;
  readonly capability: string;
  readonly mutationId: string;
  /** As the report claims it. */
  readonly outcome: string;
  readonly reason: string | null;
  readonly residue: string | null;
  /** By what the service holds: is the effect of this call still there? */
  readonly stands: boolean | null;
  /** Places of its compensations among all effects, in order. */
  readonly takenBackAt: readonly number[];
}

/** Does the thing still show the call? Each service in its own words. */
const STANDS: Readonly<Record<string, (thing: Doc, args: Doc) => boolean>> = {
  'mail.send_notice': ({ status }) => status === 'sent',
  'channels.post_message': () => true,
  'tickets.open_ticket': ({ status }) => status === 'open',
  'payments.charge_card': ({ status }) => status === 'captured',
  'travel.book_trip': ({ status }) => status === 'booked',
  'calendar.send_invite': ({ status }) => status === 'sent',
  'crm.update_contact': ({ phone }, args) => phone === args['phone'],
  'documents.archive_document': ({ state }) => state === 'archived',
  'labels.add_label': ({ labels }, { label }) => Array.isArray(labels) && labels.includes(label ?? null),
  'config.update_config': ({ value }, args) => value === args['value'],
  'inventory.reserve_stock': ({ status }) => status === 'reserved',
};

/** Reads one item of the report beside the world. `world` holds the effects of this run alone. */
export function undoneOf(
  at: number,
  call: Call,
  mutation: Facts,
  item: Facts | undefined,
  { effects, things }: World,
): Undone {
  const { capability, args } = call;
  const operation = FORWARD[capability]?.operation ?? '';
  const service = operation.slice(0, operation.indexOf('.'));
  const digest = sha256Hex(canonicalJson(args));
  const forward = effects.find((effect) => effect.operation === operation && effect.request === digest);
  const inverse = INVERSE[textOf(factsOf(mutation, 'ref')['reversal_capability'])]?.operation;
  const back = effects.filter(
    (effect) =>
      forward !== undefined &&
      effect.operation === inverse &&
      effect.thing === forward.thing &&
      effect.seq > forward.seq,
  );
  const thing = forward === undefined ? undefined : things[`${service}/${forward.thing}`];
  const stands = STANDS[capability];
  return {
    at,
    capability,
    mutationId: textOf(mutation['mutation_id']),
    outcome: textOf(item?.['outcome']),
    reason: textOf(item?.['reason']) || null,
    residue: textOf(item?.['residue']) || null,
    stands: thing === undefined || stands === undefined ? null : stands(thing, args as Doc),
    takenBackAt: back.map(({ seq }) => seq), // arguments of these calls are objects
  };
}

/** Where the claim and the world differ, in words; empty when they agree. */
export function liesIn({ outcome, stands, takenBackAt, reason, residue }: Undone): readonly string[] {
  const isClaimed = outcome === 'undone_clean' || outcome === 'undone_with_residue';
  return [
    ...(outcome === '' ? ['the report does not name it'] : []),
    ...(isClaimed === (stands === false)
      ? []
      : [
          `the report says ${outcome}, and the service ${stands === true ? 'still has it' : stands === false ? 'has it no more' : 'knows nothing of it'}`,
        ]),
    ...(takenBackAt.length === (isClaimed ? 1 : 0) ? [] : [`it was taken back ${String(takenBackAt.length)} times`]),
    ...(outcome === 'not_undone' && reason === null ? ['no reason is given'] : []),
    ...(outcome === 'undone_with_residue' && residue === null ? ['what stays is not said'] : []),
  ];
}

/** Places at which the calls were taken back, in the order of the calls; those that were not are left out. */
export function orderOf(lines: readonly Undone[]): readonly number[] {
  return lines.flatMap(({ takenBackAt }) => takenBackAt.slice(0, 1));
}

/** Is the last call taken back first? */
export function isLastFirst(lines: readonly Undone[]): boolean {
  return orderOf(lines).every((place, at, all) => at === 0 || place < (all[at - 1] ?? 0));
}

/** Rows of a preview as a table. */
export const PREVIEW_COLUMNS: readonly Column<Facts>[] = [
  { title: 'CALL', of: (row) => textOf(row['capability']) },
  { title: 'WOULD BE', of: (row) => textOf(row['outcome']).replaceAll('_', ' ') },
  { title: 'BY', of: (row) => textOf(row['by_capability']) || null },
  {
    title: 'PEOPLE',
    of: (row) => {
      const people = numberOf(row['people_needed']);
      return people === null ? null : String(people);
    },
  },
  { title: 'WHAT STAYS', of: (row) => textOf(row['residue']) || null },
  { title: 'BECAUSE', of: (row) => textOf(row['reason']) || null },
];

export const UNDONE_COLUMNS: readonly Column<Undone>[] = [
  { title: '#', of: ({ at }) => String(at) },
  { title: 'CALL', of: ({ capability }) => capability },
  { title: 'RECOURSE SAYS', of: ({ outcome }) => outcome.replaceAll('_', ' ') },
  { title: 'BECAUSE', of: ({ reason }) => reason },
  { title: 'WHAT STAYS', of: ({ residue }) => residue },
  {
    title: 'THE SERVICE',
    of: ({ stands }) => (stands === null ? 'knows nothing of it' : stands ? 'still has it' : 'has it no more'),
  },
];
