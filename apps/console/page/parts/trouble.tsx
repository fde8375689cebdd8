// What stands where something could not be had: which service, what it said, and what to do.
import type { ReactNode } from 'react';
import { problemOf } from '../api/problem.js';
import { SAID_IN_FULL, sentenceOf } from '../words/refusals.js';
import { Text } from './shown.tsx';

interface TroubleProps {
  readonly cause: unknown;
  /** What was read before stands below. */
  readonly isOld?: boolean;
  readonly onAgain?: () => void;
}

export function Trouble({ cause, isOld = false, onAgain }: TroubleProps): ReactNode {
  const { code, detail, problems } = problemOf(cause);
  const sentence = sentenceOf(code);
  return (
    <div className="trouble" role="alert">
      <p>
        <strong>{sentence ?? 'That was refused.'}</strong> <code>{code}</code>
      </p>
      {detail === '' || detail === sentence || SAID_IN_FULL.includes(code) ? null : (
        <p>
          <Text>{detail}</Text>
        </p>
      )}
      {problems.length === 0 ? null : (
        <ul>
          {problems.map(({ path, message }) => (
            <li key={`${path} ${message}`}>
              <code>{path}</code> <Text>{message}</Text>
            </li>
          ))}
        </ul>
      )}
      {isOld ? <p>What stands below was read before, and may be old.</p> : null}
      {onAgain === undefined ? null : (
        <button type="button" onClick={onAgain}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Waiting({ what }: { readonly what: string }): ReactNode {
  return (
    <p className="waiting" role="status">
      Reading {what} …
    </p>
  );
}
