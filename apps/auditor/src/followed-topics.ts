// What the auditor follows: every log but its own, and the wires that outsiders write to.
import { TOPICS } from '@recourse/messages';
import { TOPIC } from './book/head-book.js';

export interface FollowedTopic {
  readonly topic: string;
  readonly isLog: boolean;
}

/** Whoever is no service of ours. */
const OUTSIDERS = /\b(?:producers|workers|consumers|critics)\b/;

export function followedTopics(): readonly FollowedTopic[] {
  return TOPICS.flatMap((one): FollowedTopic[] => {
    const { name: topic, kind, written_by: writtenBy }: { name: string; kind: string; written_by: string } = one;
    if (kind !== 'wire') return topic === TOPIC ? [] : [{ topic, isLog: true }];
    return OUTSIDERS.test(writtenBy) ? [{ topic, isLog: false }] : [];
  });
}
