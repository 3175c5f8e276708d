import { Int32, Long } from 'bson';
import { CommandError } from '../errors.ts';
import type { Doc } from '../query/types.ts';
import { timestampOf } from '../store/oplog.ts';
import type { Store } from '../store/store.ts';
import type { Command } from './command.ts';
import { SET_NAME } from './hello.ts';

/** Commands that shells and tools send when they connect. */
export const getCmdLineOpts: Command = { options: [], run: () => ({ argv: ['embedded'], parsed: {} }) };

export const whatsmyuri: Command = { options: [], run: ({ connection }) => ({ you: `client:${connection.id}` }) };

/** Returns the status of a replica set with one member, the primary. */
export const replSetGetStatus: Command = {
  options: ['initialSync'],
  run: ({ server, store }) => ({
    set: SET_NAME,
    date: new Date(),
    myState: new Int32(1),
    term: Long.ONE,
    heartbeatIntervalMillis: Long.fromNumber(2000),
    members: [
      {
        _id: new Int32(0),
        name: server.host,
        health: 1,
        state: new Int32(1),
        stateStr: 'PRIMARY',
        uptime: new Int32((Date.now() - server.startedAt.getTime()) / 1000),
        optime: { ts: timestampOf(store.oplog.last), t: Long.ONE },
        optimeDate: new Date(),
        self: true,
      },
    ],
  }),
};

/** Returns the configuration of a replica set with one member. */
export const replSetGetConfig: Command = {
  options: ['commitmentStatus'],
  run: ({ server }) => ({
    config: {
      _id: SET_NAME,
      version: new Int32(1),
      term: new Int32(1),
      protocolVersion: Long.ONE,
      members: [{ _id: new Int32(0), host: server.host, arbiterOnly: false, hidden: false, priority: 1, votes: 1 }],
      settings: { chainingAllowed: true, heartbeatIntervalMillis: new Int32(2000) },
    },
  }),
};

/** Returns no users: the engine has none, and each client that can connect has all rights. */
export const usersInfo: Command = {
  options: ['showCredentials', 'showCustomData', 'showPrivileges', 'showAuthenticationRestrictions', 'filter'],
  run: (): Doc => ({ users: [] }),
};

/**
 * Does nothing, because every acknowledged write is already on disk. Refuses `lock`, because no backup could run under
 * a lock.
 */
export const fsync: Command = {
  options: ['lock', 'fsyncLockAcquisitionTimeoutMillis'],
  run: ({ args }) => {
    if (args.flag('lock'))
      throw new CommandError('CommandNotSupported', 'fsync with lock is not supported by this server');
    return { numFiles: new Int32(1) };
  },
};

/**
 * Lists the index builds and the backups. Long reads are not listed; they can be ended by `maxTimeMS`, `killSessions`
 * or by closing the connection.
 */
export const currentOp: Command = {
  options: ['$all', '$ownOps'],
  run: ({ store }): Doc => ({
    inprog: [...indexBuilds(store), ...backups(store)],
  }),
};

function indexBuilds(store: Store): Doc[] {
  return store.builds.progress().map(({ collection, indexes, isAdding, done, total }) => ({
    type: 'op',
    desc: 'index build',
    active: true,
    op: 'command',
    ns: collection.ns,
    command: { createIndexes: collection.name, indexes: indexes.map(({ spec }) => spec) },
    msg: isAdding ? 'Index Build: inserting keys' : 'Index Build: scanning collection',
    progress: { done: Long.fromNumber(done), total: Long.fromNumber(total) },
  }));
}

function backups(store: Store): Doc[] {
  return store.backups.ids.map((id) => ({
    type: 'op',
    desc: 'backup',
    active: true,
    op: 'command',
    ns: 'admin.$cmd',
    command: { beginBackup: new Int32(1) },
    backup: new Int32(id),
  }));
}

export const top: Command = { options: [], run: (): Doc => ({ totals: {} }) };

export const getDefaultRWConcern: Command = {
  options: ['inMemory'],
  run: (): Doc => ({
    defaultReadConcern: { level: 'local' },
    defaultWriteConcern: { w: 'majority', wtimeout: new Int32(0) },
    defaultWriteConcernSource: 'implicit',
    defaultReadConcernSource: 'implicit',
  }),
};
