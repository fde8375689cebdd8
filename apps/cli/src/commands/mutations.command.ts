// recourse mutations …
import type { Command } from 'commander';
import { docOf } from '../http.js';
import type { Doc } from '../http.js';
import { cellText, formatFields, instant, money } from '../output/table.js';
import type { Column } from '../output/table.js';
import { LIMIT, listText } from './options.js';
import type { Act } from './options.js';

const COLUMNS: readonly Column<Doc>[] = [
  { title: 'MUTATION', of: (row) => row['mutation_id'] },
  { title: 'RUN', of: (row) => row['run_id'] },
  { title: 'CAPABILITY', of: (row) => row['capability'] },
  { title: 'SUBJECT', of: (row) => row['subject_ref'] },
  { title: 'VALUE', of: (row) => money(docOf(row['execution'])['value']) },
  { title: 'RECOVERABILITY', of: (row) => row['recoverability'] },
  { title: 'EXPIRES', of: (row) => instant(docOf(row['ref'])['reversal_expires_at']) },
];

export function addMutations(program: Command, act: Act): void {
  const mutations = program.command('mutations').description('recorded effects on the outside world and whether they can be undone');
  mutations.command('list').description('mutations, newest state')
    .option('--run <id>', 'of one run').option('--state <state>', 'in one recoverability state, such as reversal_available').option('--capability <name>', 'of one capability')
    .option('--subject <ref>', 'about one subject').addOption(LIMIT())
    .action(act<{ run?: string; state?: string; capability?: string; subject?: string; limit: number }>(async (session, { run, state, capability, subject, limit }) => {
      const listed = await session.service('ledger').list('v1/mutations', { run_id: run, state, capability, subject, tenant: session.tenant ?? undefined }, limit);
      session.show(listed, () => listText(COLUMNS, listed));
    }));
  mutations.command('show').description('one mutation: what was done, how it is undone, its states').argument('<id>', 'mutation id')
    .action(act(async (session, _options, id) => {
      const found = await session.service('ledger').get(`v1/mutations/${encodeURIComponent(id ?? '')}`);
      session.show(found, () => describeMutation(found));
    }));
}

function describeMutation(found: Doc): string {
  const [ref, execution, terms] = [docOf(found['ref']), docOf(found['execution']), docOf(found['terms'])];
  return formatFields([
    ['mutation', found['mutation_id']], ['tenant', found['tenant']], ['run', found['run_id']], ['capability', found['capability']], ['effect', terms['effect']],
    ['agent', execution['agent_id']], ['on behalf of', execution['initiator']], ['objective', execution['objective']],
    ['args', docOf(execution['args'])['body']], ['result', docOf(execution['result'])['body']], ['value', money(execution['value'])], ['subject', found['subject_ref']],
    ['relies on', ref['assumption_refs']], ['class', ref['reversal_class']], ['undone by', ref['reversal_capability']], ['with', docOf(ref['reversal_args'])['body']], ['residue', terms['residue']],
    ['contract', terms['contract_name'] === undefined ? null : `${cellText(terms['contract_name'])} version ${cellText(terms['contract_version'])}`],
    ['committed', instant(ref['committed_at'])], ['window ends', instant(ref['reversal_expires_at'])],
    ['execution', found['execution_state']], ['recoverability', found['recoverability']], ['reason', found['reason']], ['rollback', found['rollback_id']], ['record', found['recorded_hash']],
  ]);
}
