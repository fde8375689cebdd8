// The forty controls of the harness audit, by outcome: eight of five each (G22).
import { AFTER } from './harness.after.js';
import { BEFORE } from './harness.before.js';
import type { Five } from './harness.five.js';

export const OUTCOMES = [
  'context',
  'policy',
  'tools',
  'validation',
  'observability',
  'reversibility',
  'measurement',
  'improvement',
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export const CONTROLS: Readonly<Record<Outcome, Five>> = { ...BEFORE, ...AFTER };
