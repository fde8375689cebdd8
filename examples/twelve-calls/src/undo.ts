// The undo: whom the agent acted for sees first what it would do, asks for it, people agree where a contract wants them, and the
// report says of each of the twelve what is true. What nothing undoes is corrected by people.
import { factsOf, listOf, OPERATOR, textOf } from '@recourse/example-drifted-refund';
import type { Facts, Person } from '@recourse/example-drifted-refund';
import { formatTable } from '@recourse/example-little-services';
import type { Call, Stage } from '@recourse/example-little-services';
import { since } from './account.js';
import type { Account } from './account.js';
import { isLastFirst, liesIn, PREVIEW_COLUMNS, UNDONE_COLUMNS, undoneOf } from './undone.js';
import type { Undone } from './undone.js';

/** For whom the agent acted. */
export const REQUESTER: Person = { subject: 'asha', roles: ['requester'] };
const AUDITOR: Person = { subject: 'nora', roles: ['auditor'] };
/** Longest until every effect is settled: eleven compensations one after the other, each verified. */
const PATIENCE_MS = 120_000;

/** What is known when the undo begins. */
export interface Before {
  readonly runId: string;
  readonly calls: readonly Call[];
  readonly accounts: readonly Account[];
  readonly mutations: readonly (Facts | null)[];
  /** Place of the last effect before the run. */
  readonly start: number;
}

export interface UndoTold {
  readonly undoId: string;
  readonly report: Facts;
  readonly lines: readonly Undone[];
}

/** Undoes the run and checks every claim. */
export async function undoRun(
  stage: Stage,
  say: (line: string) => void,
  { runId, calls, accounts, mutations, start }: Before,
): Promise<UndoTold> {
  const { desk } = stage;
  say(`5. ${REQUESTER.subject} wants it undone. First what that would do:`);
  const { body: preview } = await desk.get('ledger', `/v1/runs/${runId}/undo-preview`, REQUESTER);
  const foreseen = itemsOf(preview);
  say(formatTable(PREVIEW_COLUMNS, foreseen));
  const possible = foreseen.filter(({ outcome }) => outcome === 'can_be_undone' || outcome === 'leaves_residue');
  desk.check(
    'the preview promises nine and says of three that nothing undoes them',
    possible.length === 9 && foreseen.filter(({ outcome }) => outcome === 'cannot_be_undone').length === 3,
    factsOf(preview, 'counts'),
  );
  desk.check(
    'it names them last first',
    sameOrder(foreseen.map(idOf), accounts.map(({ mutationId }) => mutationId).reverse(), mutations),
    foreseen.map(idOf),
  );

  say(`6. ${REQUESTER.subject} asks for it; ${OPERATOR.subject} agrees where a contract wants a person.`);
  const asked = await desk.post(
    'ledger',
    '/v1/undos',
    { run_id: runId, mutation_ids: [], reason: 'the customer does not want it any more' },
    { person: REQUESTER, key: `undo-${runId}` },
  );
  const undoId = textOf(asked.body['undo_id']);
  desk.check('the request stands', asked.status === 201 && undoId !== '', asked.body);
  const report = await settled(stage, runId, undoId);
  const world = since(await stage.world(), start);
  const items = itemsOf(report);
  const lines = calls.map((call, at) =>
    undoneOf(
      at + 1,
      call,
      mutations[at] ?? {},
      items.find((item) => idOf(item) === accounts[at]?.mutationId),
      world,
    ),
  );
  say(formatTable(UNDONE_COLUMNS, lines));
  checkReport(stage, report, lines, possible);
  await correct(stage, say, runId, undoId);
  return { undoId, report, lines };
}

function checkReport({ desk }: Stage, report: Facts, lines: readonly Undone[], possible: readonly Facts[]): void {
  desk.check(
    'the report accounts for all twelve, and for nothing else',
    itemsOf(report).length === 12 && lines.every(({ outcome }) => outcome !== ''),
    itemsOf(report).length,
  );
  for (const line of lines)
    desk.check(
      `${String(line.at)} ${line.capability}: the claim is what the service shows`,
      liesIn(line).length === 0,
      { lies: liesIn(line), line },
    );
  const undone = lines.filter(({ outcome }) => outcome.startsWith('undone'));
  desk.check(
    'nine are undone, three are not, and the whole is not called undone',
    undone.length === 9 && report['outcome'] === 'partly_undone',
    factsOf(report, 'counts'),
  );
  desk.check(
    'what was promised is what was kept',
    possible.every((item) => undone.some(({ mutationId }) => mutationId === idOf(item))),
    possible.map(idOf),
  );
  desk.check(
    "the last call was taken back first, by the services' own count",
    isLastFirst(undone),
    undone.map(({ takenBackAt }) => takenBackAt),
  );
}

/** The report, once nothing is open; people agree meanwhile to what waits for them. */
async function settled(stage: Stage, runId: string, undoId: string): Promise<Facts> {
  let last: Facts = {};
  const found = await stage.desk.until(PATIENCE_MS, async () => {
    await stage.agreeToSteps(runId);
    const { status, body } = await stage.desk.get('ledger', `/v1/undos/${undoId}`, REQUESTER);
    last = status === 200 ? body : last;
    return status === 200 && body['outcome'] !== 'still_open' ? body : null;
  });
  return found ?? last;
}

/** Three effects nothing undoes are nine pieces of work; one correction is written, by a person. */
async function correct(stage: Stage, say: (line: string) => void, runId: string, undoId: string): Promise<void> {
  const { desk } = stage;
  say("7. What nothing undoes is people's work: for each a correction, support, and a note for the file.");
  const tasks = async (): Promise<readonly Facts[]> =>
    listOf((await desk.get('orchestrator', `/v1/tasks?run_id=${runId}&state=open`, AUDITOR)).body);
  const open = await tasks();
  const kinds = ['correction', 'support', 'audit_note'].map(
    (kind) => open.filter(({ task_kind }) => task_kind === kind).length,
  );
  desk.check(
    'nine tasks are open, three of each kind, each with an owner and a deadline',
    kinds.every((count) => count === 3) &&
      open.every(({ owner, deadline_at }) => textOf(owner) !== '' && typeof deadline_at === 'number'),
    kinds,
  );
  const first = open.find(
    ({ task_kind, capability }) => task_kind === 'correction' && capability === 'channels.post_message',
  );
  const content = {
    message: 'The order of this morning was withdrawn; please ignore the post above.',
    safe_state: 'The post stands, with the correction below it.',
    user_visible_outcome: 'The team reads both, in order.',
  };
  const path = `/v1/tasks/${textOf(first?.['task_id'])}/close`;
  const byAgent = await desk.post(
    'orchestrator',
    path,
    { outcome: 'done', content, reason: 'on my own' },
    { person: { subject: 'agent:little-agent', roles: ['approver'] }, key: `agent-${runId}` },
  );
  desk.check(
    'an agent does not write it',
    byAgent.status === 403 && byAgent.body['code'] === 'AUTHOR_NOT_A_PERSON',
    byAgent.body,
  );
  const byPerson = await desk.post(
    'orchestrator',
    path,
    { outcome: 'done', content, reason: 'told the team' },
    { person: OPERATOR, key: `correct-${runId}` },
  );
  desk.check(`${OPERATOR.subject} does`, byPerson.status === 200, byPerson.body);
  // The ledger hears of it one record later.
  const corrected = await desk.until(PATIENCE_MS, async () => {
    const { body: after } = await desk.get('ledger', `/v1/undos/${undoId}`, REQUESTER);
    const item = itemsOf(after).find((one) => idOf(one) === first?.['mutation_id']);
    return String(item?.['reason']).startsWith('RESOLVED') ? item : null;
  });
  desk.check(
    'it counts as corrected, not as undone',
    corrected?.['outcome'] === 'not_undone' && corrected['reason'] === 'RESOLVED:corrected',
    corrected,
  );
  desk.check('the other eight stay open', (await tasks()).length === 8, (await tasks()).length);
}

function itemsOf(body: Facts): readonly Facts[] {
  const { items } = body;
  return Array.isArray(items) ? (items as readonly Facts[]) : []; // items of a report are objects
}

function idOf(item: Facts): string {
  return textOf(item['mutation_id']);
}

/** Held calls are recorded when their hold ends, after calls made later: the ledger's order is that of its records. */
function sameOrder(
  named: readonly string[],
  expected: readonly string[],
  mutations: readonly (Facts | null)[],
): boolean {
  const held = new Set(
    mutations.flatMap((mutation) =>
      mutation !== null && mutation['forward'] !== null && factsOf(mutation, 'forward')['hold'] !== null
        ? [textOf(mutation['mutation_id'])]
        : [],
    ),
  );
  const without = (ids: readonly string[]): readonly string[] => ids.filter((id) => !held.has(id));
  return named.length === expected.length && without(named).join() === without(expected).join();
}
