// Contracts for specs: the shipped examples, changed where a spec says so.
import { readFileSync } from 'node:fs';

/** A contract as plain JSON, to be changed at will. */
export type ContractJson = Record<string, unknown>;

/** Reads a shipped example contract. */
export function exampleContract(name: string): ContractJson {
  return JSON.parse(readFileSync(`examples/contracts/${name}.json`, 'utf8')) as ContractJson;
}

/** The refund contract with some fields changed; `undefined` removes one. */
export function refundContract(changes: ContractJson = {}): ContractJson {
  const merged = { ...exampleContract('payments.issue_refund'), ...changes };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined));
}
