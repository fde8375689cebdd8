export { CONFIG } from './config.js';
export type { ConsoleConfig } from './config.js';
export { createConsole } from './console.js';
export type { ConsoleOptions } from './console.js';
