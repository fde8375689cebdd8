// Records of a derived log (L17), derived again from the records that they name. Pure.
import type { HeldRecord } from './pinned-rows.js';
import type { CheckedPin, PinsToCheck } from './check-pins.js';
import { compareRecords } from './compare.js';
import { NO_KEYS } from './payload-keys.js';
import type { PinnedRecord } from './pin.messages.js';

/** One line for each record of the derived log in a packet; `not_made` where the packet lacks what it follows from. */
export function checkDerived(asked: Omit<PinsToCheck, 'pins' | 'whatIf'>): readonly CheckedPin[] {
  const { core, records } = asked;
  const sources = new Map(
    records.filter(({ place }) => place.log === core.log).map((one) => [sourceName(one.place), one]),
  );
  return records
    .filter(({ place }) => place.log === core.derived?.topic)
    .map((one) => checked(asked, one, sources.get(sourceName({ ...one.place, seq: Number(one.whole['source_seq']) }))));
}

function checked(
  { core, codecs, keyed }: Pick<PinsToCheck, 'core' | 'codecs' | 'keyed'>,
  derived: HeldRecord,
  source: HeldRecord | undefined,
): CheckedPin {
  const { place, key, whole } = derived;
  const said = { records: [place], pinned: [], otherwise: null };
  if (source === undefined)
    return { ...said, outcome: 'not_made', code: 'input_missing', at: place, field: 'source_seq' };
  const { source_seq, source_index } = whole;
  const made = core.derived?.derive(source.record)[Number(source_index)];
  const body = { ...made?.body, source_seq, source_index };
  const log = core.derived?.topic ?? '';
  const compared =
    made === undefined
      ? { differs: { field: 'count' } }
      : compareRecords([{ type: made.type, body }], [derived], { codecs, log, keyed, keys: NO_KEYS });
  const field = compared.differs?.field ?? (made?.key === key ? null : 'key');
  return field === null
    ? { ...said, outcome: 'equal', code: null, at: null, field: null }
    : { ...said, outcome: 'differs', code: 'REPLAY_DECISION_DIFFERS', at: place, field };
}

const sourceName = ({ partition, seq }: Pick<PinnedRecord, 'partition' | 'seq'>): string =>
  `${String(partition)}/${String(seq)}`;
