import { Int32, Long } from 'bson';
import type { Doc } from '../query/types.ts';
import { timestampOf } from '../store/oplog.ts';
import type { Command } from './command.ts';
import { SET_NAME } from './hello.ts';

/** Commands that shells and tools send when they connect. */
export const getCmdLineArgs: Command = { options: [], run: () => ({ argv: ['embedded'], parsed: {} }) };

export const whatsmyuri: Command = { options: [], run: ({ connection }) => ({ you: `client:${connection.id}` }) };

/** Status of a replica set with one member, the primary. */
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

/** Commands run one at a time, so no other operation is in progress. */
export const currentOp: Command = { options: ['$all', '$ownOps'], run: (): Doc => ({ inprog: [] }) };

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
