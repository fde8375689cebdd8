// What stands where something could not be had: which service, what it said, and what to do.
import type { ReactNode } from 'react';
import { problemOf } from '../api/problem.js';
import { sentenceOf } from '../words/refusals.js';
import { Text } from './shown.js';

export function Trouble({ cause, onAgain }: { readonly cause: unknown; readonly onAgain?: () => void }): ReactNode {
  const { code, detail, problems } = problemOf(cause);
  const sentence = sentenceOf(code);
  return (
    <div className="trouble" role="alert">
      <p>
        <strong>{sentence ?? 'That was refused.'}</strong> <code>{code}</code>
      </p>
      {detail === '' || detail === sentence ? null : (
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
