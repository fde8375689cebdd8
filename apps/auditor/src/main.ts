// Process of the auditor.
import { loadConfig } from '@recourse/config';
import { CONFIG } from './config.js';
import { startAuditor } from './run-auditor.js';

await startAuditor(loadConfig(CONFIG, process.env));
