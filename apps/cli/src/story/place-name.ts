// A place of a log as a story and its packet name it.
import type { Place } from '../audit/dump-record.js';

export const placeName = ({ log, partition, seq }: Place): string => `${log}/${String(partition)} seq ${String(seq)}`;
