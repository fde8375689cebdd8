// The twelve calls.
export { playTwelveCalls } from './story.js';
export type { TwelveResult } from './story.js';
export type { Account } from './account.js';
export type { Undone } from './undone.js';
