// Drafts: a first proposal for a tool nobody has declared yet (D6). A draft never binds: it carries the marker `draft`, which the
// registry refuses, and it leaves out what only people know (what undoes it, the residue, who accepts the cost).
import { isJsonObject } from '@recourse/kernel';
import type { Json } from '@recourse/kernel';
import { CAPABILITY_PATTERN } from '../shape.js';
import type { ContractDraft } from '../shape.js';

/** Safety classes of tools, as tool lists and declarations have them. */
export const SAFETY_CLASSES = ['READ_ONLY', 'LOCAL_WRITE', 'NETWORK', 'DESTRUCTIVE'] as const;
export type SafetyClass = (typeof SAFETY_CLASSES)[number];

/** What is known of a tool. */
export interface ToolFacts {
  /** Name as the tool list has it. */
  readonly name: string;
  readonly adapter: string;
  readonly description: string | null;
  readonly argsSchema: Json;
  readonly resultSchema: Json | null;
  readonly safetyClass: SafetyClass;
  /** Why it is of this class; from hints that nobody has checked. */
  readonly because: string;
}

/** A proposal: the contract as far as it goes, and what a person has to decide. */
export interface Draft {
  readonly contract: ContractDraft;
  readonly decide: readonly string[];
}

/** What each safety class proposes; none of it binds. */
export const CLASS_DEFAULTS = {
  READ_ONLY: {
    says: 'reversible, nothing to undo',
    fields: { impact: 'read', approval_mode: 'read_only', reversal_class: 'reversible' },
  },
  LOCAL_WRITE: {
    says: 'reversible from a checkpoint of the prior value',
    fields: {
      impact: 'write',
      approval_mode: 'local_write',
      reversal_class: 'reversible',
      overwrites: true,
      requires_prior_value_capture: true,
      techniques: { prior_value_capture: true },
    },
  },
  NETWORK: {
    says: 'compensable',
    fields: {
      impact: 'write',
      approval_mode: 'network',
      reversal_class: 'compensable',
      recovery_approval_mode: 'human',
    },
  },
  DESTRUCTIVE: {
    says: 'irreversible, behind a person',
    fields: {
      impact: 'destructive',
      approval_mode: 'destructive',
      reversal_class: 'irreversible',
      forward_approval: 'human',
      recovery_approval_mode: 'human',
    },
  },
} as const satisfies Readonly<Record<SafetyClass, { readonly says: string; readonly fields: ContractDraft }>>;

const QUESTIONS: Readonly<Record<SafetyClass, readonly string[]>> = {
  READ_ONLY: ['Does it really only read? The tool says so of itself.', 'What does it disclose (consequence.exposure)?'],
  LOCAL_WRITE: [
    'Which capability writes the prior value back (inverse_capability), and with which arguments?',
    'Who observes that it worked (verification), and what is compared before (stale_check)?',
    'For how long can it be undone (reversal_window_ms)?',
    'By itself or after an approval, and why so (compensation_mode)?',
  ],
  NETWORK: [
    'What compensates it (compensation_capability), with which arguments, until when?',
    'What remains (residue), and what does it cost (recovery_cost)?',
    'Who observes that it worked (verification)?',
    'By itself or after an approval, and why so (compensation_mode)?',
    'Is the impact graver: customer_visible, financial, security_sensitive?',
  ],
  DESTRUCTIVE: [
    'Can it be made undoable: a tombstone, a hold, a reservation?',
    'If not: who accepts the cost (compensation_mode.not_supported, accepted_by)?',
  ],
};

/** Proposes a contract. */
export function draftOf(tool: ToolFacts, source: string, owner: string | null): Draft {
  const { says, fields } = CLASS_DEFAULTS[tool.safetyClass];
  return {
    contract: {
      draft: `${source}; ${tool.safetyClass} (${tool.because}): ${says}`,
      name: capabilityOf(tool.adapter, tool.name),
      ...(owner === null ? {} : { owner }),
      effect: effectOf(tool),
      ...fields,
      // JSON as the tool list has it.
      args_schema: objectSchema(tool.argsSchema) as ContractDraft['args_schema'],
      result_schema: objectSchema(tool.resultSchema ?? {}) as ContractDraft['result_schema'],
    },
    decide: [
      ...(owner === null ? ['Who answers for it (owner)?'] : []),
      ...QUESTIONS[tool.safetyClass],
      ...(tool.safetyClass === 'READ_ONLY' ? [] : ['How does the provider deduplicate (idempotency)?']),
    ],
  };
}

/** A name as capabilities have it: camel case and blanks become underscores; a single word gets a verb before it. */
export function capabilityOf(adapter: string, name: string): string {
  const words = name
    .normalize('NFKD')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
  const verb = words.length > 1 ? words : ['call', ...(words.length === 0 ? ['tool'] : words)];
  const first = /^[a-z]/.test(verb[0] ?? '') ? verb : ['call', ...verb];
  const prefix = adapter
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
    .replaceAll(/^[^a-z]+|-+$/g, '')
    .slice(0, 63);
  const capability = `${prefix === '' ? 'tools' : prefix}.${first.join('_')}`.slice(0, 128).replace(/_+$/, '');
  return CAPABILITY_PATTERN.test(capability) ? capability : 'tools.call_tool';
}

export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null;
}

function effectOf({ description, name }: ToolFacts): string {
  const [first = ''] = (description ?? '').split('\n');
  return first.trim() === '' ? `Calls ${name}; say here what that does to the business.` : first.trim().slice(0, 2_000);
}

function objectSchema(schema: Json): Json {
  return isJsonObject(schema) ? { type: 'object', ...schema } : { type: 'object' };
}
