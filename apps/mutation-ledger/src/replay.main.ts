// Rebuilds the ledger's logs in memory, for `recourse replay`.
import { replayService } from '@recourse/service/replay';
import { assumptionsCore } from './assumptions.core.js';
import { mutationsCore } from './core.js';

await replayService(
  () => [assumptionsCore(), mutationsCore()],
  async () => (await import('./remaking.js')).REMAKING,
);
