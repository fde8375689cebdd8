// The drifted refund: its story and its processes.
export { playStory } from './story/story.js';
export type { BreakMode, Scenario, StoryOptions, StoryResult } from './story/story.js';
export type { Check, Fetchers, StoryUrls } from './story/desk.js';
export type { Interactive } from './story/endings.js';
export { CONTRACTS, GET_REFUND, ISSUE_INSTANT_REFUND, ISSUE_REFUND, REVERSE_REFUND } from './common/contracts.js';
export { PROCESSES } from './processes.js';
export type { ProcessSpec } from './processes.js';
