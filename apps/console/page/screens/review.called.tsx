// What would be called about a step, and what came of the last attempt.
import type { ReactNode } from 'react';
import type { Review, WorkerWords } from '../api/shapes.js';
import { Card, Fact, Facts, Json, Outward, Text, Time } from '../parts/shown.tsx';
import { codeWords } from '../words/kinds.js';
import { callsWords, inForceWords, takenWords } from './review.rules.js';

interface Props {
  readonly review: Review;
}

export function Proposed({ review }: Props): ReactNode {
  const { compensation, lacking, compensation_mode: mode } = review;
  if (compensation === null)
    return (
      <Card title="What would be done">
        <p>Nothing: no tool undoes this by itself.</p>
        <Runbook of={mode} />
        {lacking.length === 0 ? null : <p>It lacks what nobody captured: {lacking.join(', ')}.</p>}
      </Card>
    );
  const {
    capability,
    args,
    impact,
    risk,
    risk_level: level,
    residue,
    stale_condition: stale,
    success_condition: success,
  } = compensation;
  return (
    <Card title="What would be done">
      <p>
        Call <code>{capability}</code> with
      </p>
      <Json value={args} />
      {compensation.then.map((call) => (
        <div key={call.capability}>
          <p>
            then, once that is verified, <code>{call.capability}</code> with
          </p>
          <Json value={call.args} />
          <ul>
            {(call.taken ?? []).map((one) => (
              <li key={one.name}>
                <Text>{takenWords(one)}</Text>
              </li>
            ))}
          </ul>
          <p className="quiet">
            Verified once seen: <code>{call.success_condition}</code>
          </p>
        </div>
      ))}
      <Facts>
        <Fact name="Impact">{codeWords(impact)}</Fact>
        <Fact name="Risk if it was not needed">
          {codeWords(level)}
          {risk === null ? '' : ': '}
          {risk === null ? null : <Text>{risk}</Text>}
        </Fact>
        <Fact name="What stays different">{residue === null ? 'nothing that is known' : <Text>{residue}</Text>}</Fact>
        <Fact name="Done only while">{stale === null ? 'no condition' : <code>{stale}</code>}</Fact>
        <Fact name="Undone once seen">{success === null ? 'no condition' : <code>{success}</code>}</Fact>
        {compensation.in_force ? (
          <Fact name="Binds beside">
            <Text>{inForceWords(compensation.in_force)}</Text>
          </Fact>
        ) : null}
      </Facts>
      <Runbook of={mode} />
    </Card>
  );
}

export function LastAttempt({ review }: Props): ReactNode {
  const { reconciliation: last } = review;
  if (last === null) return null;
  return (
    <Card title={`Attempt ${last.attempt}`}>
      <p>
        {codeWords(last.outcome)}: {codeWords(last.reason)}
      </p>
      {last.calls ? (
        <p>
          <Text>{callsWords(last.calls)}</Text>
        </p>
      ) : null}
      <Words of={last} />
      <Seen observations={last.observations} />
      {last.looked ? (
        <p>
          Looked at later, <Time at={last.looked.at} />: {codeWords(last.looked.reason)}
        </p>
      ) : null}
      {last.looked ? <Words of={last.looked} /> : null}
    </Card>
  );
}

/** What a worker said of it, in a kind of its own and in words of its tool. */
function Words({ of: { error_kind: kind, said } }: { readonly of: WorkerWords }): ReactNode {
  return (
    <>
      {kind ? <p>The worker says: {codeWords(kind)}</p> : null}
      {said === undefined || said === null ? null : <Json value={said} />}
    </>
  );
}

/** What a person works from, where the contract has one. */
function Runbook({ of }: { readonly of: Review['compensation_mode'] }): ReactNode {
  if (!of || of.runbook === null) return null;
  return (
    <p>
      Work from <Outward to={of.runbook} />
    </p>
  );
}

type Observations = NonNullable<Review['reconciliation']>['observations'];

/** What workers saw, each to be opened. */
export function Seen({ observations }: { readonly observations: Observations }): ReactNode {
  return observations.map((seen) => (
    <details key={`${seen.phase} ${seen.call} ${seen.observed_at}`}>
      <summary>
        {codeWords(seen.phase)}, <code>{seen.capability}</code>, <Time at={seen.observed_at} />
      </summary>
      <Json value={seen.observed} />
    </details>
  ));
}
