// What to do about the codes that services answer, in words of the command line.

/** By code. Codes of which the service's own words say what to do are not here (`SAY_IT_THEMSELVES`). */
export const REMEDIES: Readonly<Record<string, string>> = {
  TOKEN_MISSING: 'Pass --token-file (or --token); on a development stack --as <subject> asks its issuer.',
  TOKEN_REFUSED: 'Get a new token from the issuer that the services trust.',
  ROLE_REQUIRED: 'Use a token with the role; on a development stack: --roles <role,...>.',
  ROLE_OF_ONE_TENANT: 'Add --tenant <tenant>, or use a token of one tenant: the role counts there.',
  ROLE_OF_ALL_TENANTS: "Add --tenant '*', or use a token for all tenants: the role counts there.",
  ROLES_CONFLICT:
    'Ask for a token with one of the two; on a development stack: --roles contract_editor, or --roles approver.',
  TENANT_FOREIGN:
    'Use a token of that tenant. On a development stack --tenant <tenant> asks for one; --as without --tenant asks for all tenants, which only administrators and auditors speak for.',
  TENANT_REQUIRED:
    'Add --tenant <tenant> (on the stack of `npm start`: --tenant demo): what you speak for is all tenants, and this is about one of them.',
  SELF_APPROVAL:
    'Somebody else has to decide: neither the agent nor the person it acted for. On a development stack: --as <subject>.',
  APPROVER_NOT_A_PERSON: 'Use the token of a person.',
  EDITOR_APPROVAL:
    'Somebody else has to decide: nobody who registered or confirmed the contract or its newest version. On a development stack: --as <subject>, else you are the account of this machine.',
  DIGEST_MISMATCH:
    'The action has changed since it was shown. Look again with `recourse recoveries show`, then decide.',
  APPROVAL_EXPIRED: 'The agent may ask again; that is a new question.',
  APPROVAL_WRONG_PHASE: 'Look at it with `recourse approvals show`.',
  KILL_SWITCH: 'Look at `recourse kill-switch list`; what it stops goes on once it is lifted.',
  STEP_WRONG_PHASE: 'Look at its phase with `recourse recoveries show`.',
  INCIDENT_CLOSED: 'Look at how it ended with `recourse incidents show`.',
  TRIGGER_JUDGED: 'Look at what was said of it with `recourse rollbacks show`.',
  SAME_APPROVER: 'Another person has to agree, too.',
  PARKED_BEHIND: 'See them with `recourse parked list`.',
  PARKED_GONE: 'Restore that log from a copy, then redrive the record; or give it up with `recourse parked discard`.',
  STILL_UNREADABLE: 'Remove its cause, or give it up with `recourse parked discard`.',
  NO_TRIGGER: 'Review it with `recourse rollbacks review`.',
  OUT_OF_BAND_REVIEWED: 'Look at what was said of it with `recourse rollbacks show`.',
  NOT_BEYOND_BOUND: 'List what waits for a review with `recourse rollbacks list --phase beyond`.',
  SELF_JUDGEMENT: 'Somebody else has to say whether the trigger was right.',
  JUDGE_NOT_A_PERSON: 'Use the token of a person.',
  BREAKER_CLOSED: 'Look at it with `recourse breakers list --state closed`.',
  TASK_CLOSED: 'Look at how it ended with `recourse tasks show`.',
  AUTHOR_NOT_A_PERSON: 'Use the token of the person who wrote it.',
  APPROVAL_USED: 'An approval is used once; look at the step with `recourse recoveries show`.',
  ROUTE_UNKNOWN: 'Look at the address: another service answers there, or one of another version.',
  NOT_FOUND:
    'Look for it with `list` of the same commands, or with `recourse items`; what was just written may take a moment to show. An id of another tenant is not found.',
  NOT_READY: 'The service is still reading its inputs; try again in a moment.',
  BROKER_UNAVAILABLE: waitsFor('Kafka'),
  REGISTRY_UNAVAILABLE: waitsFor('schema registry'),
  DATABASE_UNAVAILABLE: waitsFor('database'),
  TABLES_REPLACED: 'End the instance of another version that runs beside: Upgrade in docs/guides/deploy.md.',
  READ_TOO_LONG: 'Ask for less: `--tenant`, and the other filters of the command (`--help`).',
  READS_BUSY: 'Ask again in a moment: others read very much just now.',
  KEY_STORE_UNAVAILABLE: `${waitsFor('key store')} Where it lacks a key, docs/guides/clocks-and-outages.md says how it is put back or given up.`,
  ISSUER_UNAVAILABLE: waitsFor('token issuer (RECOURSE_JWKS_URL)'),
  DIRECTORY_UNAVAILABLE: 'Mend the file in RECOURSE_DIRECTORY_FILE; the log of the service names the place.',
  SERVICE_UNREACHABLE: 'Is it running? `npm start` starts everything; --data-dir names another stack.',
  OUTCOME_PENDING:
    'Repeat it with that key in --idempotency-key: it is the same command. One that stays so may wait behind a parked record: `recourse parked list`.',
  CURSOR_OUT_OF_RANGE:
    'Of a wire, see `recourse log accept-loss --help`; a log is restored from the same moment as those that read it: Restore in docs/guides/deploy.md.',
  LOG_FRONT_CUT:
    'Restore the log with its offsets from the newest copy: Restore in docs/guides/deploy.md. No `recourse log` command accepts this.',
  LOG_ID_FOREIGN:
    'Set RECOURSE_LOG_ID of that service to what the others have; `recourse audit verify` tells whether a chain was begun beside.',
  KEYRING_INVALID:
    'Mend the place that is named; `recourse keys check <file>` reads a whole keyring, `recourse keys new` makes a key.',
  CLOCK_BEHIND: 'Correct the clock; if the log itself lies ahead, see `recourse log accept-time --help`.',
  LOG_CUT: 'Find out why the log lost records, then see `recourse log accept-cut --help`.',
  // contracts and entries
  TENANT_MISMATCH: 'Leave `tenant` out of the contract, or use a token of that tenant.',
  SELF_CONFIRMATION: 'Have a second person confirm it. On a development stack: --as <subject>.',
  CONFIRMER_NOT_A_PERSON: 'Use the token of a person.',
  CONTRACT_UNKNOWN: 'List those that stand with `recourse contracts list`.',
  PROPOSAL_UNKNOWN:
    'List what waits with `recourse contracts proposals`: it was confirmed or withdrawn, or never waited.',
  PROPOSAL_DIFFERS: 'Look at what waits now with `recourse contracts proposals`, then confirm that.',
  CONTRACT_OF_PLATFORM: 'Ask an editor of the platform, or register a contract of your tenant under another name.',
  CONTRACT_NAME_MISMATCH: 'Give both one name: what is named is what is registered.',
  CONTRACT_REFUSED:
    'Mend each place that is named; `recourse contracts lint <file>` says the same before anything is sent.',
  ENTRY_UNKNOWN: 'List those that stand with `recourse entry list` or `recourse kill-switch list`.',
  ENTRY_KIND_UNKNOWN: '`recourse entry list --help` names the kinds.',
  ENTRY_REFUSED: 'Mend each place that is named, and register it again; nothing was registered.',
  SWITCH_STANDS: 'See it with `recourse kill-switch list`; turn this one on under another name.',
  // what stands, what falls
  MUTATION_UNKNOWN: 'Look for it with `recourse mutations list`; an id of another tenant is not found.',
  ROLLBACK_UNKNOWN: 'Look for it with `recourse rollbacks list`; an id of another tenant is not found.',
  BREAKER_UNKNOWN: 'List them with `recourse breakers list`.',
  NOT_RISING: 'Somebody has reviewed it, or it is none of this tenant: `recourse trends list`.',
  NOT_SILENT: 'It has answered since, or somebody has reviewed it: `recourse consumers`.',
  NOT_DIVERGING: 'It agrees by now, or somebody has reviewed it: `recourse lineage divergences`.',
  NOTHING_TO_SETTLE: 'Look at how it stands with `recourse mutations show`.',
  NOTHING_TO_RECONCILE: 'Look at how it stands with `recourse mutations show`.',
  RECONCILIATION_PENDING: 'Look for its answer with `recourse mutations show`.',
  // recoveries and what people are asked
  STEP_UNKNOWN: 'Look for it with `recourse recoveries list`; an id of another tenant is not found.',
  TASK_UNKNOWN: 'List what is open with `recourse tasks list`.',
  INCIDENT_UNKNOWN: 'List those that are open with `recourse incidents list`.',
  APPROVAL_UNKNOWN: 'List what waits with `recourse approvals list`.',
  OBJECTIVE_MISSING: 'Have the agent say its objective, and ask again: nobody judges an action without it.',
  WINDOW_CLOSED:
    'No machine takes it back any more: do by hand what is needed, then say how it ended with `recourse recoveries resolve`.',
  // budgets and autonomy
  BUDGET_UNKNOWN: 'Open it first with `recourse budgets open`; `recourse budgets list` shows what is set.',
  BUDGET_CONFLICT: 'Move it with `recourse budgets move`; that it is net or gross is set once.',
  ESCALATION_UNKNOWN: 'List what waits with `recourse budgets escalations`.',
  ESCALATION_DECIDED: 'Look at who decided it with `recourse budgets show`.',
  DEADLINE_PASSED:
    'This effect stays denied: its agent may ask for another, in a step or run of its own. A raise is proposed anew with `recourse budgets move`.',
  NOTHING_TO_RAISE: 'Use `recourse budgets approve` or `recourse budgets deny`.',
  CEILING_MOVED:
    'Deny it with `recourse budgets deny`, look at the ceiling with `recourse budgets list`, and propose anew with `recourse budgets move`.',
  UNTIL_PAST: 'Name an instant to come, with its zone: 2027-01-31T12:00Z.',
  SCOPE_MISMATCH: 'Name the tenant you speak for, or use a token of the one that is named.',
  AMOUNT_INVALID: 'Give whole minor units from 0, each unit once: 1500 is 15.00 EUR.',
  AUTONOMY_UNKNOWN: 'List agents and their tasks with `recourse autonomy show`.',
  AUTONOMY_FROZEN: 'See who froze it with `recourse autonomy explain`.',
  AUTONOMY_NOT_FROZEN: 'See how it stands with `recourse autonomy explain`.',
};

/** Codes whose own words, from the service, say what to do. */
export const SAY_IT_THEMSELVES: readonly string[] = [
  'ANSWER_UNFIT',
  'COMMAND_INVALID',
  'COMPENSATION_STANDS',
  'CONTRACTS_TOO_LARGE',
  'CONTRACT_NAMED_TWICE',
  'CONTRACT_RETIRED',
  'CONTRACT_VERSION_UNEXPECTED',
  'CURRENCY_INVALID',
  'ENTRY_NAME_INVALID',
  'FORWARD_UNCERTAIN',
  'ITEM_NOT_READY',
  'NO_RECONCILIATION',
  'RECONCILIATION_TOO_LARGE',
  'SUBSCRIPTIONS_FULL',
];

/** What a service does not reach, it asks for on by itself. */
function waitsFor(what: string): string {
  return `See that the ${what} of that service runs and can be reached from it; the service goes on by itself then, and nothing is lost.`;
}
