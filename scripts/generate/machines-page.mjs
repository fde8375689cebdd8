// docs/reference/state-machines.md: every transition table, as a diagram and as the table it is.

/** Tables in the order they are met: what they are of, where they live, which begin and which end. */
const MACHINES = [
  {
    title: 'A contract version',
    file: 'apps/contract-registry/dist/rules/contract/contract.transitions.js',
    table: 'CONTRACT_PHASE_AFTER',
    start: 'absent',
    ends: 'CONTRACT_ENDS',
    about: 'Versions are immutable: registered once, retired once.',
  },
  {
    title: 'A proposed version of a contract',
    file: 'apps/contract-registry/dist/rules/contract/proposal.transitions.js',
    table: 'PROPOSAL_PHASE_AFTER',
    start: 'absent',
    ends: 'PROPOSAL_ENDS',
    about: 'A version weaker than the one before waits for a second person. It lapses by itself.',
  },
  {
    title: 'An entry of the registry',
    file: 'apps/contract-registry/dist/rules/entry/entry.transitions.js',
    table: 'ENTRY_PHASE_AFTER',
    start: 'absent',
    ends: 'ENTRY_RESTS',
    about:
      'Policy bundle, charter, context source, kill switch or subscription: a version replaces the one before; a retired name may be used again.',
  },
  {
    title: 'Execution of a mutation',
    file: 'apps/mutation-ledger/dist/rules/mutation/mutation.transitions.js',
    table: 'EXECUTION_AFTER',
    start: 'planned',
    ends: 'EXECUTION_ENDS',
    about:
      'What is known of the forward action. A second, different report where no cell stands is a conflict on record.',
  },
  {
    title: 'Recoverability of a mutation',
    file: 'apps/mutation-ledger/dist/rules/mutation/mutation.transitions.js',
    table: 'RECOVERABILITY_AFTER',
    start: 'planned',
    ends: 'RECOVERABILITY_ENDS',
    about:
      'What can be done about it. The clock, or an event that closes the window, moves `reversal_available` to `reversal_expired`; only an observation makes `compensated`.',
  },
  {
    title: 'A rollback',
    file: 'apps/mutation-ledger/dist/rules/rollback/rollback.transitions.js',
    table: 'ROLLBACK_PHASE_AFTER',
    start: ['opened', 'held', 'beyond', 'marked'],
    ends: 'ROLLBACK_ENDS',
    about:
      'Asked of the ledger until the commit is marked; a person is asked when that takes too long. Its first record may as well hold it, leave it to a person beyond the bound, or mark the commit at once.',
  },
  {
    title: 'An undo',
    file: 'apps/mutation-ledger/dist/rules/undo/undo.transitions.js',
    table: 'UNDO_PHASE_AFTER',
    start: 'opened',
    ends: 'UNDO_ENDS',
    about:
      'The ledger names the effects of a run, in parts where there are many; a person is asked when that takes too long.',
  },
  {
    title: 'A step of a recovery',
    file: 'apps/recovery-orchestrator/dist/rules/step/step.transitions.js',
    table: 'PHASE_AFTER',
    start: null,
    ends: 'PHASES_AT_REST',
    about:
      'A step begins in the phase its decision opens (see the table below the machine). A dispatched step cannot be escalated before its lease is over.',
  },
  {
    title: 'A forward approval',
    file: 'apps/recovery-orchestrator/dist/rules/forward/forward.transitions.js',
    table: 'FORWARD_PHASE_AFTER',
    start: 'absent',
    ends: 'FORWARD_RESTS',
    about:
      'People are asked before an effect. An approval is used once; what was used or ran out can be asked for anew, a denial stays.',
  },
  {
    title: 'A budget reservation',
    file: 'apps/budget-accountant/dist/rules/budget/budget.transitions.js',
    table: 'RESERVATION_PHASE_AFTER',
    start: 'absent',
    ends: 'RESERVATION_ENDS',
    about: 'Asked for, held or escalated, used, given back. What was executed stays debited.',
  },
  {
    title: 'A delivery of a notice',
    file: 'apps/notifier/dist/rules/delivery/delivery.transitions.js',
    table: 'DELIVERY_AFTER',
    start: 'queued',
    ends: 'DELIVERY_ENDS',
    about:
      'Tried until the receiver took it, its item is over, or it was tried for as long as configured. What a late attempt brings is still said.',
  },
];

/** The page. `built` imports a compiled module by its path from the root. */
export async function machinesPage(built) {
  const sections = [];
  for (const machine of MACHINES) sections.push(section(machine, await built(machine.file)));
  const { PHASE_OPENED_BY } = await built('apps/recovery-orchestrator/dist/rules/step/step.transitions.js');
  const { EFFECT_STATUS_OF } = await built('apps/mutation-ledger/dist/rules/effect/effect.decisions.js');
  const recoverabilities = Object.keys(Object.values(EFFECT_STATUS_OF)[0]);
  const words = Object.entries(EFFECT_STATUS_OF).map(([execution, row]) => [
    `\`${execution}\``,
    ...recoverabilities.map((state) => row[state]),
  ]);
  return `# State machines

Generated from the transition tables by \`scripts/reference.mjs\`; do not edit.

Each machine is a table in the code: rows are states, columns are events, and a dot is an event that does not apply in that state.

${sections.join('\n')}
## Phase a step begins in

${table(
  ['Reason of the decision', 'Phase'],
  Object.entries(PHASE_OPENED_BY).map(([reason, phase]) => [`\`${reason}\``, `\`${phase}\``]),
)}
## Status word of an effect

What \`agent_effects\` says of each pair of states, \`EFFECT_STATUS_OF\` in \`apps/mutation-ledger/src/rules/effect/effect.decisions.ts\`. An effect that is \`succeeded\` and was rolled back is \`compensation_pending\`.

${table(['Execution', ...recoverabilities], words)}`;
}

function section({ title, file, table: name, start, ends, about }, module) {
  const cells = module[name];
  const ended = module[ends];
  const events = Object.keys(Object.values(cells)[0]);
  const rows = Object.entries(cells).map(([state, row]) => [
    `\`${state}\`${ended.includes(state) ? ' (end)' : ''}`,
    ...events.map((event) => (row[event] === null ? '·' : row[event])),
  ]);
  return `## ${title}

${about} \`${name}\` in \`${file.replace('/dist/', '/src/').replace(/\.js$/, '.ts')}\`.

${diagram(cells, start, ended)}
${table(['State', ...events], rows)}`;
}

function diagram(cells, start, ended) {
  const moves = new Map();
  for (const [from, row] of Object.entries(cells)) {
    for (const [event, to] of Object.entries(row))
      if (to !== null) moves.set(`${from} --> ${to}`, [...(moves.get(`${from} --> ${to}`) ?? []), event]);
  }
  const lines = [...moves].map(([arrow, events]) => `  ${arrow} : ${events.join(', ')}`);
  const first = [start ?? []].flat().map((state) => `  [*] --> ${state}`);
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...first,
    ...lines,
    ...ended.map((state) => `  ${state} --> [*]`),
    '```',
    '',
  ].join('\n');
}

function table(heads, rows) {
  return `${[heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')}\n`;
}
