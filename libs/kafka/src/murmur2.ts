// Which partition a key belongs to (L14): the kernel's, held against kafkajs' own partitioner by the spec beside this file.
export { murmur2, partitionForKey } from '@recourse/kernel';
