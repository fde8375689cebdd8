// Whose account it is: the directory says it, never the token that the account was given.
//
// Boundary: reads one file; fails closed when it cannot be read, since one human could be two meanwhile, and says so before
// somebody asks.
import { readFileSync, statSync } from 'node:fs';
import { isSubject, personKey, SUBJECT_FORM } from '@recourse/kernel';
import { z } from 'zod';
import type { Trouble } from '../running-service.js';
import { EdgeRefusal } from './problem.js';

/** A person, and what else they are called. */
export interface Person {
  readonly subject: string;
  readonly accounts?: readonly string[];
}

export interface Directory {
  /** The person behind an account. Errors: EdgeRefusal(DIRECTORY_UNAVAILABLE). */
  readonly find: (account: string) => Person;
  /** Why nobody can be found now; null where somebody can. */
  readonly trouble: () => Trouble | null;
}

const SUBJECT = z.string().refine(isSubject, { message: SUBJECT_FORM });
const ENTRIES = z.record(SUBJECT, z.array(SUBJECT).min(1));

/** Without a file each account is its own person. Errors: TypeError for a file that is none at start. */
export function directoryIn(path: string | undefined): Directory {
  if (path === undefined) return { find: (account) => ({ subject: account }), trouble: () => null };
  let read = { at: changedAt(path), people: peopleIn(path) };
  const readAnew = (): void => {
    const at = changedAt(path);
    if (read.at !== at) read = { at, people: peopleIn(path) };
  };
  return {
    find: (account) => {
      try {
        readAnew();
      } catch (cause) {
        throw new EdgeRefusal('DIRECTORY_UNAVAILABLE', 'the directory cannot be read', [], { cause });
      }
      return read.people.get(personKey(account)) ?? { subject: account };
    },
    trouble: () => {
      try {
        readAnew();
        return null;
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        return { code: 'DIRECTORY_UNAVAILABLE', detail: `RECOURSE_DIRECTORY_FILE: ${why}` };
      }
    },
  };
}

/** People by each of their names. Errors: TypeError. */
function peopleIn(path: string): ReadonlyMap<string, Person> {
  const people = new Map<string, Person>();
  for (const [subject, accounts] of Object.entries(entriesIn(path))) {
    const person = { subject, accounts };
    for (const name of [subject, ...accounts]) {
      const other = people.get(personKey(name));
      if (other !== undefined && other !== person)
        throw new TypeError(
          `${path}: ${name} stands for ${other.subject} and for ${subject}; an account is one person's`,
        );
      people.set(personKey(name), person);
    }
  }
  return people;
}

function entriesIn(path: string): z.infer<typeof ENTRIES> {
  const parsed = ENTRIES.safeParse(jsonIn(path));
  if (parsed.success) return parsed.data;
  throw new TypeError(`${path}: ${z.prettifyError(parsed.error)}`);
}

function jsonIn(path: string): unknown {
  const text = readFileSync(path, 'utf8');
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TypeError(`${path} is no JSON`, { cause });
  }
}

function changedAt(path: string): number {
  return statSync(path).mtimeMs;
}
