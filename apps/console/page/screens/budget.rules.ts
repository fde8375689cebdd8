// What the words about a question of the accountant would do to ceilings. Pure.
import { listIn, numberIn, textIn } from '../api/rows.js';
import type { Row } from '../api/shapes.js';
import { amountText } from '../parts/amount.js';
import { inert } from '../parts/inert.js';
import { isoOf } from '../parts/instant.js';

/** Words of the accountant: it says which of them whoever reads may say. */
type Word = 'approve' | 'raise-once' | 'deny';

/** What is sent: the word, and the digest of the question as it was read. */
export function wordOf(digest: string, word: Word) {
  return { approved: word !== 'deny', raise_once: word === 'raise-once', action_digest: digest };
}

export interface Way {
  readonly word: Word;
  readonly name: string;
  readonly happens: readonly string[];
}

/** What each word does about a question; one question is not another's, whatever they have in common. */
export function waysOf(row: Row): readonly Way[] {
  switch (textIn(row, 'about')) {
    case 'ceiling':
      return waysOfCeiling(raisesOf(row));
    case 'raise':
      return [
        {
          word: 'approve',
          name: 'Raise it',
          happens: [proposalWords(row), 'It holds for everything that comes, not for one action.'],
        },
        { word: 'deny', name: 'Refuse', happens: ['The ceiling stays as it is.'] },
      ];
    case 'overrun':
      return waysOfOverrun();
    case 'unsettled':
      return [
        {
          word: 'approve',
          name: 'Let it stand',
          happens: ['What was set aside stays so for another while; then somebody is asked again.'],
        },
        { word: 'deny', name: 'Give it back', happens: ['What was set aside is released: others have it.'] },
      ];
    default:
      return [];
  }
}

const OVERRUN = ['It was done before anybody was asked, and its debt stays counted in full.'];

function waysOfOverrun(): readonly Way[] {
  return [
    {
      word: 'approve',
      name: 'Accept',
      happens: [...OVERRUN, 'You say that it is all right. Its run may reserve again, once no other one holds it up.'],
    },
    {
      word: 'deny',
      name: 'Object',
      happens: [
        ...OVERRUN,
        'You say that it is not; nothing is undone by that.',
        'Its run reserves nothing more until somebody accepts it.',
      ],
    },
  ];
}

function waysOfCeiling(raises: readonly string[]): readonly Way[] {
  return [
    {
      word: 'approve',
      name: 'Allow',
      happens: ['The action may exceed the ceiling this once. Its debt counts against the ceiling: others have less.'],
    },
    {
      word: 'raise-once',
      name: 'Raise once',
      happens: [
        'The action may go on, once.',
        ...raises,
        'Nobody else has less. Whoever may set these ceilings may do this.',
      ],
    },
    {
      word: 'deny',
      name: 'Refuse',
      happens: ['The action is not done; what was set aside for it is released.'],
    },
  ];
}

/** What a yes to a proposed ceiling does, from what to what and for how long. */
function proposalWords(row: Row): string {
  const of = (name: string): string => textIn(row, 'proposal', name) ?? '';
  const amount = (name: string): string | null => {
    const amount_minor = numberIn(row, 'proposal', name);
    return amount_minor === null ? null : amountText({ amount_minor, currency: of('currency') });
  };
  const [from, until, window] = [amount('from_minor'), numberIn(row, 'proposal', 'until'), of('window')];
  const per = ['hour', 'day'].includes(window) ? ` per ${window}` : '';
  return [
    `The ceiling of ${of('measure')} of the ${of('scope')} ${inert(of('scope_id'))}${per} rises`,
    `from ${from ?? 'none that was set'} to ${amount('ceiling_minor') ?? 'nobody knows what'}`,
    until === null ? 'for good.' : `until ${isoOf(until)}.`,
  ].join(' ');
}

/** Where the question about a thing is looked for: in its run, if it is of one, and among the open ones before all others. */
export function questionsOf(
  run: string,
): readonly { readonly run_id?: string; readonly phase?: string; readonly limit: number }[] {
  const asked = { ...(run === '' ? {} : { run_id: run }), limit: 500 };
  return [{ ...asked, phase: 'open' }, asked];
}

/** Ceilings that would be raised for the question alone, a sentence each; none where it exceeds none that can be. */
export function raisesOf(row: Row): readonly string[] {
  if (textIn(row, 'about') !== 'ceiling') return [];
  return listIn(row, 'exceeded').flatMap((one) => {
    const [scope, measure] = [textIn(one, 'scope') ?? '', textIn(one, 'measure') ?? ''];
    const [currency, asked] = [textIn(one, 'currency') ?? '', numberIn(one, 'asked_minor')];
    // A cap of a contract and what binds in law are no ceilings.
    if (scope === 'capability' || !['debt', 'value'].includes(measure) || asked === null) return [];
    const [by, ceiling] = [amountText({ amount_minor: asked, currency }), numberIn(one, 'ceiling_minor')];
    const from = ceiling === null ? '' : `, from ${amountText({ amount_minor: ceiling, currency })}`;
    const whose = `${scope} ${inert(textIn(one, 'scope_id') ?? '')}`;
    return [`The ceiling of ${measure} of the ${whose} rises by ${by}${from}, as long as this action counts.`];
  });
}
