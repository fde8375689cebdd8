// Void records at the end of a log were counted at every reading of its tail: a restart of Kafka, after which each partition is taken
// over anew, looked like as many new ones, and RecourseVoidRecords fired without a second writer.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Metrics } from '@recourse/telemetry';
import { LOG, LoopWorld } from '../../libs/event-log/src/loop.testing.js';
import { FirstMet } from '../../libs/service/src/first-met.js';
import { tell } from '../../libs/service/src/runtime-events.js';

const PARTITION = 0;
const SILENT = (): void => undefined;
const LOGGER = { debug: SILENT, info: SILENT, warn: SILENT, error: SILENT };

let world: LoopWorld;
beforeEach(async () => {
  world = await new LoopWorld().prepare();
});
afterEach(async () => {
  await world.stop();
});

/** Writes what no chain goes on with; answers when the broker took it. */
async function writeVoid(): Promise<number> {
  const stranger = world.broker.forActor('stranger');
  await (await stranger.logProducer()).send(LOG, PARTITION, [{ key: Buffer.from('k'), value: Buffer.from('none') }]);
  const reader = await stranger.rawReader();
  const { high } = await reader.range(LOG, PARTITION);
  return (await reader.read(LOG, PARTITION, high - 1)).records.at(-1)?.timestamp ?? 0;
}

it('a void record is counted once, however often the tail that holds it is read, and not by a process that began after it', async () => {
  const metrics = new Metrics();
  const voids = new FirstMet((await writeVoid()) + 1);
  const runtime = await world.start('a');
  const seen: (readonly [inTail: number, counted: string | undefined])[] = [];
  const takenOver = async (): Promise<void> => {
    const times = seen.length;
    const takings = () =>
      world.events.flatMap((event) => (event.kind === 'recovered' && event.partition === PARTITION ? [event] : []));
    await world.until('taken over', () => takings().length > times);
    const [taking] = takings().slice(times);
    if (taking === undefined) return;
    tell(taking, { metrics, logger: LOGGER, voids });
    const line = /^recourse_records_void_total\{.*\} (\d+)$/m.exec(await metrics.text());
    seen.push([taking.voids.length, line?.[1]]);
  };
  const takeOverAnew = async (): Promise<void> => {
    for (const loop of runtime.loops()) loop.reset();
    await takenOver();
  };
  await takenOver();
  await writeVoid();
  await takeOverAnew();
  await takeOverAnew();
  await writeVoid();
  await takeOverAnew();
  expect(seen).toEqual([
    [1, '0'],
    [2, '1'],
    [2, '1'],
    [3, '2'],
  ]);
});
