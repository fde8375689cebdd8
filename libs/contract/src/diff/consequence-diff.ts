// How what a call counts for is weighed when it changes. The amount beside `value` goes before that of the value, and the value gives
// the currency of both: neither can be weighed alone.
import { declaresMoney, isItsValue } from '../consequence.js';
import type { Contract } from '../shape.js';
import { changed, check, entries, same } from './comparers.js';
import type { Difference } from './comparers.js';

/** Lists the differences of `value` and `consequence`. Money that is counted otherwise than before may count as nothing, so it is weaker. */
export function consequenceDifferences(older: Contract, newer: Contract): readonly Difference[] {
  const [before, after] = [older, newer].map(parts) as [Parts, Parts]; // two versions
  const money = declaresMoney(older)
    ? changed('weakening', 'money is counted otherwise, and nothing shows that as much counts')
    : check('what money is counted by');
  const amount = countsItsValue(older, newer)
    ? changed('neutral', 'it is the amount of the value, said or not')
    : money;
  return [
    ...money(before.value, after.value, '/value'),
    ...amount(before.money, after.money, '/consequence/money'),
    ...entries(check('what a call counts for'))(before.others, after.others, '/consequence'),
  ];
}

interface Parts {
  readonly value: Contract['value'];
  readonly money: string | undefined;
  readonly others: Contract['consequence'];
}

function parts({ value, consequence: { money, ...others } = {} }: Contract): Parts {
  return { value, money, others };
}

/** Do both count the amount of one value? */
function countsItsValue(older: Contract, newer: Contract): boolean {
  return (
    older.value !== undefined &&
    same(older.value, newer.value) &&
    [older, newer].every((each) => each.consequence?.money === undefined || isItsValue(each, each.consequence.money))
  );
}
