// Process of a witness: signs heads of auditors that extend what it signed before.
import { noteSigner, parseVerifier, verifierText } from '@recourse/audit';
import { loadConfig } from '@recourse/config';
import { Failure, stopOnSignal } from '@recourse/kernel';
import { WITNESS_CONFIG } from './config.js';
import { witnessServer } from './witness/witness.http.js';
import { WitnessState } from './witness/witness-state.js';

const stopsBy = stopOnSignal();
const config = loadConfig(WITNESS_CONFIG, process.env);
const signer = noteSigner(config.keyName, 'witness', config.key);
const keys = config.auditors.split(',').map((text) => {
  const key = parseVerifier(text);
  if (key === null) throw new Failure('CONFIG_INVALID', `RECOURSE_WITNESS_AUDITORS: ${text} is no verifier key`);
  return key;
});
const server = witnessServer({ signer, keys, state: new WitnessState(config.folder), now: Date.now });
server.listen(config.httpPort, config.httpHost, () => {
  process.stdout.write(`${JSON.stringify({ verifier_key: verifierText(signer.key) })}\n`);
});
stopsBy(() => {
  server.close();
  server.closeAllConnections();
  return Promise.resolve();
});
