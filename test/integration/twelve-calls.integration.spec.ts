// One agent action of twelve calls on real parts, and its undo (B1, B2, B20): everything it did is accounted for, and so is what became of it.
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
afterAll(async () => {
  await system.stop();
}, 60_000);

describe('one action of twelve calls', () => {
  it('is accounted for, call by call, and every check of the account held', () => {
    expect(told.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect(
      told.accounts.map(({ at, mutationId, differences }) => [at, mutationId.startsWith('mut_'), differences]),
    ).toEqual(Array.from({ length: 12 }, (_, at) => [at + 1, true, []]));
    expect(system.lines.join('\n')).toMatch(/# +CALL +CLASS[^\n]*(\n[0-9]+ +[^\n]*){12}\n/);
  });

  it('is one effect of each call at the services, and no other', async () => {
    const { effects, notices } = await stateOf(system.place);
    expect(
      effects
        .map(({ operation }) => operation)
        .filter((operation) => !TAKING_BACK.includes(operation))
        .sort(),
    ).toEqual([
      'calendar.send',
      'channels.post',
      'config.update',
      'config.update',
      'crm.update',
      'crm.update',
      'documents.archive',
      'inventory.reserve',
      'labels.add',
      'mail.send',
      'mail.send',
      'payments.charge',
      'tickets.open',
      'travel.book',
    ]);
    // Seven were told of it, and of its undo three who were invited and the one who had a ticket.
    expect(notices).toHaveLength(11);
  });

  it('has three parts that cannot be undone, let through by a hold or a person, and nine with their way back bound', () => {
    const [gone, back] = [
      told.accounts.filter(({ undo }) => undo === null),
      told.accounts.filter(({ undo }) => undo !== null),
    ];
    expect(gone.map(({ capability, gate, status }) => `${capability} ${gate} ${status}`)).toEqual([
      'mail.send_notice hold succeeded, committed',
      'mail.send_notice hold succeeded, committed',
      'channels.post_message approval succeeded, committed',
    ]);
    expect(back).toHaveLength(9);
    for (const { status, undoableUntil } of back)
      expect([status, (undoableUntil ?? 0) > Date.now()]).toEqual(['succeeded, reversal_available', true]);
  });

  it('is undone as far as it can be, each part once and the last first, and the report says so of each', async () => {
    const { report, lines } = told.undo;
    expect(report).toMatchObject({
      outcome: 'partly_undone',
      counts: { undone_clean: 4, undone_with_residue: 5, not_undone: 3, still_open: 0 },
    });
    expect(lines.map(({ outcome, stands }) => [outcome.startsWith('undone'), stands])).toEqual(
      lines.map(({ outcome }) => (outcome === 'not_undone' ? [false, true] : [true, false])),
    );
    const places = lines.flatMap(({ takenBackAt }) => takenBackAt);
    expect(places).toEqual([...places].sort((a, b) => b - a));
    const { effects } = await stateOf(system.place);
    expect(effects.filter(({ operation }) => TAKING_BACK.includes(operation))).toHaveLength(7);
  });
});

/** Operations that only an undo asks for; the two writes back into CRM and configuration are updates like any other. */
const TAKING_BACK: readonly string[] = [
  'tickets.close',
  'calendar.cancel',
  'payments.refund',
  'travel.cancel',
  'documents.restore',
  'labels.remove',
  'inventory.release',
];
