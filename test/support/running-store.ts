import { join } from 'node:path';
import { runningEngine } from '../../src/engine/running.ts';
import { connect, type Store } from '../../src/storage/connect.ts';

/** Opens the store of the service that runs over `dataDir` with the embedded engine. @throws when none runs */
export async function runningStore(dataDir: string): Promise<Store> {
  const uri = await runningEngine(join(dataDir, 'db'));
  if (uri === null) throw new Error('no engine serves the folder');
  return connect(uri);
}
