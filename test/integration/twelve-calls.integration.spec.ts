// One agent action of twelve calls on real parts, up to the moment of undo (B1): everything it did is accounted for.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { playTwelveCalls } from '@recourse/example-twelve-calls';
import type { TwelveResult } from '@recourse/example-twelve-calls';
import { startLittleSystem, stateOf } from './little.testing.js';
import type { LittleSystem } from './little.testing.js';

let system: LittleSystem;
let told: TwelveResult;
beforeAll(async () => {
  system = await startLittleSystem();
  told = await playTwelveCalls(system.place);
}, 400_000);
afterAll(async () => { await system.stop(); }, 60_000);

describe('one action of twelve calls', () => {
  it('is accounted for, call by call, and every check of the account held', () => {
    expect(told.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(told.accounts.map(({ at, mutationId, differences }) => [at, mutationId.startsWith('mut_'), differences])).toEqual(Array.from({ length: 12 }, (_, at) => [at + 1, true, []]));
    expect(system.lines.join('\n')).toMatch(/# +CALL +CLASS[^\n]*(\n[0-9]+ +[^\n]*){12}\n/);
  });

  it('is one effect of each call at the services, and no other', async () => {
    const { effects, notices } = await stateOf(system.place);
    expect(effects.map(({ operation }) => operation).sort()).toEqual([
      'calendar.send', 'channels.post', 'config.update', 'crm.update', 'documents.archive', 'inventory.reserve', 'labels.add', 'mail.send', 'mail.send', 'payments.charge', 'tickets.open', 'travel.book',
    ]);
    expect(notices).toHaveLength(7);
  });

  it('has three parts that cannot be undone, let through by a hold or a person, and nine with their way back bound', () => {
    const [gone, back] = [told.accounts.filter(({ undo }) => undo === null), told.accounts.filter(({ undo }) => undo !== null)];
    expect(gone.map(({ capability, gate, status }) => `${capability} ${gate} ${status}`)).toEqual([
      'mail.send_notice hold succeeded, committed', 'mail.send_notice hold succeeded, committed', 'channels.post_message approval succeeded, committed',
    ]);
    expect(back).toHaveLength(9);
    for (const { status, undoableUntil } of back) expect([status, (undoableUntil ?? 0) > Date.now()]).toEqual(['succeeded, reversal_available', true]);
  });
});
