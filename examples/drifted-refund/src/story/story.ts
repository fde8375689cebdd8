// The drifted refund, played and narrated. Every fact is fetched from the side that holds it; none comes from memory.
//
// An agent refunds an order because it was not shipped. Then it is shipped. Recourse finds the refund that relied on it,
// asks a person, takes the refund back, and looks whether it is back.
import { systemClock } from '@recourse/sdk';
import { ask } from '../common/http.js';
import { ISSUE_INSTANT_REFUND, ISSUE_REFUND } from '../common/contracts.js';
import { Desk } from './desk.js';
import type { Check, Fetchers, StoryUrls } from './desk.js';
import { compensated, decide, denied, review, windowClosed } from './endings.js';
import type { Interactive } from './endings.js';
import { openOrder, refund, registerContracts, ship, subscribeLoyalty } from './opening.js';

export type Scenario = 'refund' | 'window-closed';
export type BreakMode = 'phantom-undo';

export interface StoryOptions {
  readonly urls: StoryUrls;
  readonly scenario: Scenario;
  /** Makes a side misbehave; the story must notice. */
  readonly breakMode: BreakMode | null;
  /** Asks the person at the terminal; null: the example's operator approves. */
  readonly interactive: Interactive | null;
  readonly say: (line: string) => void;
  /** Tenant of the example's processes. Default `demo`. */
  readonly tenant?: string;
  /** Default: HTTP and the wall clock. */
  readonly fetchers?: Partial<Fetchers>;
}

export interface StoryResult {
  /** Every check held. */
  readonly ok: boolean;
  /** The refund, where there was one: what fell with it is drawn. */
  readonly mutationId: string | null;
  readonly checks: readonly Check[];
}

const REAL: Fetchers = { ask, ...systemClock };
/** More often than any retry asks. */
const FAULT_TIMES = 1_000;

/** Plays the story once. Errors: none of its own; a side that does not answer at all is an error of fetch. */
export async function playStory({
  urls,
  scenario,
  breakMode,
  interactive,
  say,
  tenant = 'demo',
  fetchers = {},
}: StoryOptions): Promise<StoryResult> {
  const desk = new Desk(urls, tenant, { ...REAL, ...fetchers }, say);
  if (breakMode === 'phantom-undo')
    await desk.post('provider', '/faults', { mode: 'phantom_undo', times: FAULT_TIMES });
  let mutationId: string | null = null;
  try {
    mutationId = await tell(desk, scenario, interactive);
  } finally {
    if (breakMode !== null) await desk.post('provider', '/faults', { mode: 'none', times: 0 });
  }
  const broken = desk.checks.filter(({ ok }) => !ok);
  say(
    broken.length === 0
      ? `All ${String(desk.checks.length)} checks held.`
      : `${String(broken.length)} of ${String(desk.checks.length)} checks did not hold: ${broken.map(({ name }) => name).join('; ')}.`,
  );
  return { ok: broken.length === 0, checks: desk.checks, mutationId };
}

async function tell(desk: Desk, scenario: Scenario, interactive: Interactive | null): Promise<string | null> {
  await registerContracts(desk);
  await subscribeLoyalty(desk);
  const order = await openOrder(desk);
  const story = await refund(desk, order, scenario === 'window-closed' ? ISSUE_INSTANT_REFUND : ISSUE_REFUND);
  if (story === null) return null;
  await ship(desk, story);
  const step = await review(desk, story);
  if (step === null) return story.mutationId;
  if (scenario === 'window-closed') {
    await windowClosed(desk, story, step);
    return story.mutationId;
  }
  const verdict = await decide(desk, step, interactive);
  await (verdict === 'approve' ? compensated(desk, story) : denied(desk, story));
  return story.mutationId;
}
