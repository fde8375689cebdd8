// What becomes of the file that drills write.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DRILLS_MAX, drillsIn, lastDrills } from './drills.js';

const report = (drill_id: string): string => JSON.stringify({ drill_id, adapter: 'payments', findings: [] });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'recourse-drills-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

describe('the drills of a file', () => {
  it('come last first, and what is no report is counted', () => {
    const { items, unreadable } = drillsIn(`${report('a')}\nhalf a li\n[]\n\n${report('b')}\n`, true);
    expect(items).toMatchObject([{ drill_id: 'b' }, { drill_id: 'a' }]);
    expect(unreadable).toBe(2);
  });

  it('are no more than a person looks at, and the cut line before them is none', () => {
    const many = Array.from({ length: DRILLS_MAX + 5 }, (_, at) => report(String(at))).join('\n');
    expect(drillsIn(many, true).items).toHaveLength(DRILLS_MAX);
    expect(drillsIn(`ill_id":"x"}\n${report('a')}`, false)).toMatchObject({
      items: [{ drill_id: 'a' }],
      unreadable: 0,
    });
  });

  it('are none while nobody has drilled, and what the end of a long file holds', async () => {
    const path = join(folder, 'drills.jsonl');
    expect(await lastDrills(path)).toEqual({ items: [], unreadable: 0 });
    const long = JSON.stringify({ drill_id: 'old', detail: 'x'.repeat(3 * 1_024 * 1_024) });
    writeFileSync(path, `${long}\n${report('new')}\n`);
    expect(await lastDrills(path)).toMatchObject({ items: [{ drill_id: 'new' }], unreadable: 0 });
  });
});
