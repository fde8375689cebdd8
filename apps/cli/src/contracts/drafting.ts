// Drafts of contracts from documents that tools come with, written as YAML that a person goes on from. Pure.
import type { Draft } from '@recourse/contract';
import { stringify } from 'yaml';

/** One YAML document per draft: first what a person has to decide, then the proposal. */
export function draftsText(drafts: readonly Draft[]): string {
  return drafts
    .map(({ contract, decide }) =>
      [...decide.map((question) => `# decide: ${question}`), stringify(contract).trimEnd()].join('\n'),
    )
    .join('\n---\n');
}
