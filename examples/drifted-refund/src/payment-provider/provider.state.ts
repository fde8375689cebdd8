// What the payment provider knows. Pure; the journal makes it durable.
//
// The provider moves money for every key it has not seen: that a refund is reversed once is its clients' duty, and a
// second reversal shows in its list of effects.

export const FAULT_MODES = [
  'none',
  'phantom_undo',
  'timeout_before',
  'timeout_after',
  'error_500',
  'forbidden',
  'renamed_field',
] as const;
export type FaultMode = (typeof FAULT_MODES)[number];

export interface Refund {
  readonly refund_id: string;
  readonly order: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly status: 'settled' | 'reversed';
}

/** Money that moved. `requests` counts how often its key was presented. */
export interface Effect {
  readonly kind: 'refund' | 'reversal';
  readonly key: string;
  readonly refund_id: string;
  readonly amount_minor: number;
  readonly currency: string;
  readonly requests: number;
}

export interface ProviderState {
  readonly refunds: Readonly<Record<string, Refund>>;
  readonly effects: readonly Effect[];
  readonly fault: { readonly mode: FaultMode; readonly times: number };
}

export type ProviderEvent =
  | { readonly type: 'RefundIssued'; readonly key: string; readonly refund: Refund }
  | { readonly type: 'RefundReversed'; readonly key: string; readonly refund_id: string }
  | { readonly type: 'KeyRepeated'; readonly kind: Effect['kind']; readonly key: string }
  | { readonly type: 'FaultSet'; readonly mode: FaultMode; readonly times: number }
  | { readonly type: 'FaultUsed' };

export const EMPTY_PROVIDER: ProviderState = { refunds: {}, effects: [], fault: { mode: 'none', times: 0 } };

export function evolveProvider(state: ProviderState, event: ProviderEvent): ProviderState {
  switch (event.type) {
    case 'RefundIssued': {
      const { refund, key } = event;
      return {
        ...state,
        refunds: { ...state.refunds, [refund.refund_id]: refund },
        effects: [...state.effects, effectOf('refund', key, refund)],
      };
    }
    case 'RefundReversed': {
      const refund = state.refunds[event.refund_id];
      if (refund === undefined) return state;
      return {
        ...state,
        refunds: { ...state.refunds, [refund.refund_id]: { ...refund, status: 'reversed' } },
        effects: [...state.effects, effectOf('reversal', event.key, refund)],
      };
    }
    case 'KeyRepeated':
      return {
        ...state,
        effects: state.effects.map((effect) =>
          effect.kind === event.kind && effect.key === event.key
            ? { ...effect, requests: effect.requests + 1 }
            : effect,
        ),
      };
    case 'FaultSet':
      return { ...state, fault: { mode: event.mode, times: event.times } };
    case 'FaultUsed':
      return {
        ...state,
        fault: state.fault.times <= 1 ? { mode: 'none', times: 0 } : { ...state.fault, times: state.fault.times - 1 },
      };
  }
}

export type RefundAnswer =
  { readonly kind: 'done'; readonly refund: Refund } | { readonly kind: 'conflict' } | { readonly kind: 'unknown' };

export interface Decided<Answer> {
  readonly events: readonly ProviderEvent[];
  readonly answer: Answer;
}

/** Issues a refund, once per key. The same key with another refund is a conflict. */
export function issue(
  state: ProviderState,
  key: string,
  asked: Pick<Refund, 'order' | 'amount_minor' | 'currency'>,
): Decided<RefundAnswer> {
  const seen = state.effects.find((effect) => effect.kind === 'refund' && effect.key === key);
  if (seen === undefined) {
    const refund: Refund = {
      refund_id: `rf_${String(Object.keys(state.refunds).length + 1).padStart(6, '0')}`,
      ...asked,
      status: 'settled',
    };
    return { events: [{ type: 'RefundIssued', key, refund }], answer: { kind: 'done', refund } };
  }
  const refund = state.refunds[seen.refund_id];
  const isSame =
    refund?.order === asked.order && refund.amount_minor === asked.amount_minor && refund.currency === asked.currency;
  return {
    events: [{ type: 'KeyRepeated', kind: 'refund', key }],
    answer: isSame ? { kind: 'done', refund } : { kind: 'conflict' },
  };
}

/** Reverses a refund, once per key. */
export function reverse(state: ProviderState, key: string, refundId: string): Decided<RefundAnswer> {
  const refund = state.refunds[refundId];
  if (refund === undefined) return { events: [], answer: { kind: 'unknown' } };
  const seen = state.effects.find((effect) => effect.kind === 'reversal' && effect.key === key);
  if (seen === undefined)
    return {
      events: [{ type: 'RefundReversed', key, refund_id: refundId }],
      answer: { kind: 'done', refund: { ...refund, status: 'reversed' } },
    };
  return {
    events: [{ type: 'KeyRepeated', kind: 'reversal', key }],
    answer: seen.refund_id === refundId ? { kind: 'done', refund } : { kind: 'conflict' },
  };
}

/** Takes the fault that the next reversal meets, if one was set. */
export function takeFault(state: ProviderState): Decided<FaultMode> {
  if (state.fault.mode === 'none' || state.fault.times < 1) return { events: [], answer: 'none' };
  return { events: [{ type: 'FaultUsed' }], answer: state.fault.mode };
}

function effectOf(kind: Effect['kind'], key: string, { refund_id, amount_minor, currency }: Refund): Effect {
  return { kind, key, refund_id, amount_minor, currency, requests: 1 };
}
