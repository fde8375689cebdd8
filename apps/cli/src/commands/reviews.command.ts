// recourse reviews …: what waits for a person, and one item as somebody decides about it.
import type { Doc } from '@recourse/sdk';
import { docOf } from '@recourse/sdk';
import type { Command } from 'commander';
import { compensationFields } from '../output/brief.js';
import { alike } from '../output/alike.js';
import { offerFields } from '../output/offers.js';
import { sealedText } from '../output/payload.js';
import { cellText, docsOf, formatFields, instant, money, span } from '../output/table.js';
import type { Act } from './options.js';
import { addListAction, addShowAction, pathBelow } from './shapes.js';
import { deniedText, unanswered } from './review-item.js';
import { STEP_COLUMNS } from './step-columns.js';

export function addReviews(program: Command, act: Act): void {
  const reviews = program.command('reviews').description('what waits for a person, with the facts to decide by');
  addListAction<{ state?: string; run?: string }>(
    reviews
      .command('list')
      .description('lists steps that wait for a person, or those in one phase')
      .option('--state <state>', 'one phase, such as awaiting_approval, instead of those that wait (open)')
      .option('--run <id>', 'of one run'),
    act,
    {
      service: 'recoveries',
      path: '/v1/reviews',
      columns: STEP_COLUMNS,
      query: ({ state, run }) => ({ state, run_id: run }),
    },
  );
  addShowAction(
    reviews
      .command('show')
      .description(
        'shows one step as a person decides about it: facts then and now, what is proposed, what may be done',
      )
      .argument('<step>', 'step id'),
    act,
    { service: 'recoveries', path: pathBelow('/v1/reviews'), text: describeReview },
  );
}

/** Text of a review item; what is missing comes before everything else. */
export function describeReview(item: Doc): string {
  const parts = [
    ['', overview(item)],
    ['What was done', action(item)],
    ['The facts then and now', facts(item)],
    ['How the action ended', forward(item)],
    ['What the compensation came to so far', found(item)],
    ['How it is compensated', mode(item)],
    ['What is proposed', proposal(item)],
    ['Where to read on', links(item)],
    [
      "In the agent's own words: not a fact",
      formatFields([['objective', foldable(docOf(item['untrusted'])['objective'])]]),
    ],
  ] as const;
  return parts
    .filter(([, text]) => text !== '')
    .map(([title, text]) => (title === '' ? text : `${title}\n${indented(text)}`))
    .join('\n\n');
}

/** Phases in which the deadline is a person's; in the others it is a worker's, or a timer's. */
const ASKED_OF_PEOPLE: readonly string[] = ['awaiting_approval', 'manual', 'denied', 'halted'];

function overview(item: Doc): string {
  const left = item['time_left_ms'];
  return formatFields([
    ['step', item['step_id']],
    ['ready', item['ready'] === true ? 'yes' : `no; missing: ${cellText(item['missing'])}`],
    ['why', `${cellText(item['reason'])}: ${cellText(item['why'])}`],
    ['recovery', item['recovery_id']],
    ['mutation', item['mutation_id']],
    ['tenant', item['tenant']],
    ['run', item['run_id']],
    ['phase', item['phase']],
    ['owner', item['owner']],
    [ASKED_OF_PEOPLE.includes(String(item['phase'])) ? 'decide by' : 'due', instant(item['deadline_at'])],
    ['time left', typeof left === 'number' ? (left > 0 ? span(left) : 'none') : null],
    ['take care', alike(item['lookalikes'])],
    ...offerFields(item),
    ['action digest', item['action_digest']],
  ]);
}

function action(item: Doc): string {
  const [done, by, resource] = [docOf(item['action']), docOf(item['proposed_by']), docOf(item['resource'])];
  return formatFields([
    ['capability', done['capability']],
    ['effect', done['effect']],
    ['args', shown(done['args'])],
    ['value', money(done['value'])],
    ['dry run said', shown(done['rehearsal'])],
    ['agreed before by', done['agreed_by']],
    ['decided by', by['agent_id']],
    ["model's decision", foldable(by['decision'])],
    ['release', releaseText(by['release'])],
    ['on behalf of', by['initiator']],
    ['step of the run', by['run_step_id']],
    ['call', by['call_id']],
    ['resource', resource['subject_ref']],
    ['outside name', resource['external_ref']],
  ]);
}

function facts(item: Doc): string {
  const { then, now, resource, changed, reaffirmed } = docOf(item['facts']);
  const [before, after, seen, again] = [docOf(then), docOf(now), docOf(resource), docOf(reaffirmed)];
  return formatFields([
    ['then relied on', before['refs']],
    ['then', instant(before['at'])],
    ['now about', after['ref']],
    ['now says', shown(after['statement'])],
    ['stated by', after['source']],
    ['now', instant(after['stated_at'])],
    ['said to hold again by', again['source']],
    ['changed since', changed],
    ['resource was', looked(docOf(seen['before']))],
    [
      'resource is',
      looked(docOf(seen['seen'])) ?? (seen['seen'] === null ? 'nobody has looked at it for this review yet' : null),
    ],
  ]);
}

/** A look at the resource; null where nobody looked. */
function looked(seen: Doc): string | null {
  return seen['capability'] === undefined
    ? null
    : `${cellText(shown(seen['observed']))} (${cellText(seen['capability'])}, ${cellText(instant(seen['observed_at']))})`;
}

/** How the action itself ended; where somebody had to find out, who and how. */
function forward(item: Doc): string {
  const { state, found_out: told } = docOf(item['forward']);
  const { how, by, verdict, reason, attempt, observations } = docOf(told);
  if (state === undefined) return '';
  return formatFields([
    ['execution', state],
    ['found out by', how === undefined ? 'its producer told' : (by ?? `a worker (${cellText(how)})`)],
    ['took effect', verdict],
    ['reason', reason],
    ['attempt', attempt === 0 ? null : attempt],
    ...observedIn(observations),
  ]);
}

function found(item: Doc): string {
  const { outcome, reason, attempt, observations, calls, looked, ...words } = docOf(item['reconciliation']);
  const { done, stopped_at } = docOf(calls);
  const later = docOf(looked);
  return formatFields([
    ['outcome', outcome],
    ['reason', reason],
    ['what helps', unanswered(reason)],
    ['attempt', attempt],
    ['calls made', done],
    ['stopped at', stopped_at],
    ...wordsIn(words),
    ...observedIn(observations),
    ['looked at later', later['reason'] === undefined ? null : `${cellText(later['reason'])}, ${instant(later['at'])}`],
    ...wordsIn(later),
  ]);
}

/** What a worker said, in a kind of its own and in words of its tool. */
function wordsIn({ error_kind, said }: Doc): readonly (readonly [string, unknown])[] {
  return [
    ['error', error_kind],
    ['the worker says', said === undefined || said === null ? null : shown(said)],
  ];
}

function observedIn(observations: unknown): readonly (readonly [string, string])[] {
  return docsOf(observations).map(
    (seen) =>
      [
        'observed',
        `${cellText(seen['phase'])}${Number(seen['call'] ?? 1) === 1 ? '' : ` of call ${cellText(seen['call'])}`} by ${cellText(seen['capability'])}: ${cellText(shown(seen['observed']))}`,
      ] as const,
  );
}

/** What the contract decided about compensating it, and what nobody captured. */
function mode(item: Doc): string {
  const lacking = item['lacking'];
  return formatFields([
    ...compensationFields(docOf(item['compensation_mode'])),
    ['lacking', Array.isArray(lacking) && lacking.length > 0 ? lacking : null],
  ]);
}

/** The parts of a release, each with its version. */
function releaseText(release: unknown): string | null {
  const parts = Object.entries(docOf(release)).map(([part, version]) => `${part} ${cellText(version)}`);
  return parts.length === 0 ? null : parts.join(', ');
}

function proposal(item: Doc): string {
  const proposed = docOf(item['compensation']);
  const { given, required, why_two: whyTwo } = docOf(item['approvals']);
  const isProposed = proposed['capability'] !== undefined;
  return formatFields([
    ['capability', proposed['capability']],
    ['args', shown(proposed['args'])],
    ['impact', proposed['impact']],
    [
      'risk',
      isProposed
        ? `${cellText(proposed['risk_level'])}: ${cellText(proposed['risk'] ?? 'the contract does not say what an unnecessary one does')}`
        : null,
    ],
    ['in force', isProposed ? inForce(docOf(proposed['in_force'])) : null],
    ['residue', proposed['residue']],
    ['only if', proposed['stale_condition']],
    ['proved by', proposed['success_condition']],
    ...docsOf(proposed['then']).flatMap(furtherCall),
    ['denied by', deniedText(item['denied'])],
    ['approvals', isProposed ? `${docsOf(given).length} of ${cellText(required)}` : null],
    ['why two', isProposed ? whyTwo : null],
    ...docsOf(given).map(
      (approval) =>
        [
          'approved by',
          `${cellText(approval['by'])} at ${cellText(instant(approval['at']))}: ${cellText(approval['reason'])}`,
        ] as const,
    ),
  ]);
}

/** A call that follows, once the one before it is verified: what is called, with what, and what proves it. */
function furtherCall(call: Doc): readonly (readonly [string, unknown])[] {
  const taken = docsOf(call['taken']).map(
    (one) => `${cellText(one['name'])} from call ${cellText(one['call'])}${cellText(one['path'])}`,
  );
  return [
    ['then', call['capability']],
    ['  args', shown(call['args'])],
    ['  taken', taken.length === 0 ? null : taken.join(', ')],
    ['  proved by', call['success_condition']],
  ];
}

/** What binds it beside the contract of its effect. */
function inForce({ contract_version: version, approval_mode: mode, risk_level: risk, rules }: Doc): string | null {
  if (version === undefined) return null;
  const named = Array.isArray(rules) && rules.length > 0 ? `; ${rules.map(cellText).join('; ')}` : '';
  return `version ${cellText(version)} of the contract: ${cellText(mode)}, risk ${cellText(risk)}${named}`;
}

function links(item: Doc): string {
  const { mutation, recovery, record, trace } = docOf(item['links']);
  const { trace_id: traceId, url } = docOf(trace);
  const place = docOf(record);
  return formatFields([
    ['mutation', pathOf(mutation)],
    ['recovery', pathOf(recovery)],
    ['record', pathOf(record)],
    [
      'in the log',
      place['seq'] === undefined
        ? null
        : `${cellText(place['log'])}, partition ${cellText(place['partition'])}, seq ${cellText(place['seq'])}`,
    ],
    ['record hash', place['record_hash']],
    ['trace', url ?? traceId],
  ]);
}

function pathOf(link: unknown): string | null {
  const { service, path } = docOf(link);
  return path === undefined ? null : `${cellText(path)} of ${cellText(service)}`;
}

/** What a payload holds, folded or sealed where the service says so. */
function shown(value: unknown): unknown {
  const { json, sealed_sha256: sealed, opens_with: openers } = docOf(value);
  if (json !== undefined) return typeof json === 'string' ? json : JSON.stringify(json);
  return sealed === undefined ? foldable(value) : sealedText(sealed, Array.isArray(openers) ? openers : []);
}

function foldable(value: unknown): unknown {
  if (typeof value === 'string') return value;
  const { folded, length, sha256 } = docOf(value);
  return folded === undefined
    ? null
    : `${cellText(folded)}… (${cellText(length)} characters, sha256 ${cellText(sha256)})`;
}

const indented = (text: string): string =>
  text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
