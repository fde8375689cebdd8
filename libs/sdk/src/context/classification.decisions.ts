// What kind of data a payload holds: personal, payment, regulatory. Pure, and no promise: detectors see what they know.
import { plainPayload, SENSITIVITIES, sensitivityOf } from '@recourse/contract';
import type { Sensitivity } from '@recourse/contract';
import type { Json } from '@recourse/kernel';
import type { Payload } from '@recourse/messages';
import { holdsIban } from './iban.decisions.js';

export { SENSITIVITIES, sensitivityOf };
export type { Sensitivity };

/** One thing a detector found in a payload. */
export interface DataFinding {
  /** JSON pointer. */
  readonly path: string;
  readonly detector: string;
  readonly sensitivity: Exclude<Sensitivity, 'internal'>;
}

/** What a payload was found to hold. */
export interface Classification {
  readonly sensitivity: Sensitivity;
  readonly findings: readonly DataFinding[];
}

interface Detector {
  readonly name: string;
  readonly sensitivity: DataFinding['sensitivity'];
  /** `field`: name of the member, in lower case without separators. */
  readonly sees: (text: string, field: string) => boolean;
}

const named = (name: string, sensitivity: DataFinding['sensitivity'], fields: readonly string[]): Detector => ({
  name,
  sensitivity,
  sees: (_text, field) => fields.includes(field),
});

const DETECTORS: readonly Detector[] = [
  {
    name: 'email',
    sensitivity: 'personal',
    sees: (text) => /[^\s@<>,;]{1,64}@[^\s@<>,;]{1,190}\.[a-z]{2,24}/i.test(text),
  },
  { name: 'phone', sensitivity: 'personal', sees: (text) => /(?:^|[\s:(])\+\d(?:[\s().-]?\d){7,13}(?!\d)/.test(text) },
  named('personal_field', 'personal', [
    'firstname',
    'lastname',
    'fullname',
    'email',
    'phone',
    'phonenumber',
    'mobile',
    'dateofbirth',
    'dob',
    'birthdate',
    'homeaddress',
    'streetaddress',
    'ipaddress',
  ]),
  { name: 'card_number', sensitivity: 'payment', sees: (text) => digitRuns(text).some(isCard) },
  {
    name: 'iban',
    sensitivity: 'payment',
    sees: holdsIban,
  },
  named('payment_field', 'payment', [
    'cardnumber',
    'cvv',
    'cvc',
    'pan',
    'iban',
    'accountnumber',
    'routingnumber',
    'sortcode',
  ]),
  {
    name: 'social_security_number',
    sensitivity: 'regulatory',
    sees: (text) => /\b(?!000|666|9\d\d)\d{3}-(?!00)\d{2}-(?!0000)\d{4}\b/.test(text),
  },
  named('regulatory_field', 'regulatory', [
    'ssn',
    'socialsecuritynumber',
    'nationalid',
    'passport',
    'passportnumber',
    'taxid',
    'diagnosis',
    'medicalrecord',
    'healthrecord',
    'biometric',
    'religion',
    'ethnicity',
    'criminalrecord',
  ]),
];

const DEPTH_MAX = 64;

/**
 * Classifies JSON.
 *
 * Shape:  findings say where and what, never the value. What nests deeper than 64 levels is not read and counts as regulatory.
 * Source: requirement D61.
 */
export function classify(json: Json): Classification {
  const findings = look(json, '', '', 0);
  const rank = findings.reduce((highest, { sensitivity }) => Math.max(highest, SENSITIVITIES.indexOf(sensitivity)), 0);
  return { sensitivity: SENSITIVITIES[rank] ?? 'regulatory', findings };
}

/** Wraps JSON as a payload that says how sensitive it is: `application/json; sensitivity=personal`. Nothing found leaves it unmarked. */
export function markedPayload(json: Json): Payload {
  const payload = plainPayload(json);
  const { sensitivity } = classify(json);
  return sensitivity === 'internal'
    ? payload
    : { ...payload, content_type: `${payload.content_type}; sensitivity=${sensitivity}` };
}

function look(value: Json, path: string, field: string, depth: number): readonly DataFinding[] {
  if (value === null || typeof value === 'boolean') return [];
  if (depth > DEPTH_MAX) return [{ path, detector: 'too_deep', sensitivity: 'regulatory' }];
  // Array.isArray does not narrow readonly lists.
  if (Array.isArray(value))
    return (value as readonly Json[]).flatMap((each, index) =>
      look(each, `${path}/${String(index)}`, field, depth + 1),
    );
  if (typeof value === 'object')
    return Object.entries(value).flatMap(([name, member]) =>
      look(member, `${path}/${escaped(name)}`, name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''), depth + 1),
    );
  const text = String(value);
  return DETECTORS.filter(({ sees }) => sees(text, field)).map(({ name, sensitivity }) => ({
    path,
    detector: name,
    sensitivity,
  }));
}

const escaped = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/**
 * Digits that may be a card's, without blanks and hyphens.
 *
 * Shape:  digits that touch a letter, a digit or `_` belong to an id. Letters are those of ASCII: ids have no others, and where
 *         people write without blanks a card number touches their words.
 */
function digitRuns(text: string): readonly string[] {
  return (text.match(/(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w.])/g) ?? []).map((run) => run.replaceAll(/[ -]/g, ''));
}

/** Luhn's check, and a first digit that card schemes use. */
function isCard(digits: string): boolean {
  if (!/^[2-6]/.test(digits)) return false;
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, index) => {
      const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  return sum % 10 === 0;
}
