// Vectors of effect keys, from RFC 8785.
import { sha256, text } from './vector-bytes.mjs';

const hex = (value) => sha256(text(value)).toString('hex');

/** Canonical JSON: members by the UTF-16 units of their names, which are compared as bytes here; numbers as ECMAScript writes them. */
function canonicalValue(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(',')}]`;
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const units = (name) => Buffer.from(name, 'utf16le').swap16();
  const names = Object.keys(value).sort((a, b) => Buffer.compare(units(a), units(b)));
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonicalValue(value[name])}`).join(',')}}`;
}

const IDENTITIES = [
  {
    step: 'refund',
    capability: 'payments.issue_refund',
    target: 'order/4711',
    args: { amount_minor: 120000, currency: 'INR', order: '4711' },
  },
  {
    step: 'refund',
    capability: 'payments.issue_refund',
    target: null,
    args: { order: '4711', currency: 'INR', amount_minor: 120000 },
  },
  {
    step: 'numbers',
    capability: 'a.b',
    target: null,
    args: [0, -0, 1, 1.5, 0.1, 1e21, 1e-7, 123456789012345680000, 4.35, -1e-9, 5e-324],
  },
  {
    step: 'names',
    capability: 'a.b',
    target: 'größe/€',
    args: { '\u{1F600}': 1, '\uFB33': 2, '€': 3, ö: 4, a: { b: null, a: true }, '': [] },
  },
  { step: 'text', capability: 'a.b', target: '', args: 'quotes " and \\ and \n and \u0001 and \u007f and \u2028' },
  { step: '', capability: '', target: null, args: null },
];

export function effectKeys() {
  return IDENTITIES.map((identity) => {
    const { step, capability, target, args } = identity;
    const effectKey = `eff_${hex(canonicalValue([step, capability, target, hex(canonicalValue(args))]))}`;
    const counted = ['acme', 'run-1', effectKey].map((one) => `${one.length}:${one}`).join('');
    return {
      ...identity,
      canonical_args: canonicalValue(args),
      effect_key: effectKey,
      tenant: 'acme',
      run_id: 'run-1',
      mutation_id: `mut_${hex(counted).slice(0, 32)}`,
    };
  });
}
