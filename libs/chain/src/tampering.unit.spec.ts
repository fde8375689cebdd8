// The tamper matrix: whatever is done to a log of 1,000 records is found, by its right name; an untouched one has no findings.
// Each row is done to some records here, and to every one of them with `npm run tamper`.
import { describe, expect, it } from '@jest/globals';
import { findingsIn, kindsIn, signedLog, TAMPERINGS, WHOLE } from './tampering.testing.js';
import type { Tampering } from './tampering.testing.js';

const RECORDS = 1_000;
const isWhole = process.env['RECOURSE_TAMPER'] === 'whole';
const log = signedLog(RECORDS);
/** The first and the last ones, and those beside a signed head, whatever else. */
const EDGES = [1, 2, 3, 99, 100, 101, 102, 999, 1_000];
const places = Array.from({ length: RECORDS }, (_, n) => n + 1).filter(
  (seq) => isWhole || EDGES.includes(seq) || seq % 97 === 0,
);

/** Places where a row was not found, or by another name. */
function missedBy({ names, at, known, isPlaced }: Tampering): readonly string[] {
  return places.flatMap((seq) => {
    const tampered = at(log, seq);
    if (tampered === null) return [];
    const found = findingsIn(tampered, known?.(log, seq) ?? log.signed);
    const isNamed = found.length > 0 && found.every(({ kind }) => names.includes(kind));
    const isThere =
      isPlaced !== true ||
      found.some((finding) => ('seq' in finding ? finding.seq === seq : finding.offset === seq - 1));
    return isNamed && isThere ? [] : [`${seq}: ${JSON.stringify(found)}`];
  });
}

describe('a log of 1,000 records that nobody touched', () => {
  it('has no findings, against every head that was signed', () => {
    expect(kindsIn(log.records, log.signed)).toEqual([]);
    expect(kindsIn(log.records, [])).toEqual([]);
  });
});

describe('whoever', () => {
  it.each(TAMPERINGS.map((row): [string, Tampering] => [row.title, row]))(
    '%s is found by its name',
    (_title, row) => {
      expect(missedBy(row)).toEqual([]);
    },
    600_000,
  );

  it.each(WHOLE.map((row): [string, (typeof WHOLE)[number]] => [row.title, row]))(
    '%s is found by its name',
    (_title, row) => {
      expect(row.names).toEqual(expect.arrayContaining([...kindsIn(row.log(log), row.known?.(log, 0) ?? log.signed)]));
      expect(kindsIn(row.log(log), row.known?.(log, 0) ?? log.signed)).not.toEqual([]);
    },
  );
});
