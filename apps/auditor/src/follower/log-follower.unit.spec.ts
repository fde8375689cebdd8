// A log that lost records at its front, which no retention may take: the broker says that it begins later than at offset 0.
import { describe, expect, it } from '@jest/globals';
import { AuditedCluster, LOG } from '../auditor.testing.js';

const GAP = `gap in ${LOG}/0`;
const MISSING = `missing in ${LOG}/0`;
const CUT = `cut_tail in ${LOG}/0`;

async function signedCluster(): Promise<AuditedCluster> {
  const cluster = await AuditedCluster.start();
  await cluster.write(5);
  await cluster.turn();
  return cluster;
}

describe('the front of a log', () => {
  it.each([
    ['while the auditor ran', 2, false, [GAP, MISSING]],
    ['to its end while the auditor ran', 5, false, [CUT, GAP]],
    ['while the auditor was away', 2, true, [GAP, MISSING]],
    ['to its end while the auditor was away', 5, true, [CUT, GAP]],
  ])('has alarms where it was deleted %s, and nothing is signed behind it (P11)', async (_, count, isAway, alarms) => {
    const cluster = await signedCluster();
    cluster.broker.trim(LOG, 0, count);
    if (isAway) await cluster.restart();
    await cluster.turn();
    expect([cluster.alarms(), cluster.trouble]).toEqual([alarms, []]);
    await cluster.write(2);
    await cluster.turn();
    expect(cluster.sizes()).toEqual([5]);
  });

  it('has no alarm again once a person closed those that it had, and another where more is deleted', async () => {
    const cluster = await signedCluster();
    cluster.broker.trim(LOG, 0, 5);
    await cluster.turn();
    await cluster.close('ada');
    for (const isAway of [false, true]) {
      if (isAway) await cluster.restart();
      await cluster.turn();
      await cluster.turn();
      expect([isAway, cluster.alarms()]).toEqual([isAway, []]);
    }
    await cluster.write(2);
    cluster.broker.trim(LOG, 0, 7);
    await cluster.turn();
    expect(cluster.alarms()).toEqual([GAP]);
  });
});

describe('a log that is read anew', () => {
  it('is not taken for cut where the broker failed before its end was read', async () => {
    const cluster = await signedCluster();
    await cluster.restart({ withoutTrees: true });
    cluster.handsOutNothing = true;
    await cluster.turn();
    cluster.handsOutNothing = false;
    await cluster.turn();
    expect(cluster.alarms()).toEqual([]);
  });
});
