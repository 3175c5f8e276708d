import { type MongoClient, MongoServerError } from 'mongodb';
import { expect, it } from 'vitest';
import { beginBackup } from '../../../src/storage/backup-source.ts';

/** A client of an engine that answers every command with this code. */
function refusing(code: number): MongoClient {
  const command = () => Promise.reject(new MongoServerError({ message: "no such command: 'beginBackup'", code }));
  return { db: () => ({ command }) } as unknown as MongoClient;
}

it('a backup beside an engine that knows none says that the running service is of an earlier version', async () => {
  await expect(beginBackup(refusing(59))).rejects.toThrow(/^The running service is of an earlier version.* Stop it/);
  await expect(beginBackup(refusing(13))).rejects.toThrow('no such command');
});
