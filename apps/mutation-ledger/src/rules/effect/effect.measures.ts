// What the ledger's records say of effects, as series: by status and tool (C65), and those that nothing undoes (C70).
import { fallenIn, movedIn, recordIn } from '@recourse/messages';
import type { DecodedBody, Fallen, Moved, MutationRecorded } from '@recourse/messages';
import { MUTATIONS_LOG } from '../record.messages.js';
import type { Body } from '../record.messages.js';
import { statusOf } from './effect.decisions.js';
import type { EffectStatus } from './effect.decisions.js';

/** An effect that came into a status. */
export interface EffectMeasure {
  /** Capability under contract; `uncontracted` for every other, whose names are anybody's. */
  readonly tool: string;
  readonly status: EffectStatus;
  /** True once per effect: when it was recorded as something that happened and that nothing undoes. */
  readonly isNewlyIrreversible: boolean;
}

/** Effects that a record moves; none for most. Pure. */
export function effectMeasures(record: DecodedBody): readonly EffectMeasure[] {
  const told = recordIn(MUTATIONS_LOG, record);
  switch (told.type) {
    case 'MutationRecorded':
      return [ofRecorded(told.body)];
    case 'MutationsFell':
      return fallenIn(told.body).map(ofFallen);
    case 'RecoverabilityChanged':
      return movedIn(told.body).map(ofMoved);
    default:
      return [];
  }
}

function ofRecorded({
  execution,
  execution_state,
  recoverability,
  rollback_id,
  terms,
  ref,
}: Body<MutationRecorded>): EffectMeasure {
  const isNewlyIrreversible = execution_state === 'succeeded' && ref.reversal_class === 'irreversible';
  return {
    tool: toolOf(execution.capability, terms !== null),
    status: statusOf(execution_state, recoverability, rollback_id !== null),
    isNewlyIrreversible,
  };
}

function ofFallen({ execution, execution_state, recoverability, terms }: Fallen): EffectMeasure {
  return {
    tool: toolOf(execution.capability, terms !== null),
    status: statusOf(execution_state, recoverability, true),
    isNewlyIrreversible: false,
  };
}

/** Only what was committed changes so. */
function ofMoved({ capability, contracted, to_state, rollback_id }: Moved): EffectMeasure {
  return {
    tool: toolOf(capability, contracted),
    status: statusOf('succeeded', to_state, rollback_id !== null),
    isNewlyIrreversible: false,
  };
}

function toolOf(capability: string, isContracted: boolean): string {
  return isContracted ? capability : 'uncontracted';
}
