// Rebuilds the recoveries' log in memory, for `recourse replay`.
import { replayService } from '@recourse/service/replay';
import { recoveriesCore } from './core.js';

/** What deciding would need. The fold reads records alone (L2), so any policy rebuilds the same state. */
const UNUSED_POLICY = {
  leaseKey: Buffer.alloc(32),
  leaseMs: 0,
  reviewDeadlineMs: 0,
  backoff: { baseMs: 0, maxMs: 0 },
  ownerOf: () => null,
};

await replayService(
  () => [recoveriesCore(UNUSED_POLICY)],
  async () => (await import('./remaking.js')).REMAKING,
);
