// Rebuilds the ledger's logs in memory, for `recourse replay`.
import { replayService } from '@recourse/service/replay';
import { assumptionsCore } from './application/assumptions.core.js';
import { mutationsCore } from './application/mutations.core.js';

await replayService(() => [assumptionsCore(), mutationsCore()]);
