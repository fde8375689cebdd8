// What the figures of the console are taken with: a load, a scroll, and the instants at which a page shows something.
import { commitIdOf } from '@recourse/lineage';
import type { Checkpoint, CommitRef } from '@recourse/messages';
import { TENANT } from './system.testing.js';
import type { System } from './system.testing.js';

/** The value below which that part of them lies; in order of size, the nearest rank. */
export function percentile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

/** Resolves in the page to the instant at which it shows a link; the debugger may say what the page's policy would not run. */
export function whenShown(path: string): string {
  return `new Promise((resolve) => {
    const look = () => {
      if (document.querySelector('a[href="${path}"]') !== null) resolve(Date.now());
      else requestAnimationFrame(look);
    };
    look();
  })`;
}

/**
 * Keeps, in each document that is opened, when its first box was in sight and its frame was made. The page looks itself: a driver
 * looks again only half a second later, once it looked some times in vain.
 */
export const KEEPS_DRAWN = `globalThis.drawn = new Promise((resolve) => {
  const look = () => {
    const isDrawn = document.querySelector('.box')?.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    if (isDrawn === true) requestAnimationFrame(() => setTimeout(() => resolve(Math.round(performance.now()))));
    else requestAnimationFrame(look);
  };
  look();
})`;

/** Scrolls the list of the inbox to its end in 300 frames; a frame is late when the one before it was shown more than 1.5 frames ago. */
export const FRAMES = `new Promise((resolve) => {
  const list = document.querySelector('.rows');
  const [COUNT, FRAME_MS] = [300, 1000 / 60];
  const step = (list.scrollHeight - list.clientHeight) / COUNT;
  const gaps = [];
  let before = performance.now();
  const next = (now) => {
    gaps.push(now - before);
    before = now;
    list.scrollTop += step;
    if (gaps.length < COUNT) requestAnimationFrame(next);
    else resolve({
      frames: gaps.length,
      late: gaps.filter((gap) => gap > 1.5 * FRAME_MS).length,
      longest: Math.round(Math.max(...gaps)),
    });
  };
  requestAnimationFrame(next);
})`;

/** An item of an inbox that nobody could fill by hand. */
export function itemAt(at: number): object {
  return {
    kind: 'approval',
    id: `step_${String(at)}`,
    tenant: TENANT,
    run_id: `run_${String(at)}`,
    capability: 'payments.issue_refund',
    reason: 'HIGH_IMPACT',
    owner: 'role:approver',
    runbook: null,
    required_approvals: 1,
    approvals: 0,
    opened_at: at,
    deadline_at: Date.now() + 60_000 * (at + 1),
    is_overdue: false,
    way_out: '',
  };
}

interface Load {
  readonly isOver: () => boolean;
  /** Told once the broker has all of it. */
  readonly done: Promise<{ readonly seconds: number }>;
}

const RUN_SIZE = 100;
const TICK_MS = 50;

interface Root {
  readonly runId: string;
  readonly mutationId: string;
}

/** Commits that rest on an effect, each on one a third of the way before it, a hundred a run, at a rate. */
export function lineageLoad(
  { said }: System,
  root: Root,
  { commits, perSecond }: { readonly commits: number; readonly perSecond: number },
): Load {
  const refs: CommitRef[] = [{ run_id: root.runId, commit_id: root.mutationId }];
  let isOver = false;
  const tell = async (): Promise<void> => {
    const at = refs.length - 1;
    const parent = refs[Math.floor(at / 3)];
    const checkpoint = checkpointAt(root.runId, at, parent === undefined ? [] : [parent]);
    const commitId = commitIdOf(checkpoint);
    refs.push({ run_id: checkpoint.run_id, commit_id: commitId });
    await said.producer.checkpointTaken({ commitId, checkpoint });
  };
  const run = async (): Promise<{ readonly seconds: number }> => {
    const began = Date.now();
    const sent: Promise<void>[] = [];
    while (sent.length < commits) {
      const due = Math.min(commits, Math.floor(((Date.now() - began) / 1_000) * perSecond));
      while (sent.length < due) sent.push(tell());
      await new Promise((resolve) => {
        setTimeout(resolve, TICK_MS);
      });
    }
    await Promise.all(sent);
    isOver = true;
    return { seconds: (Date.now() - began) / 1_000 };
  };
  return { isOver: () => isOver, done: run() };
}

function checkpointAt(of: string, at: number, parents: readonly CommitRef[]): Checkpoint {
  return {
    tenant: TENANT,
    run_id: `${of}-${String(Math.floor(at / RUN_SIZE))}`,
    agent_id: `agent-${String(at % 3)}`,
    initiator: null,
    objective: null,
    step_id: `step ${String(at)}`,
    produced_by: `call-${String(at)}`,
    subject_ref: null,
    parents,
    assumption_refs: [],
    gate: null,
    release: null,
    state: null,
    committed_at: Date.now(),
  };
}
