// The whole of it without a broker: a plan is made, the warehouse turns out to be empty, the agent is started again.
import { createDetector, ManualClock, MemoryEntries, MemoryProducer, MemoryResume } from '@recourse/sdk';
import type { Trigger } from '@recourse/sdk';
import { drive } from './agent.js';
import type { AgentParts, Driven } from './agent.js';
import { counted, DELIVERY_BUNDLE, RULES } from './watch.js';

export interface Story {
  readonly before: Driven;
  readonly trigger: Trigger | undefined;
  readonly fallen: readonly string[];
  readonly after: Driven;
}

const RUN = {
  tenant: 'shop',
  runId: 'run-7',
  agentId: 'delivery-planner',
  initiator: 'asha',
  objective: 'deliver order 7',
};

/** Plays the story; `left` pens are counted in the east. */
export async function play(left: number): Promise<Story> {
  const [producer, entries, clock] = [new MemoryProducer(), new MemoryEntries(), new ManualClock(1_000)];
  const source = new MemoryResume(producer);
  entries.register('policy_bundle', RUN.tenant, 'delivery', DELIVERY_BUNDLE);
  const parts: AgentParts = { source, producer, entries, clock, run: RUN, order: '7' };
  const before = await drive(parts);
  const detector = createDetector({
    rules: RULES,
    tell: (trigger) => {
      fell(trigger, producer, source);
      return Promise.resolve();
    },
  });
  const {
    triggers: [trigger],
  } = await detector.see(counted(RUN.tenant, 'east', left, 2_000));
  const after = await drive(parts);
  const answer = await source.of(RUN.tenant, RUN.runId);
  return { before, trigger, fallen: answer.kind === 'known' ? answer.resumed.rolledBack : [], after };
}

/** What ledger and orchestrator make of a contradiction: whatever relied on it falls. */
function fell(trigger: Trigger, producer: MemoryProducer, source: MemoryResume): void {
  if (trigger.on !== 'assumption') return;
  const { ref, statement, statedAt, source: who = 'detector', sourceKind } = trigger.statement;
  for (const told of producer.told) {
    if (told.type !== 'CheckpointTaken' || !told.taken.checkpoint.assumption_refs.includes(ref)) continue;
    source.rollBack(told.taken.commitId, { kind: sourceKind, source: who, ref, statement, stated_at: statedAt });
  }
}
