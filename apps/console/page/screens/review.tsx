// One step as a person decides about it: what was done and why, what is so now, what would be done about it, and by when.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';
import { inboxQuery } from '../api/inbox.js';
import { useKeys } from '../app/keys.tsx';
import { usePerson } from '../app/session.js';
import { Decision } from '../parts/decision.tsx';
import type { Verb } from '../parts/verb.js';
import { useHeld } from '../parts/held.js';
import { Card, Fact, Facts, Id, Tag } from '../parts/shown.tsx';
import { Trouble, Waiting } from '../parts/trouble.tsx';
import { codeWords, STEP_KINDS } from '../words/kinds.js';
import { LastAttempt, Proposed } from './review.called.tsx';
import { Agreed, Clock, Done, FactsNow, Proof } from './review.parts.tsx';
import { isSameStep, whyBlind } from './review.rules.js';
import type { ReadReview } from './review.rules.js';
import { readReview, verbsOf } from './review.verbs.js';
import { RunLink } from '../parts/links.tsx';

export function ReviewScreen(): ReactNode {
  const { stepId } = useParams({ from: '/reviews/$stepId' });
  const { data, error, refetch } = useQuery({
    queryKey: ['recoveries', 'review', stepId],
    queryFn: () => readReview(stepId),
  });
  if (error !== null && data === undefined)
    return (
      <Trouble
        cause={error}
        onAgain={() => {
          void refetch();
        }}
      />
    );
  if (data === undefined) return <Waiting what="the review" />;
  return <Shown key={stepId} review={data} trouble={error} />;
}

/** Changes of what is shown are said, not slipped in under the reader. */
function Shown({ review, trouble }: { readonly review: ReadReview; readonly trouble: unknown }): ReactNode {
  const first = useRef(review);
  const { name, seen, isChanged, open } = useHeld(review, isSameStep);
  const isNew = !isSameStep(first.current, review);
  const verbs = verbsOf(seen, usePerson().roles);
  return (
    <article className="review">
      <Head review={review} />
      {trouble === null ? null : <Trouble cause={trouble} />}
      {isNew ? (
        <p className="notice" role="status">
          This changed while you were here: it is <b>{codeWords(review.phase)}</b> now. What you see is as of now.
        </p>
      ) : null}
      <Verbs review={review} verbs={verbs} isOpen={name} onOpen={open} isChanged={isChanged} />
      <div className="columns">
        <div>
          <Done review={review} />
          <FactsNow review={review} />
        </div>
        <div>
          <Clock review={review} />
          <Proposed review={review} />
          <Agreed review={review} />
          <LastAttempt review={review} />
          <Proof review={review} />
        </div>
      </div>
    </article>
  );
}

function Head({ review }: { readonly review: ReadReview }): ReactNode {
  const { action, why, phase, owner, run_id, reason } = review;
  return (
    <header className="screen">
      <h1>
        Undo <code>{action.capability}</code>?
      </h1>
      <p className="lead">
        <Tag kind={phase}>{codeWords(phase)}</Tag> {why} <code className="quiet">{reason}</code>
      </p>
      <Facts>
        <Fact name="Asked">{owner}</Fact>
        <Fact name="Run">
          <RunLink id={run_id}>
            <Id>{run_id}</Id>
          </RunLink>
        </Fact>
        <Fact name="What stands on it">
          <Link to="/lineage/$commitId" params={{ commitId: review.mutation_id }}>
            lineage
          </Link>
        </Fact>
      </Facts>
    </header>
  );
}

interface VerbsProps {
  readonly review: ReadReview;
  readonly verbs: readonly Verb[];
  readonly isOpen: string | null;
  readonly onOpen: (name: string | null) => void;
  readonly isChanged: boolean;
}

function Verbs({ review, verbs, isOpen, onOpen, isChanged }: VerbsProps): ReactNode {
  const navigate = useNavigate();
  const step = useNeighbours(review.step_id);
  useKeys({
    ...Object.fromEntries(
      verbs.flatMap(({ key, name, blocked = null }) =>
        key === undefined || blocked !== null
          ? []
          : [
              [
                key,
                () => {
                  onOpen(name);
                },
              ] as const,
            ],
      ),
    ),
    j: () => {
      step(1);
    },
    k: () => {
      step(-1);
    },
    i: () => {
      void navigate({ to: '/' });
    },
  });
  return (
    <Card title="What you can do">
      {review.ready ? null : (
        <p className="notice" role="status">
          {whyBlind(review)}
        </p>
      )}
      {review.lookalikes.map((names) => (
        <p key={names.join()} className="notice">
          Take care: {names.join(' and ')} read alike and are different people.
        </p>
      ))}
      {verbs.length === 0 ? <p>Nothing: it is {codeWords(review.phase)}.</p> : null}
      <div className="verbs">
        {verbs.map((verb) => (
          <Decision
            key={verb.name}
            verb={verb}
            about={review.step_id}
            isOpen={isOpen === verb.name}
            isChanged={isOpen === verb.name && isChanged}
            onOpen={(opens) => {
              onOpen(opens ? verb.name : null);
            }}
          />
        ))}
      </div>
    </Card>
  );
}

/** Goes to the next review of the inbox, or the one before. */
function useNeighbours(stepId: string): (by: number) => void {
  const { data } = useQuery(inboxQuery);
  const navigate = useNavigate();
  const ids = useRef<readonly string[]>([]);
  useEffect(() => {
    ids.current = (data?.items ?? []).filter(({ kind }) => STEP_KINDS.includes(kind)).map(({ id }) => id);
  }, [data]);
  return (by) => {
    const here = ids.current.indexOf(stepId);
    const next = ids.current[here < 0 ? 0 : here + by];
    if (next !== undefined) void navigate({ to: '/reviews/$stepId', params: { stepId: next } });
  };
}
