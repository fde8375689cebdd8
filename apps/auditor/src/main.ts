// Process of the auditor.
import { loadConfig } from '@recourse/config';
import { logUnknown } from '@recourse/telemetry';
import { CONFIG } from './config.js';
import { startAuditor } from './run-auditor.js';

await startAuditor(loadConfig(CONFIG, process.env, [], logUnknown('auditor')));
