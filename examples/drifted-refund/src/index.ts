// The drifted refund: its story and its processes.
export { playStory } from './story/story.js';
export type { BreakMode, Scenario, StoryOptions, StoryResult } from './story/story.js';
export type { Check, Fetchers, StoryUrls } from './story/desk.js';
export type { Interactive } from './story/endings.js';
export {
  CONTRACTS,
  GET_REFUND,
  ISSUE_INSTANT_REFUND,
  ISSUE_REFUND,
  REFUND_POLICY,
  REVERSE_REFUND,
} from './common/contracts.js';
export { PROCESSES, RECEIVER } from './processes.js';
export { verifyWebhook } from './webhook-receiver/verify-webhook.js';
export type { ProcessSpec } from './processes.js';
// What the other examples are told with too.
export { Desk, factsOf, listOf, numberOf, textOf } from './story/desk.js';
export type { Facts, Person } from './story/desk.js';
export { BUDGET_OWNER, CONTRACT_EDITOR, INITIATOR, OPERATOR } from './story/people.js';
export { ask, askProvider, Unsettled } from './common/http.js';
export type { HttpAsk, HttpReply } from './common/http.js';
export { readEnvironment } from './common/environment.js';
export { reachRecourse, tokenFrom, untilReached } from './common/recourse.js';
export { answering, serve } from './common/serve.js';
