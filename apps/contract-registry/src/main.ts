// Process of the contract registry.
import { loadConfig } from '@recourse/config';
import { runService } from '@recourse/service';
import { logUnknown } from '@recourse/telemetry';
import { serviceSpec } from './app.module.js';
import { CONFIG } from './config.js';

await runService(() => loadConfig(CONFIG, process.env, [], logUnknown('contract-registry')), serviceSpec);
