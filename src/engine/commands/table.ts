import {
  currentOp,
  fsync,
  getCmdLineOpts,
  getDefaultRWConcern,
  replSetGetConfig,
  replSetGetStatus,
  top,
  usersInfo,
  whatsmyuri,
} from './administration.ts';
import { aggregate } from './aggregate.ts';
import { backupLog, beginBackup, endBackup } from './backup.ts';
import {
  collMod,
  collStats,
  compact,
  create,
  drop,
  listCollections,
  renameCollection,
  validate,
} from './collections.ts';
import type { Command } from './command.ts';
import { configureFailPoint } from './configure-fail-point.ts';
import { count, distinct } from './count.ts';
import { getMore, killCursors } from './cursors.ts';
import { dbStats, dropDatabase, listDatabases } from './databases.ts';
import { remove } from './delete.ts';
import { buildInfo, connectionStatus, getLog, getParameter, hostInfo, ping, serverStatus } from './diagnostics.ts';
import { explain } from './explain.ts';
import { find } from './find.ts';
import { findAndModify } from './find-and-modify.ts';
import { hello, isMaster } from './hello.ts';
import { createIndexes, dropIndexes, listIndexes } from './indexes.ts';
import { insert } from './insert.ts';
import { createSearchIndexes, dropSearchIndex, updateSearchIndex } from './search-indexes.ts';
import { endSessions, killAllSessions, killSessions, refreshSessions } from './sessions.ts';
import { abortTransaction, commitTransaction } from './transactions.ts';
import { update } from './update.ts';

/** All commands by name. Any other name is error 59. */
export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({
    hello,
    isMaster,
    ismaster: isMaster,
    ping,
    buildInfo,
    buildinfo: buildInfo,
    hostInfo,
    serverStatus,
    connectionStatus,
    getParameter,
    getLog,
    getCmdLineOpts,
    getDefaultRWConcern,
    whatsmyuri,
    replSetGetConfig,
    replSetGetStatus,
    usersInfo,
    fsync,
    currentOp,
    top,
    listDatabases,
    dropDatabase,
    dbStats,
    create,
    drop,
    listCollections,
    renameCollection,
    collMod,
    collStats,
    validate,
    compact,
    beginBackup,
    backupLog,
    endBackup,
    createIndexes,
    listIndexes,
    dropIndexes,
    createSearchIndexes,
    updateSearchIndex,
    dropSearchIndex,
    insert,
    find,
    getMore,
    killCursors,
    update,
    delete: remove,
    findAndModify,
    findandmodify: findAndModify,
    aggregate,
    count,
    distinct,
    explain,
    endSessions,
    killSessions,
    refreshSessions,
    killAllSessions,
    commitTransaction,
    abortTransaction,
    configureFailPoint,
  }),
);
