import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { seal, sealState } from '../../src/engine/store/seal.ts';
import { Store } from '../../src/engine/store/store.ts';
import { encodeDocument } from '../../src/engine/wire/bson.ts';
import { sampled } from '../support/samples.ts';

/** Tests of the embedded engine's data file: damage is detected at start. */
let folder: string;
let path: string;
let content: Buffer;
let whole: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'engine-'));
  path = join(folder, 'engine.sqlite');
  const store = open();
  store.commit.write(() => {
    const collection = store.collectionForWrite('db', 'c');
    store.catalog.addIndex(collection, { v: 2, key: { group: 1, order: -1 }, name: 'group_1_order_-1' });
    store.catalog.addIndex(collection, { v: 2, key: { tags: 1 }, name: 'tags_1' });
    store.catalog.addIndex(collection, { v: 2, key: { order: 1 }, name: 'order_1', unique: true });
    for (let order = 0; order < 600; order++) {
      const doc = { _id: `id ${order}`, group: order % 7, order, tags: [`t${order}`, 'all'], text: 'x'.repeat(order) };
      store.documents.insert(collection, doc, encodeDocument(doc));
      if (order % 5 === 0) store.retry.record(Buffer.alloc(16, order), order, encodeDocument({ order }));
    }
  });
  store.close();
  content = readFileSync(path);
  whole = fingerprint();
});

beforeEach(writeContent);

function writeContent(): void {
  for (const beside of ['-wal', '-shm', '.seal']) rmSync(`${path}${beside}`, { force: true });
  writeFileSync(path, content);
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(): Store {
  return new Store(folder, { oplogBytes: 1_000_000 });
}

/** A hash of all rows of all tables, as an engine on the folder would read them. */
function fingerprint(): string {
  const store = open();
  try {
    const hash = createHash('sha256');
    for (const table of ['coll', 'ind', 'doc', 'idx', 'oplog', 'retry', 'meta']) {
      for (const row of store.database.prepare(`SELECT * FROM ${table}`).all()) {
        hash.update(
          JSON.stringify(
            Object.values(row).map((value) =>
              value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value,
            ),
          ),
        );
      }
    }
    return hash.digest('hex');
  } finally {
    store.close();
  }
}

test('a flipped bit: the file is refused and not modified, or everything reads the same', () => {
  const seed = Number(process.env.TEST_SEED ?? 3);
  let refused = 0;
  for (const [at, bit] of fc.sample(fc.tuple(fc.nat(content.length - 1), fc.nat(7)), { numRuns: 150, seed })) {
    const damaged = Buffer.from(content);
    damaged[at] = damaged[at]! ^ (1 << bit);
    writeFileSync(path, damaged);
    try {
      expect(fingerprint(), `bit ${bit} of byte ${at}`).toBe(whole);
    } catch (error) {
      expect((error as Error).message, `bit ${bit} of byte ${at}`).toMatch(/^The data file .* is damaged/);
      expect(readFileSync(path).equals(damaged)).toBe(true);
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(80);
});

test('a truncated file is refused', () => {
  const lengths = [0, 1, 100, 4095, 4096, 4097, content.length >> 1, content.length - 4096, content.length - 1];
  const store = open();
  store.close();
  expect(sealState(path)).toBe('intact');
  for (const length of lengths) {
    writeFileSync(path, content);
    truncateSync(path, length);
    expect(open, `cut to ${length} bytes`).toThrow(/is damaged/);
    expect(statSync(path).size).toBe(length);
  }
});

test('an empty file with a write-ahead log beside it is not a new file', () => {
  writeFileSync(path, '');
  writeFileSync(`${path}-wal`, 'x'.repeat(5000));
  expect(open).toThrow(/is damaged.*it is empty/);
});

test.each(['-wal', '.seal'])('a missing file with %s beside it is not a new file', (beside) => {
  rmSync(path);
  writeFileSync(`${path}${beside}`, 'x');
  expect(open).toThrow(/is damaged.*it is gone/);
  expect(existsSync(path)).toBe(false);
});

test('a file of another program or version is refused and not modified', () => {
  const foreign: [string, () => void][] = [
    ['a text', () => writeFileSync(path, 'not a database '.repeat(1000))],
    [
      "another program's SQLite file",
      () => {
        rmSync(path);
        const other = new DatabaseSync(path);
        other.exec(
          'CREATE TABLE doc(rid INTEGER PRIMARY KEY, bson BLOB); PRAGMA user_version = 2; PRAGMA application_id = 7',
        );
        other.close();
      },
    ],
    [
      'a file of a later version',
      () => {
        const later = new DatabaseSync(path);
        later.exec('PRAGMA user_version = 99');
        later.close();
      },
    ],
  ];
  for (const [what, make] of foreign) {
    writeFileSync(path, content);
    make();
    const before = readFileSync(path);
    expect(open, what).toThrow(/is damaged or of another version/);
    expect(readFileSync(path).equals(before), what).toBe(true);
  }
});

describe('the write-ahead log after a crash', () => {
  const FRAME = 24 + 4096;
  /** The file and its log while the engine ran, after each commit. */
  const images: { file: Buffer; log: Buffer; whole: string }[] = [];
  let last: (typeof images)[number];

  beforeAll(() => {
    writeContent();
    const store = open();
    for (let commit = 0; commit < 12; commit++) {
      store.commit.write(() => {
        const collection = store.collectionForWrite('db', 'log');
        for (let part = 0; part < 4; part++) {
          const doc = { _id: `${commit} ${part}`, text: String(commit).repeat(2000) };
          store.documents.insert(collection, doc, encodeDocument(doc));
        }
      });
      store.commit.flush();
      // A checkpoint begins the log again, and leaves the frames of before behind the new ones.
      if (commit === 7) store.database.sqlite.exec('PRAGMA wal_checkpoint(RESTART)');
      images.push({ file: readFileSync(path), log: readFileSync(`${path}-wal`), whole: '' });
    }
    store.close();
    for (const image of images) {
      restore(image);
      image.whole = fingerprint();
    }
    last = images.at(-1)!;
  });

  function restore({ file, log }: { file: Buffer; log: Buffer }): void {
    rmSync(`${path}.seal`, { force: true });
    writeFileSync(path, file);
    writeFileSync(`${path}-wal`, log);
  }

  /** The frames of the log that belong to it, by the end of each commit. */
  const ends = () => {
    const salts = last.log.subarray(16, 24);
    const frames = Array.from({ length: (last.log.length - 32) / FRAME }, (_, n) => last.log.subarray(32 + n * FRAME));
    return frames.flatMap((frame, n) => (frame.subarray(8, 16).equals(salts) && frame.readUInt32BE(4) > 0 ? [n] : []));
  };

  test('reads the same, with frames of an earlier log behind it', () => {
    expect(new Set(images.map(({ whole: each }) => each)).size).toBe(images.length);
    const used = 32 + (ends().at(-1)! + 1) * FRAME;
    expect(last.log.length).toBeGreaterThan(used);
  });

  test('frames that failed commits left are no damage: the next commit cuts them off', () => {
    writeContent();
    const store = open();
    const insert = (id: string) =>
      store.commit.write(() => {
        const doc = { _id: id, text: id.repeat(1000) };
        store.documents.insert(store.collectionForWrite('db', 'log'), doc, encodeDocument(doc));
      });
    insert('before');
    store.commit.flush();
    const [file, log] = [readFileSync(path), readFileSync(`${path}-wal`)];

    /** The log as a COMMIT of so many bytes leaves it whose fsync fails: all of its frames are there. */
    const remains = (bytes: number): Buffer => {
      const copy = join(folder, 'copy.sqlite');
      writeFileSync(copy, file);
      writeFileSync(`${copy}-wal`, log);
      const sqlite = new DatabaseSync(copy);
      sqlite.exec('PRAGMA wal_autocheckpoint = 0');
      sqlite.prepare('INSERT INTO doc(rid, sum, bson) VALUES(1000000, 0, zeroblob(?))').run(bytes);
      const left = readFileSync(`${copy}-wal`);
      sqlite.close();
      for (const suffix of ['', '-wal', '-shm']) rmSync(copy + suffix, { force: true });
      return left;
    };
    const failed = remains(200_000);
    const smaller = remains(100_000);
    smaller.copy(failed, 0);
    const { beforeCommit } = store.commit;
    store.commit.beforeCommit = () => {
      throw new Error('the disk does not answer');
    };
    insert('lost');
    store.commit.flush();
    store.commit.beforeCommit = beforeCommit;
    writeFileSync(`${path}-wal`, failed);
    insert('after');
    store.commit.flush();
    const image = { file: readFileSync(path), log: readFileSync(`${path}-wal`) };
    const expected = store.database.prepare('SELECT count(*) AS n FROM doc').get()?.n;
    store.close();

    // Without the cut, this is what the log would be.
    const uncut = Buffer.from(failed);
    image.log.copy(uncut, 0);
    restore({ file: image.file, log: uncut });
    expect(() => open()).toThrow(/damaged/);
    restore(image);
    const again = open();
    expect(again.database.prepare('SELECT count(*) AS n FROM doc').get()?.n).toBe(expected);
    again.close();
  });

  test('a flipped bit in the file or its log: refused, or everything reads the same', () => {
    const seed = Number(process.env.TEST_SEED ?? 3);
    const used = 32 + (ends().at(-1)! + 1) * FRAME;
    const count = sampled(1000);
    const flips = fc.sample(fc.tuple(fc.boolean(), fc.nat(used - 1), fc.nat(last.file.length - 1), fc.nat(7)), {
      numRuns: count,
      seed,
    });
    let refused = 0;
    for (const [isLog, atLog, atFile, bit] of flips) {
      const [file, log] = [Buffer.from(last.file), Buffer.from(last.log)];
      const [bytes, at] = isLog ? [log, atLog] : [file, atFile];
      bytes[at]! ^= 1 << bit;
      restore({ file, log });
      try {
        expect(fingerprint(), `bit ${bit} of byte ${at} of the ${isLog ? 'log' : 'file'}`).toBe(last.whole);
      } catch (error) {
        if (!/is damaged/.test((error as Error).message)) throw error;
        refused++;
        expect(readFileSync(`${path}-wal`).equals(log)).toBe(true);
      }
    }
    expect(refused).toBeGreaterThan(count / 2);
  });

  test('a damaged frame before the last commit is refused, whatever is wrong with it', () => {
    for (const index of [0, 1, ends()[0]!, ends().at(-2)!]) {
      const log = Buffer.from(last.log);
      log.fill(0xa5, 32 + index * FRAME + 500, 32 + index * FRAME + 900);
      restore({ file: last.file, log });
      expect(open, `frame ${index}`).toThrow(/is damaged.*write-ahead log is wrong/);
    }
  });

  test('a commit that the crash interrupted is no damage: the commits before it are there', () => {
    const [before, end] = [ends().at(-2)!, ends().at(-1)!];
    expect(end - before).toBeGreaterThan(2);
    const expected = images.at(-2)!.whole;
    const interrupted = (change: (log: Buffer) => Buffer) => {
      restore({ file: last.file, log: change(Buffer.from(last.log)) });
      expect(fingerprint()).toBe(expected);
    };
    // Cut off, in a frame and between two; a page that did not reach the disk though the commit frame did; half a page.
    interrupted((log) => log.subarray(0, 32 + (before + 1) * FRAME + 100));
    interrupted((log) => log.subarray(0, 32 + end * FRAME));
    interrupted((log) => log.fill(0, 32 + (before + 2) * FRAME, 32 + (before + 3) * FRAME));
    interrupted((log) => log.fill(0, 32 + end * FRAME + 2000, 32 + (end + 1) * FRAME));
  });
});

describe('the seal', () => {
  test('matches a file that was closed properly and not modified since', () => {
    expect(sealState(path)).toBe('none');
    const store = open();
    expect(sealState(path)).toBe('none');
    store.close();
    expect(sealState(path)).toBe('intact');
  });

  test('does not match after a write to the file, even if its times are restored', () => {
    open().close();
    const { atime, mtime } = statSync(path);
    const bytes = readFileSync(path);
    bytes[9000]! ^= 1;
    writeFileSync(path, bytes);
    utimesSync(path, atime, mtime);
    expect(sealState(path)).toBe('modified');
  });

  test('spares the start of a large file the full check', () => {
    const large = () => new Store(folder, { oplogBytes: 1_000_000, alwaysCheckedBytes: 0 });
    open().close();
    // A checksum that does not match, under a seal that does: only the full check notices it.
    const file = new DatabaseSync(path);
    file.exec('UPDATE idx SET sum = sum + 1');
    file.close();
    expect(large).toThrow(/is damaged/);
    seal(path);
    expect(open).toThrow(/is damaged/);
    seal(path);
    large().close();
  });

  test('is not written for a file that was refused', () => {
    writeFileSync(path, content.fill(0xa5, 8192, 8292));
    expect(open).toThrow(/is damaged/);
    expect(sealState(path)).toBe('none');
  });
});
