// Rebuilds the budgets' log in memory, for `recourse replay`. The fold reads records alone (L2), so no configuration is needed.
import { replayService } from '@recourse/service/replay';
import { budgetsCore } from './core.js';

await replayService(
  () => [budgetsCore()],
  async () => (await import('./remaking.js')).REMAKING,
);
