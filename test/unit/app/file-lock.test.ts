import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { lockFile } from '../../../src/app/file-lock.ts';

it('names the file and what to do, whatever the reason why it cannot be locked', () => {
  const folder = mkdtempSync(join(tmpdir(), 'file-lock-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [file, other, none] = ['lock', 'other', 'folder'].map((name) => join(folder, name)) as [string, string, string];
  writeFileSync(other, 'other content\n'.repeat(100));
  mkdirSync(none);
  const refused = (path: string) => `${path} cannot be locked (`;
  for (const how of ['shared', 'exclusive'] as const) {
    // A failure of SQLite after the file is opened, as on a file system without locks, and one before.
    for (const path of [other, none]) expect(() => lockFile(path, how, 0, 'held')).toThrow(refused(path));
    expect(() => lockFile(other, how, 0, 'held')).toThrow('Choose a folder on a local disk');
    const unlock = lockFile(file, how, 0, 'held');
    expect(() => lockFile(file, 'exclusive', 0, 'held by another')).toThrow(/^held by another$/);
    unlock();
  }
});
