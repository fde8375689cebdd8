// Rebuilds the contracts' log in memory, for `recourse replay`.
import { replayService } from '@recourse/service/replay';
import { registryCore } from './core.js';

await replayService(() => [registryCore()]);
