// What every tool that undoes owes its worker, seen as a drill sees it: whoever runs reversals for an adapter passes this.
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Contract } from '@recourse/contract';
import type { Clock } from '@recourse/kernel';
import { runDrill } from './drill.js';
import type { DrillKit, DrillReport } from './drill.messages.js';

export interface ToolsUnderTest {
  readonly kit: DrillKit;
  readonly contracts: readonly Contract[];
  readonly clock: Clock;
}

export function toolContract(name: string, make: () => Promise<ToolsUnderTest>): void {
  describe(`the tools "${name}"`, () => {
    let first: DrillReport;
    let second: DrillReport;
    beforeAll(async () => {
      const { kit, contracts, clock } = await make();
      first = await runDrill({ kit, contracts, clock, tenant: 'acme', drillId: 'one' });
      second = await runDrill({ kit, contracts, clock, tenant: 'acme', drillId: 'two' });
    });

    it('undo what was made, once per key, where another capability sees it', () => {
      expect(first.findings.filter(({ verdict }) => verdict !== 'clean')).toEqual([]);
      expect(new Set(first.findings.map(({ path }) => path))).toEqual(
        new Set([
          'find_nothing',
          'forward',
          'find_forward',
          'bind',
          'stale_check',
          'look_before',
          'undo',
          'verify',
          'repeat',
          'look_back',
        ]),
      );
    });

    it('can be drilled again and again', () => {
      expect(second.verdict).toBe('clean');
    });
  });
}
