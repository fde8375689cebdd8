// Groups of rows that deciding an input of the mutations log reads, as far as the input says it.
import { isClosingRef } from '@recourse/contract';
import type { TimerInput, Views } from '@recourse/event-log';
import { isCommitId } from '@recourse/lineage';
import { standsRef } from '../domain/mutation/lineage.decider.js';
import { refScope } from '../domain/scope.js';
import { needsOfCommit } from './commits.part.js';
import { isDeliveryTimer, needsOfAck } from './consumers.part.js';
import { bindingScopes } from './executions.js';
import { namesOf } from './mutation-rows.js';
import type { MutationEvent } from './mutations.events.js';
import { REEVALUATION_KIND } from './reevaluation-rows.js';
import { needsOfBundle, needsOfSuccessor } from './reevaluations.part.js';
import { isNewsOfRef } from './statements.part.js';

interface Group {
  readonly kind: string;
  readonly group: string;
}

/** Groups that deciding an event reads. */
export function needsOfEvent({ type, body }: MutationEvent, views: Views): readonly Group[] {
  switch (type) {
    case 'AssumptionStated':
      return isNewsOfRef(body) || isClosingRef(body.ref) ? needsOfRef(refScope(body.tenant, body.ref)) : [];
    case 'ToolPlanned':
      return body.is_held
        ? [
            { kind: 'mutation', group: body.run_id },
            { kind: 'trigger', group: body.run_id },
          ]
        : [{ kind: 'mutation', group: body.run_id }];
    case 'ToolExecuted':
      return [
        { kind: 'mutation', group: body.run_id },
        { kind: 'trigger', group: body.run_id },
        ...bindingScopes(body, views).map((group) => ({ kind: 'binding', group })),
      ];
    case 'CheckpointTaken':
      return needsOfCommit(body);
    case 'StateChunk':
      return [
        { kind: 'commit', group: body.run_id },
        { kind: 'state_chunk', group: body.run_id },
      ];
    case 'EntryRegistered':
      return needsOfSuccessor(body);
    case 'RollbackAnnounced':
    case 'BoundReached':
      return needsOfRef(refScope(body.tenant, standsRef(body.mutation_id)));
    case 'RollbackOpened': {
      const { rollback, recovery } = namesOf(body);
      const about = isCommitId(body.mutation_id)
        ? [{ kind: 'commit', group: body.run_id }]
        : [{ kind: 'named', group: recovery }];
      return [
        ...about,
        { kind: 'mutation', group: body.run_id },
        { kind: 'trigger', group: body.run_id },
        { kind: 'named', group: rollback },
        ...needsOfAck(body.run_id),
      ];
    }
    case 'RollbackAcknowledged':
      return needsOfAck(body.run_id);
    case 'UndoOpened':
    case 'LegReported':
    case 'CancelMutation':
    case 'LegDispatched':
    case 'StepOutcomeRecorded':
    case 'StepEscalated':
    case 'StepDenied':
    case 'StepResolved':
      return [{ kind: 'mutation', group: body.run_id }];
    // The loop's own commands read nothing of the core's.
    default:
      return [];
  }
}

/** Groups that a timer reads. */
export function needsOfTimer(timer: TimerInput): readonly Group[] {
  const {
    address: { kind, group },
  } = timer;
  if (isDeliveryTimer(timer)) return [{ kind, group }];
  if (kind === 'spread') return needsOfRef(group);
  if (kind === 'commit') return [{ kind, group }];
  if (kind === REEVALUATION_KIND) return needsOfBundle(group);
  return [
    { kind: 'mutation', group },
    { kind: kind === 'undo' ? 'undo' : 'trigger', group },
  ];
}

function needsOfRef(scope: string): readonly Group[] {
  return [
    { kind: 'binding', group: scope },
    { kind: 'spread', group: scope },
  ];
}
