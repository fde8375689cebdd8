// How much of what is long the overruns of one leg tell: all of them are one decision, and a batch holds it (L4). Pure.
//
// Boundary: cuts what orients whoever decides; what is counted, asked and decided on is told whole. The objective stands whole
// with the effect that was taken back, and reason and runbook in its contract.
import { excerpt } from '@recourse/kernel';
import type { Brief } from '@recourse/messages';
import type { BudgetRecord } from './budget.messages.js';

/** Bytes of all that one leg leads to: less than a batch, whatever else is in it. */
const LEG_BYTES_MAX = 800_000;
/** UTF-16 units that are kept of a text in a brief, the first with which all fits. */
const LENGTHS = [16_000, 4_000, 2_000, 1_000, 500, 250, 100] as const;

/** Records of one leg, with briefs as long as a batch holds them all. */
export function fittingBriefs(records: readonly BudgetRecord[]): readonly BudgetRecord[] {
  const sizes = [records, ...LENGTHS.map((length) => records.map((record) => briefly(record, length)))];
  return sizes.find((told) => bytesOf(told) <= LEG_BYTES_MAX) ?? sizes.at(-1) ?? records;
}

function briefly(record: BudgetRecord, length: number): BudgetRecord {
  if (record.type !== 'BudgetOverrun') return record;
  return { ...record, body: { ...record.body, brief: cut(record.body.brief, length) } };
}

function cut({ objective, compensation, missing }: Brief, length: number): Brief {
  const short = <Text extends string | null>(text: Text): Text | string =>
    text === null || text.length <= length ? text : `${excerpt(text, length)}…`;
  if (compensation === null) return { objective: short(objective), compensation, missing };
  const { mode, reason, runbook, accepted_by } = compensation;
  return {
    objective: short(objective),
    compensation: { mode, reason: short(reason), runbook: short(runbook), accepted_by },
    missing,
  };
}

/** About, and rather too much: names of members are written once a schema, not once a record. */
function bytesOf(records: readonly BudgetRecord[]): number {
  return Buffer.byteLength(JSON.stringify(records));
}
