// recourse contract answer: can it be undone, by when, by whom, verified how, at what cost, with which residue (A103).
import {
  adviceOn,
  answerFor,
  answerForMutation,
  answerText,
  capabilitiesNamed,
  mutationAnswerText,
} from '@recourse/contract';
import type { BindingBeside, Contract, MutationStanding } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import { EXECUTION_STATE_VALUES, RECOVERABILITY_STATE_VALUES } from '@recourse/messages';
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { countText } from '../output/count-text.js';
import { positiveInteger } from './options.js';
import type { Act } from './options.js';
import { CliProblem } from '../problem.js';
import type { Session } from '../session.js';
import { readOne } from '../contracts/files.js';
import { lintDocuments } from '../contracts/lint.js';
import { contractIn, isFile, registered, shaped } from '../contracts/reading.js';
import { contractsIn, governingIn, newestIn } from '../contracts/standing.js';

/** Ids of mutations begin so; no capability does. */
const MUTATION_ID = /^mut_/;

export function addAnswer(contracts: Command, act: Act): void {
  contracts
    .command('answer')
    .description(
      'can it be undone, by when, by whom, verified how, at what cost, with which residue; of a mutation: can it be undone now',
    )
    .argument('<name-or-id>', 'capability, a file, or a mutation id')
    .option('--contract-version <n>', 'version', positiveInteger)
    .action(
      act<{ contractVersion?: number }>(async (session, { contractVersion }, name = '') => {
        if (MUTATION_ID.test(name)) {
          await answerMutation(session, name);
          return;
        }
        const ofFile = isFile(session, name);
        const contract = ofFile
          ? contractIn(name, session.folder)
          : shaped(docOf((await registered(session, name, contractVersion))['contract']) as Json, name);
        const answer = answerFor(contract);
        session.show({ ...answer, advice: adviceOn(contract) }, () => answerText(answer));
        if (ofFile) noteProblems(session, name, contract);
      }),
    );
}

/** What is answered of a file that would not register is of no contract yet. What it names may stand elsewhere. */
function noteProblems({ terminal, folder }: Session, file: string, contract: Contract): void {
  const elsewhere = capabilitiesNamed(contract).map(({ name }) => name);
  const [report] = lintDocuments([readOne(file, folder)], elsewhere);
  const count = report?.problems.length ?? 0;
  if (count === 0) return;
  const problems = countText(count, 'problem');
  terminal.note(`this contract would not register (${problems}): recourse contract lint ${file}`);
}

async function answerMutation(session: Session, id: string): Promise<void> {
  const found = await session
    .service('ledger')
    .get(`/v1/mutations/${encodeURIComponent(id)}`, { tenant: session.tenant });
  const { executed, ...beside } = await contractsOf(session, found);
  const answer = answerForMutation(executed, standingOf(found, id), session.clock.now(), beside);
  session.show(answer, () => mutationAnswerText(answer));
}

/** Versions of one capability that are looked through. */
const VERSIONS_MAX = 10_000;

/** The version the mutation executed under, and no other, and what binds beside it. Errors: CliProblem(CONTRACT_DIFFERS). */
async function contractsOf(
  session: Session,
  found: Doc,
): Promise<BindingBeside & { readonly executed: Contract | null }> {
  const { contract_name: name, contract_version: version, contract_digest: digest } = docOf(found['terms']);
  if (typeof name !== 'string' || typeof version !== 'number') return { executed: null, newest: null, called: [] };
  const tenant = textOf(docOf(found['execution'])['tenant']) ?? session.tenant;
  const versionsOf = async (capability: string): Promise<readonly Doc[]> =>
    (
      await session
        .service('contracts')
        .list('/v1/contracts', { name: capability, tenant: session.tenant }, VERSIONS_MAX)
    ).items;
  const versions = await versionsOf(name);
  const under = versions.find((row) => row['digest'] === digest);
  if (under === undefined)
    throw new CliProblem(
      'CONTRACT_DIFFERS',
      `the registry's version ${version} of ${name} is not the one the mutation executed under`,
      'refused',
      { remedy: 'Ask the registry that the ledger reads.' },
    );
  const executed = shaped(under['contract'] as Json, name);
  // Of any other mode a person is asked whatever is called.
  const names = executed.recovery_approval_mode === 'auto' ? callsOf(executed) : [];
  const called = await Promise.all(
    names.map(async (capability) => contractsIn(newestIn(await versionsOf(capability)), capability, tenant)),
  );
  // The newest of its owner binds it, retired or not; that of another as long as it stands.
  const binding = newestIn(versions).filter((row) => row['tenant'] === under['tenant'] || row['retired'] !== true);
  return { executed, newest: governingIn(binding, name, tenant), called: called.flat() };
}

/** What its undo calls. */
function callsOf(contract: Contract): readonly string[] {
  const named = [
    contract.inverse_capability ?? contract.compensation_capability,
    ...(contract.reversal_then ?? []).map(({ capability }) => capability),
  ];
  return [...new Set(named.filter((name) => name !== undefined))];
}

/** Errors: CliProblem(MUTATION_UNREADABLE) for states this program does not know. */
function standingOf(found: Doc, id: string): MutationStanding {
  const [ref, execution] = [docOf(found['ref']), docOf(found['execution'])];
  const executionState = EXECUTION_STATE_VALUES.find((state) => state === found['execution_state']);
  const recoverability = RECOVERABILITY_STATE_VALUES.find((state) => state === found['recoverability']);
  if (executionState === undefined || recoverability === undefined)
    throw new CliProblem('MUTATION_UNREADABLE', `${id} is in a state this program does not know`, 'refused', {
      remedy: "Use the program of the ledger's version.",
    });
  return {
    mutation_id: id,
    capability: textOf(found['capability']) ?? '',
    execution_state: executionState,
    recoverability,
    reason: textOf(found['reason']),
    agent_id: textOf(execution['agent_id']) ?? '',
    initiator: textOf(execution['initiator']),
    committed_at: numberOf(ref['committed_at']),
    reversal_expires_at: numberOf(ref['reversal_expires_at']),
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
function numberOf(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
