// Readiness of an agent: ten areas (A93 to A101). No set of gates passes it: what acted must have been undone once, and seen to be.
import { z } from 'zod';
import { capped, classified, gated, governed, verifiable } from './contract.judges.js';
import { budgeted } from './budget.judges.js';
import { agreed, boundBack, boundRefs, expiring, recovers, seenUndone, tracked } from './effect.judges.js';
import { controlOf, judged, worst } from './probe.js';
import type { Line } from './probe.js';
import { reportOf, rolledUp } from './report.js';
import { scopeOf } from './scope.js';
import type { Scope } from './scope.js';
import type { Seen } from './seen.js';

const judgedShape = z.strictObject({
  id: z.string(),
  title: z.string(),
  severity: z.enum(['P0', 'P1', 'P2']),
  result: z.enum(['pass', 'partial', 'fail']),
  evidence: z.array(z.string()),
  remedy: z.string().nullable().describe('What to do; null where it passed.'),
});
export const countsShape = {
  passed: z.int(),
  partial: z.int(),
  failed: z.int(),
  score: z.number().min(0).max(1).describe('A pass counts 1, a partial one half.'),
  blockers: z.array(z.string()).describe('Ids of what failed with severity P0.'),
};
export { judgedShape };

/** What `recourse readiness --json` prints. */
export const readinessShape = z.strictObject({
  schema: z.literal('urn:recourse:readiness-report:1'),
  agent: z.string(),
  ready: z.boolean(),
  ...countsShape,
  capabilities: z.array(z.string()),
  areas: z.array(judgedShape),
});
export type ReadinessReport = Readonly<z.infer<typeof readinessShape>>;

export const AREAS: readonly Line<Scope>[] = [
  [
    'classification',
    'every capability that acts has a class',
    'P0',
    ['contracts', 'effects', 'charters'],
    classified,
    'Register a contract: `recourse contracts draft`, then `contracts register`.',
  ],
  [
    'binding',
    'calls bind the way back and what they rely on',
    'P0',
    ['contracts', 'effects'],
    (scope) => worst(boundBack(scope), boundRefs(scope)),
    'Register a contract before it acts, pass `assumptionRefs` with every call, and bind every argument of the reversal in the contract.',
  ],
  [
    'lifecycle',
    'effects are followed from pending_commit to their end',
    'P1',
    ['effects'],
    tracked,
    'Guard the tool, so that it announces each call, and settle what waits: `recourse items`.',
  ],
  [
    'expiry',
    'handles carry windows, and expired ones are with people',
    'P0',
    ['contracts', 'effects', 'steps', 'clock'],
    expiring,
    'Give the contract a reversal_window_ms; see `recourse mutations horizon`.',
  ],
  [
    'irreversible',
    'what cannot be undone is held or asked about',
    'P0',
    ['contracts'],
    gated,
    'Give the contract a commit_hold_ms, or a forward_approval by people.',
  ],
  [
    'recovery',
    'what fell is recovered, and was once',
    'P0',
    ['effects', 'steps', 'ready'],
    recovers,
    'Start the orchestrator, let the agent act in a tenant of its own, and undo what it did: `recourse undo`.',
  ],
  [
    'governance',
    'undoing is governed like doing',
    'P0',
    ['contracts', 'bundles', 'effects', 'steps'],
    (scope) => worst(governed(scope), agreed(scope)),
    'Set recovery_approval_mode by impact; see `recourse recoveries show` for who agreed.',
  ],
  [
    'verification',
    'only what was observed counts as undone',
    'P0',
    ['contracts', 'effects'],
    (scope) => worst(verifiable(scope), seenUndone(scope)),
    'Give the contract a verification by another capability that has a contract, with a condition that only an undo makes true.',
  ],
  [
    'blast_radius',
    'a run is capped in calls, value, subjects and scope',
    'P1',
    ['contracts'],
    capped,
    'Give the contract a blast_radius with all its caps.',
  ],
  [
    'budget',
    'debt accrues, and escalates at a ceiling',
    'P1',
    ['contracts', 'effects', 'budgets', 'reservations'],
    budgeted,
    'Open a budget per unit, of its run, its agent or its tenant: `recourse budgets open`.',
  ],
];

/** The ten verdicts about an agent. Pure. */
export function readiness(seen: Seen, agent: string, tools: readonly string[]): ReadinessReport {
  const scope = scopeOf(seen, agent, tools);
  const areas = AREAS.map((line) => judged(controlOf(line), seen, scope));
  const counts = rolledUp(areas);
  return {
    schema: 'urn:recourse:readiness-report:1',
    agent,
    ready: counts.passed === areas.length,
    ...counts,
    capabilities: [...scope.capabilities],
    areas: areas.map(reportOf),
  };
}
