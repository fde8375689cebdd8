import { keyStoreContract } from './key-store.contract.js';
import { MemoryKeyStore } from './key-store.memory.js';

keyStoreContract({
  name: 'memory',
  fresh: () => {
    const store = new MemoryKeyStore();
    return Promise.resolve([store, store]);
  },
});
