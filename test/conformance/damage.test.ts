import { createHash } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fstatSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { ObjectId } from 'bson';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { giveBack } from '../../src/engine/store/free-space.ts';
import { Store } from '../../src/engine/store/store.ts';
import { encodeDocument } from '../../src/engine/wire/bson.ts';
import { matchesIn } from '../support/engine-matches.ts';
import { firstOf, sampled, testLong } from '../support/samples.ts';

/** Of the random choices. */
const SEED = Number(process.env.TEST_SEED ?? 3);

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
  for (const beside of ['-wal', '-shm', '.sums']) rmSync(`${path}${beside}`, { force: true });
  writeFileSync(path, content);
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function open(): Store {
  return new Store(folder, { oplogBytes: 1_000_000 });
}

/** A hash of all rows of all tables, as an engine on the folder would read them. */
function fingerprint(tables = ['coll', 'ind', 'doc', 'idx', 'oplog', 'retry', 'meta']): string {
  const store = open();
  try {
    const hash = createHash('sha256');
    for (const table of tables) {
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
  let refused = 0;
  for (const [at, bit] of fc.sample(fc.tuple(fc.nat(content.length - 1), fc.nat(7)), {
    numRuns: sampled(600),
    seed: SEED,
  })) {
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
  expect(refused).toBeGreaterThan(sampled(300));
});

test('a truncated file is refused', () => {
  const lengths = [0, 1, 100, 4095, 4096, 4097, content.length >> 1, content.length - 4096, content.length - 1];
  const store = open();
  store.close();
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

test.each(['-wal', '.sums'])('a missing file with %s beside it is not a new file', (beside) => {
  rmSync(path);
  writeFileSync(`${path}${beside}`, 'x');
  expect(open).toThrow(/is damaged.*it is gone/);
  expect(existsSync(path)).toBe(false);
});

test('a file of another program or version is refused and not modified', () => {
  const foreign: [string, () => void, RegExp?][] = [
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
      /was written by a later version of the program\. .* Install that version/,
    ],
  ];
  for (const [what, make, message = /is damaged or of another version/] of foreign) {
    writeFileSync(path, content);
    make();
    const before = readFileSync(path);
    expect(open, what).toThrow(message);
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
    rmSync(`${path}.sums`, { force: true });
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

  testLong('a flipped bit in the file or its log: refused, or everything reads the same', async () => {
    const used = 32 + (ends().at(-1)! + 1) * FRAME;
    const count = sampled(1000);
    const flips = fc.sample(fc.tuple(fc.boolean(), fc.nat(used - 1), fc.nat(last.file.length - 1), fc.nat(7)), {
      numRuns: count,
      seed: SEED,
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

describe('the sums of the pages', () => {
  /** All files of the folder. */
  type Image = ReadonlyMap<string, Buffer>;
  const NAMES = ['', '-wal', '.sums'];
  const image = (): Image =>
    new Map(NAMES.filter((name) => existsSync(path + name)).map((name) => [name, readFileSync(path + name)]));

  function restore(files: Image): void {
    for (const name of NAMES) rmSync(path + name, { force: true });
    for (const [name, bytes] of files) writeFileSync(path + name, bytes);
  }

  const replaced = (files: Image, name: string, bytes: Buffer): Image => new Map([...files, [name, bytes]]);

  /**
   * A row with a wrong checksum that the engine itself wrote: only a check of the content notices it, so that the start
   * tells whether there was one.
   */
  const plant = (store: Store) => store.database.sqlite.exec('UPDATE idx SET sum = sum + 1 WHERE i = 1');

  /** Whether an engine on these files starts without a check of the content. */
  function isKnown(files: Image): boolean {
    restore(files);
    try {
      open().close();
      return true;
    } catch (error) {
      if (!/rows with a wrong checksum/.test((error as Error).message)) throw error;
      return false;
    }
  }

  /** Like `fingerprint`, without what has times. */
  const withoutTimes = () =>
    fingerprint(['coll', 'ind', 'doc', 'idx', '(SELECT op, db, coll, id, body FROM oplog ORDER BY seq)']);

  const DAMAGE = /^The data file .* is damaged|is damaged: its checksum does not match|malformed|not a database/;

  function flip(file: string, place: number, bit: number): void {
    const handle = openSync(file, 'r+');
    const at = place % fstatSync(handle).size;
    const byte = Buffer.alloc(1);
    readSync(handle, byte, 0, 1, at);
    writeSync(handle, Buffer.of(byte[0]! ^ (1 << bit)), 0, 1, at);
    // The data file is never closed in this process while the engine has it open: that would release the lock.
    handles.push(handle);
  }

  const handles: number[] = [];
  afterEach(() => {
    for (const handle of handles.splice(0)) closeSync(handle);
  });

  function write(store: Store, from: number, count: number): void {
    store.commit.write(() => {
      const collection = store.collectionForWrite('db', 'pages');
      for (let n = from; n < from + count; n++) {
        const doc = { _id: n, text: `${n}`.repeat(1000) };
        store.documents.insert(collection, doc, encodeDocument(doc));
      }
    });
    store.commit.flush();
  }

  /** Reads the whole file once more. */
  function compareAll(store: Store): void {
    for (let step = 0; step <= statSync(path).size / 4096 / 256; step++) store.database.comparePages();
  }

  /** Files of a crash, with a log of several checkpoints, and of the stop after it; and what they hold. */
  function filesOf(work: (store: Store) => void): { crashed: Image; stopped: Image; held: string } {
    const store = open();
    work(store);
    const crashed = image();
    store.close();
    const stopped = image();
    const held = fingerprint();
    restore(stopped);
    return { crashed, stopped, held };
  }

  const busy = (store: Store): void => {
    for (let n = 20; n < 30; n++) {
      write(store, n * 10, 10);
      if (n === 24) store.database.checkpoint();
    }
  };

  test('spare the start the check of the content, after a stop and after a crash', () => {
    const { crashed, stopped } = filesOf((store) => {
      plant(store);
      write(store, 0, 10);
    });
    for (const files of [crashed, stopped]) {
      expect(isKnown(files)).toBe(true);
      expect(isKnown(new Map([...files].filter(([name]) => name !== '.sums')))).toBe(false);
    }
  });

  test('know the log of a crash, however often the one before was emptied', () => {
    for (const times of [1, 2, 3]) {
      const { crashed } = filesOf((store) => {
        plant(store);
        write(store, 0, 10);
        for (let n = 0; n < times; n++) store.database.moveLog();
        write(store, 10, 10);
      });
      expect(isKnown(crashed), `emptied ${times} times`).toBe(true);
      writeContent();
    }
  });

  test('know the log of a crash after one with an empty log, or without one', () => {
    const emptied = filesOf((store) => {
      plant(store);
      write(store, 0, 10);
      store.database.moveLog();
    }).crashed;
    expect(emptied.get('-wal')).toHaveLength(0);
    // A stop that was killed when SQLite had removed the log.
    const removed = new Map([...emptied].filter(([name]) => name !== '-wal'));
    for (const files of [emptied, removed]) {
      restore(files);
      const second = filesOf((store) => write(store, 10, 10));
      expect(isKnown(second.crashed)).toBe(true);
      restore(files);
      // Killed before anything was acknowledged.
      expect(isKnown(filesOf(() => undefined).crashed)).toBe(true);
    }
  });

  test('know the log of a second crash, if the first one came before the log was noted', () => {
    const { stopped } = filesOf(plant);
    const { crashed: begun } = filesOf(() => undefined);
    const unnoted = replaced(begun, '.sums', stopped.get('.sums')!);
    restore(unnoted);
    const { crashed } = filesOf((store) => write(store, 0, 10));
    expect(isKnown(crashed)).toBe(true);
  });

  test('refuse a file whose log was removed or emptied after a crash, as long as nothing of it was copied', () => {
    const crashes = [
      filesOf((store) => write(store, 0, 10)).crashed,
      filesOf((store) => {
        write(store, 10, 10);
        store.database.checkpoint();
        // Begins the log again.
        write(store, 20, 1);
      }).crashed,
      filesOf((store) => {
        // Empties a log of one frame.
        store.database.moveLog();
        write(store, 30, 10);
      }).crashed,
    ];
    for (const crashed of crashes) {
      const removed = new Map([...crashed].filter(([name]) => name !== '-wal'));
      for (const files of [removed, replaced(crashed, '-wal', Buffer.alloc(0))]) {
        restore(files);
        expect(open).toThrow(/write-ahead log \(-wal\) is gone or empty/);
        expect(image()).toEqual(files);
      }
      restore(crashed);
      expect(isKnown(crashed)).toBe(true);
      // Another program copies the log and removes it.
      restore(crashed);
      const other = new DatabaseSync(path);
      other.prepare('SELECT count(*) FROM sqlite_master').get();
      other.close();
      expect(existsSync(`${path}-wal`)).toBe(false);
      open().close();
      // What the refusal says to do.
      restore(new Map([...removed].filter(([name]) => name !== '.sums')));
      open().close();
    }
  });

  test('are right at every moment of a checkpoint', () => {
    const store = open();
    plant(store);
    write(store, 0, 20);
    const moments: Image[] = [image()];
    store.database.sums.follow(store.database.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.log as number);
    store.database.sums.beforeCheckpoint();
    moments.push(image());
    const [earlier, begun] = [moments[0]!.get('.sums')!, moments[1]!.get('.sums')!];
    store.database.checkpoint();
    moments.push(image());
    // The pages are copied, their sums are not written yet, or only some of them.
    moments.push(replaced(image(), '.sums', begun));
    const half = Buffer.from(readFileSync(`${path}.sums`));
    begun.copy(half, 0, 0, begun.length >> 1);
    moments.push(replaced(image(), '.sums', half));
    // The log begins again.
    write(store, 20, 1);
    moments.push(image());
    store.close();
    for (const [n, files] of moments.entries()) expect(isKnown(files), `moment ${n}`).toBe(true);
    // Sums that are older than the log: they are of another file.
    expect(() => isKnown(replaced(moments[5]!, '.sums', earlier))).toThrow(/log was not written for this file/);
  });

  test('are right while the file grows and shrinks, over several starts', () => {
    const random = fc.sample(fc.tuple(fc.nat(4), fc.nat(300)), { numRuns: sampled(300), seed: SEED });
    let store = open();
    plant(store);
    const images: Image[] = [];
    let [size, shrunk] = [0, 0];
    for (const [n, [what, count]] of random.entries()) {
      const collection = store.collectionForWrite('db', 'grown');
      if (what < 2)
        store.commit.write(() => {
          for (let n = 0; n < count; n++) {
            const doc = { _id: new ObjectId(), text: 'x'.repeat(2000) };
            store.documents.insert(collection, doc, encodeDocument(doc));
          }
        });
      else if (what === 2) store.commit.write(() => store.dropCollection(collection));
      else if (what === 3) for (const _ of giveBack(store, count)) store.commit.flush();
      else store.database.checkpoint();
      store.commit.flush();
      if (n % 5 === 0) images.push(image());
      if (n % 7 === 0) {
        store.close();
        images.push(image());
        store = open();
      }
      const now = statSync(path).size;
      if (now < size) shrunk++;
      size = now;
    }
    compareAll(store);
    store.close();
    expect(shrunk, `seed ${SEED}`).toBeGreaterThan(0);
    for (const [n, files] of images.entries()) expect(isKnown(files), `image ${n} of seed ${SEED}`).toBe(true);
  });

  test('are written by the checkpoints that commits begin', () => {
    const store = open();
    plant(store);
    const sums = () => readFileSync(`${path}.sums`);
    const before = sums().length;
    for (let n = 0; sums().length === before && n < 300; n++) write(store, n * 100, 100);
    expect(sums().length).toBeGreaterThan(before);
    const log = statSync(`${path}-wal`).size;
    // The log begins again instead of growing.
    for (let n = 300; n < 330; n++) write(store, n * 100, 100);
    expect(statSync(`${path}-wal`).size).toBeLessThan(1.2 * log);
    const crashed = image();
    store.close();
    expect(isKnown(crashed)).toBe(true);
  });

  test('that are damaged, cut, of another file or gone cost a check and nothing else', () => {
    const { stopped, held } = filesOf(() => {});
    const right = stopped.get('.sums')!;
    const flipped = Buffer.from(right);
    flipped[600]! ^= 4;
    for (const wrong of [flipped, right.subarray(0, 530), Buffer.alloc(0), Buffer.alloc(right.length)]) {
      restore(replaced(stopped, '.sums', wrong));
      expect(fingerprint()).toBe(held);
      expect(readFileSync(`${path}.sums`).length).toBe(right.length);
    }
  });

  test('accept a data file that somebody put in the place of another, without a log', () => {
    const { stopped, held } = filesOf(() => {});
    const other = filesOf(busy);
    restore(replaced(other.stopped, '', stopped.get('')!));
    expect(fingerprint()).toBe(held);
  });

  test('do not accept a data file beside the log of another state of it', () => {
    const first = filesOf((store) => write(store, 0, 10));
    restore(first.stopped);
    const second = filesOf((store) => write(store, 10, 10));
    restore(second.stopped);
    const third = filesOf(busy);
    for (const files of [
      replaced(third.crashed, '', first.stopped.get('')!),
      replaced(first.stopped, '-wal', third.crashed.get('-wal')!),
      replaced(first.crashed, '-wal', second.crashed.get('-wal')!),
    ]) {
      restore(files);
      expect(open).toThrow(/is damaged/);
      expect(readFileSync(`${path}-wal`).equals(files.get('-wal')!)).toBe(true);
    }
  });

  test.each(firstOf(['crashed', 'stopped']))(
    'a flipped bit in any file, %s: refused, or everything reads the same',
    (end) => {
      const files = filesOf(busy);
      const all = [...files[end]];
      const count = sampled(500);
      const flips = fc.sample(fc.tuple(fc.nat(all.length - 1), fc.nat(), fc.nat(7)), { numRuns: count, seed: SEED });
      let refused = 0;
      for (const [file, place, bit] of flips) {
        const [name, bytes] = all[file]!;
        const at = place % bytes.length;
        const damaged = Buffer.from(bytes);
        damaged[at]! ^= 1 << bit;
        restore(replaced(files[end], name, damaged));
        const label = `bit ${bit} of byte ${at} of engine.sqlite${name}, seed ${SEED}`;
        try {
          expect(fingerprint(), label).toBe(files.held);
        } catch (error) {
          expect((error as Error).message, label).toMatch(/^The data file .* is damaged/);
          refused++;
        }
      }
      expect(refused).toBeGreaterThan(count / 5);
    },
  );

  test.each([
    ['the data file', ''],
    ['the log', '-wal'],
  ])('notice a page of %s that changed before the engine wrote it again', (_, name) => {
    const text = 'remarkable '.repeat(20);
    const store = open();
    const insert = (id: string) => {
      const doc = { _id: id, text };
      store.documents.insert(store.collectionForWrite('db', 'near'), doc, encodeDocument(doc));
    };
    store.commit.write(() => ['a', 'b', 'c'].forEach(insert));
    store.commit.flush();
    store.database.sums.follow(store.database.prepare('PRAGMA wal_checkpoint(NOOP)').get()?.log as number);
    if (name === '') store.database.checkpoint();
    // SQLite reads the page again.
    store.database.sqlite.exec('PRAGMA shrink_memory');
    flip(path + name, readFileSync(path + name).lastIndexOf(text), 0);
    store.commit.write(() => insert('d'));
    expect(() => {
      store.commit.flush();
      store.database.checkpoint();
    }).toThrow(/is damaged: its page \d+ changed on disk/);
    store.close();
    expect(open).toThrow(/is damaged.*had changed on disk, and was written again since/);
  });

  test('notice a page that changes while nobody writes it, and accept it if its content is whole', () => {
    const store = open();
    const free = content.lastIndexOf(Buffer.alloc(64));
    expect(free).toBeGreaterThan(0);
    flip(path, free + 32, 0);
    expect(() => compareAll(store)).toThrow(/is damaged: its page \d+ changed on disk/);
    store.close();
    expect(fingerprint()).toBe(whole);
  });

  testLong(
    'a flipped bit in any file while the engine runs and writes: it ends, or everything reads the same',
    async () => {
      const before = filesOf(busy);
      const work = (store: Store): void => {
        write(store, 100, 5);
        store.commit.write(() => {
          const collection = store.collectionForWrite('db', 'c');
          for (const { rid, doc } of matchesIn(store, collection, { order: { $in: [10, 200, 590] } }))
            store.documents.update(collection, rid, doc, { ...doc, more: 1 }, undefined);
        });
        store.commit.flush();
      };
      restore(before.stopped);
      filesOf(work);
      const running = withoutTimes();
      const flips = fc.sample(fc.tuple(fc.nat(2), fc.nat(), fc.nat(7), fc.boolean()), {
        numRuns: sampled(500),
        seed: SEED,
      });
      let ended = 0;
      for (const [file, place, bit, isEarly] of flips) {
        restore(before.stopped);
        const store = open();
        const name = NAMES[file] as string;
        const label = `bit ${bit} of ${place} of engine.sqlite${name}, seed ${SEED}`;
        try {
          if (!isEarly) work(store);
          flip(path + name, place, bit);
          if (isEarly) work(store);
          store.database.checkpoint();
          compareAll(store);
          store.close();
          expect(withoutTimes(), label).toBe(running);
        } catch (error) {
          expect((error as Error).message, label).toMatch(DAMAGE);
          ended++;
          if (store.database.sqlite.isOpen) store.database.close();
          // What comes next: a start that refuses the file, or one that finds that nothing is lost.
          try {
            expect(withoutTimes(), label).toBe(running);
          } catch (refusal) {
            expect((refusal as Error).message, label).toMatch(/^The data file .* is damaged/);
          }
        }
      }
      expect(ended).toBeGreaterThan(0);
    },
  );
});
