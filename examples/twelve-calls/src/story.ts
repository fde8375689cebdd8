// Twelve calls and their undo: one agent action, one account of everything it did, and one report of what became of it, both checked
// against those who did it.
import { OPERATOR, textOf } from '@recourse/example-drifted-refund';
import type { Check, Facts } from '@recourse/example-drifted-refund';
import { formatTable, Stage } from '@recourse/example-little-services';
import type { Call, Place, World } from '@recourse/example-little-services';
import { ACCOUNT_COLUMNS, accountFor, since, unaccounted, wentEarly } from './account.js';
import type { Account } from './account.js';
import { onboard } from './agent.js';
import { CAPABILITIES, CURRENCY, planOf } from './calls.js';
import { undoRun } from './undo.js';
import type { UndoTold } from './undo.js';

export interface TwelveResult {
  /** Every check held. */
  readonly ok: boolean;
  readonly checks: readonly Check[];
  /** Where an undo begins: the run, and its calls with their mutations. */
  readonly runId: string;
  readonly accounts: readonly Account[];
  readonly undo: UndoTold;
}

const CEILING_MINOR = 100_000;

/** Plays it once. Errors: none of its own; a side that does not answer at all is an error of fetch. */
export async function playTwelveCalls(place: Place): Promise<TwelveResult> {
  const stage = await Stage.open(place);
  try {
    return await play(stage, place.say);
  } finally {
    await stage.close();
  }
}

async function play(stage: Stage, say: Place['say']): Promise<TwelveResult> {
  const { desk } = stage;
  const word = Date.now().toString(36);
  const runId = `onboarding-${word}`;
  const { calls, before } = planOf(word);
  say('1. What can be undone, and how, is agreed before anything happens.');
  await stage.register(CAPABILITIES);
  desk.check(
    'the run has a ceiling for what it may leave behind',
    await stage.openBudget(runId, CURRENCY, CEILING_MINOR),
    runId,
  );
  for (const { service, id, doc } of before) await stage.seed(service, id, doc);
  const start = (await stage.world()).effects.length;

  say(`2. The agent brings a customer on board: ${String(calls.length)} calls in run ${runId}.`);
  const made = await onboard(stage, runId, calls, (call) => peopleDecide(stage, runId, call, start));
  desk.check(
    'every call was made or is held',
    made.every(({ result }) => result.kind === 'succeeded' || result.kind === 'held'),
    made.map(({ call, result }) => [call.step, result]),
  );

  say('3. The held messages go when their hold ends, through a worker.');
  const mutations = await Promise.all(
    made.map(({ result }) => stage.mutation(result.mutation_refs[0] ?? '', isSettled)),
  );
  const world = since(await stage.world(), start);
  const accounts = made.map(({ call, gate }, at) =>
    accountFor({
      at: at + 1,
      call,
      mutation: mutations[at] ?? {},
      gate,
      contract: stage.contract(call.capability),
      world,
    }),
  );
  say('4. The moment of undo. Everything this one action did:');
  say(formatTable(ACCOUNT_COLUMNS, accounts));
  checkAll(stage, { calls, accounts, mutations, world, count: await stage.countOf(runId) });
  const undo = await undoRun(stage, say, { runId, calls, accounts, mutations, start });
  const broken = desk.checks.filter(({ ok }) => !ok);
  say(
    broken.length === 0
      ? `All ${String(desk.checks.length)} checks held.`
      : `${String(broken.length)} of ${String(desk.checks.length)} checks did not hold.`,
  );
  return { ok: broken.length === 0, checks: desk.checks, runId, accounts, undo };
}

/** Nothing more is expected of it unless somebody acts: it stands with its way back, or for good. */
function isSettled(mutation: Facts): boolean {
  return (
    mutation['recoverability'] === 'reversal_available' ||
    (mutation['recoverability'] === 'committed' && refOf(mutation)['reversal_class'] === 'irreversible')
  );
}

/** People are asked, nothing is out yet, and then they agree. */
async function peopleDecide(stage: Stage, runId: string, call: Call, start: number): Promise<void> {
  const { effects } = since(await stage.world(), start);
  stage.desk.check(
    `${call.capability} waits for a person, and nothing is out`,
    effects.every(({ operation }) => operation !== 'channels.post'),
    effects,
  );
  stage.desk.check(
    `${OPERATOR.subject} agreed to exactly this ${call.capability}`,
    await stage.agree(runId, call.capability),
    call,
  );
}

interface Whole {
  readonly calls: readonly Call[];
  readonly accounts: readonly Account[];
  readonly mutations: readonly (Facts | null)[];
  readonly world: World;
  /** Mutations of the run in the ledger. */
  readonly count: number;
}

function checkAll({ desk }: Stage, { calls, accounts, mutations, world, count }: Whole): void {
  desk.check(`the ledger has ${String(calls.length)} mutations of the run, and no more`, count === calls.length, count);
  for (const { capability, at, differences } of accounts)
    desk.check(`${String(at)} ${capability}: ledger and service agree`, differences.length === 0, differences);
  desk.check('no service did anything else', unaccounted(calls, world).length === 0, unaccounted(calls, world));
  const classes = (wanted: string): readonly Account[] =>
    accounts.filter(({ reversalClass }) => reversalClass === wanted);
  const [gone, back] = [classes('irreversible'), [...classes('reversible'), ...classes('compensable')]];
  desk.check(
    'three cannot be undone, and the ledger says so',
    gone.length === 3 && gone.every(({ status, undo }) => status === 'succeeded, committed' && undo === null),
    gone,
  );
  desk.check(
    'those three went through a hold or a person',
    gone.every(({ gate }) => gate !== 'policy'),
    gone.map(({ gate }) => gate),
  );
  desk.check(
    'the other nine have their way back bound, with a time',
    back.length === 9 &&
      back.every(
        ({ undo, undoableUntil, status }) =>
          undo !== null && undoableUntil !== null && status.endsWith('reversal_available'),
      ),
    back,
  );
  const early = calls.filter(
    (call, at) => accounts[at]?.gate === 'hold' && wentEarly(call, mutations[at] ?? {}, world),
  );
  desk.check("what was held went when its hold was over, by the service's own clock", early.length === 0, early);
  const telling = mutations.filter((mutation) =>
    ['calendar.cancel_invite', 'tickets.close_ticket'].includes(textOf(refOf(mutation)['reversal_capability'])),
  );
  desk.check('undoing two of them tells people again', telling.length === 2, telling.length);
  const providers = back
    .filter(({ capability }) => !TELLING.includes(capability))
    .map(({ idempotency }) => idempotency);
  desk.check(
    'the seven others differ in how a repeat is told',
    providers.length === 7 && new Set(providers).size === 7,
    providers,
  );
}

const TELLING: readonly string[] = ['calendar.send_invite', 'tickets.open_ticket'];

// A mutation that was never found has no ref.
function refOf(mutation: Facts | null): Facts {
  return (mutation?.['ref'] ?? {}) as Facts;
}
