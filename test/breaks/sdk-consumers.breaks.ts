// Breaks of what hears beside our services: consumers of rollbacks, and detectors.
import type { Break } from './break.js';

export const BREAKS: readonly Break[] = [
  {
    id: 'e24-unsigned-word-told-on',
    requirement: 'E24/believed',
    spec: 'libs/sdk/src/detector/detector.consumer.unit.spec.ts',
    test: 'a detector on signed wires makes nothing of what nobody signed, says so, and goes on',
    file: 'libs/sdk/src/detector/detector.consumer.ts',
    find: "if (record.voucher?.kind === 'refused')",
    replace: 'if (record.value === null && record.voucher?.kind === "refused")',
  },
  {
    id: 'e24-foreign-word-told-on',
    requirement: 'E24/believed',
    spec: 'libs/sdk/src/detector/detector.consumer.unit.spec.ts',
    test: 'a detector on signed wires makes nothing of what a key of another tenant signed, says so, and goes on',
    file: 'libs/sdk/src/detector/detector.consumer.ts',
    find: 'return speakerProblem(voucher.speaker, type, { ...body }) === null',
    replace: "return speakerProblem(voucher.speaker, type, { ...body }) !== ''",
  },
  {
    id: 'e24-foreign-tenant-told',
    requirement: 'E24/believed',
    spec: 'libs/sdk/src/detector/detector.consumer.unit.spec.ts',
    test: 'a detector on signed wires passes over what is seen of a tenant that its own key does not speak for: nobody would believe what it told',
    file: 'libs/sdk/src/detector/detector.consumer.ts',
    find: '? tenantRefusal(record, body.tenant)',
    replace: '? null',
  },
  {
    id: 'e24-stopped-by-seconds',
    requirement: 'E24/goes-on',
    spec: 'libs/sdk/src/detector/detector.consumer.unit.spec.ts',
    test: 'a detector whose wire holds what cannot be told passes it over, says so, and tells what comes after',
    file: 'libs/sdk/src/detector/detector.ts',
    find: 'if (cause instanceof Failure && FOR_GOOD.includes(cause.code)) return cause.code;',
    replace: '',
  },
  {
    id: 'e24-large-facts-untold',
    requirement: 'E24/goes-on',
    spec: 'libs/sdk/src/detector/detector.consumer.unit.spec.ts',
    test: 'a detector whose wire holds what cannot be told tells facts that are too large by their hash',
    file: 'libs/sdk/src/detector/detector.ts',
    find: 'whole !== null && FOR_ITS_FACTS.includes(whole)',
    replace: 'whole !== null && whole === "CONFIG_INVALID"',
  },
  {
    id: 'e24-key-passed-over',
    requirement: 'E24/goes-on',
    spec: 'libs/sdk/src/detector/detector.consumer.unit.spec.ts',
    test: 'a detector whose wire holds what cannot be told tries again while its own key is not believed',
    file: 'libs/sdk/src/detector/detector.ts',
    find: "'PRINCIPAL_INVALID', ];",
    replace: "'PRINCIPAL_INVALID', 'KEY_NOT_BELIEVED' ];",
  },
  {
    id: 'e24-listener-stops-it',
    requirement: 'E24/goes-on',
    spec: 'libs/sdk/src/detector/detector.consumer.unit.spec.ts',
    test: 'a detector whose wire holds what cannot be told goes on where those who listen to it throw',
    file: 'libs/sdk/src/detector/detector.consumer.ts',
    find: 'const detection = await this.options.detector.see(sighting); onDetection(sighting, detection);',
    replace:
      'const detection = await this.options.detector.see(sighting); this.options.onDetection?.(sighting, detection);',
  },
];
