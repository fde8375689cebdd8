// What somebody is held to who freezes an agent, or lets it go.
import { describe, expect, it } from '@jest/globals';
import { isSameStanding, standingVerb } from './autonomy.verbs.js';

const FREE = { autonomy_id: 'aut_1', rung: 'recommend', score_ppm: 500_000, frozen_by: null, frozen_at: null };
const FROZEN = { ...FREE, frozen_by: 'person', frozen_at: 7 };
const verbs = (seen: object, now: object, ...roles: string[]) =>
  standingVerb({ seen: { ...seen }, id: 'aut_1', read: () => Promise.resolve({ ...now }) }, roles);

describe('a word on what an agent has earned', () => {
  it('is the other one once somebody froze it or let it go, and the same while only its score moves', () => {
    expect(isSameStanding(FREE, FROZEN)).toBe(false);
    expect(isSameStanding(FROZEN, FREE)).toBe(false);
    expect(isSameStanding(FROZEN, { ...FROZEN, frozen_at: 9 })).toBe(false);
    expect(isSameStanding(FREE, { ...FREE, rung: 'observe', score_ppm: 1 })).toBe(true);
  });

  it('freezes what its person read as free, whatever it is by now, and is not sent where it is another by now', async () => {
    const [verb] = verbs(FREE, FROZEN, 'operator');
    expect(verb?.name).toBe('Freeze');
    await expect(verb?.still?.()).rejects.toMatchObject({ code: 'CHANGED_MEANWHILE' });
    await expect(verbs(FREE, FREE, 'operator')[0]?.still?.()).resolves.toBeUndefined();
  });

  it('is given by whom the service lets in: an operator freezes, and lets nothing go', () => {
    expect(verbs(FROZEN, FROZEN, 'operator')[0]).toMatchObject({
      name: 'Unfreeze',
      blocked: expect.stringContaining('None of your roles'),
    });
    expect(verbs(FREE, FREE, 'operator')[0]?.blocked).toBeUndefined();
    expect(verbs(FROZEN, FROZEN, 'approver')[0]?.blocked).toBeUndefined();
    expect(verbs(FREE, FREE, 'reporter')[0]?.blocked).toContain('None of your roles');
  });
});
