import { Int32, Long, ObjectId } from 'bson';
import type { Doc } from '../query/types.ts';
import { MAX_DOCUMENT } from '../wire/bson.ts';
import { MAX_MESSAGE } from '../wire/message.ts';
import type { Command, Context } from './command.ts';

/** The emulated version: MongoDB 7.0, wire version 21. */
export const VERSION = '7.0.0';
const WIRE_VERSION = 21;
export const SET_NAME = 'rs0';
const SESSION_MINUTES = 30;
export const MAX_BATCH = 100_000;

const ELECTION_ID = new ObjectId('7fffffff0000000000000001');

/**
 * The handshake. It describes the primary of a replica set with one member, so that drivers use sessions, retryable
 * writes and change streams.
 */
export const hello: Command = {
  options: [],
  handshake: true,
  run: (context) => helloReply(context, 'isWritablePrimary'),
};
export const isMaster: Command = { options: [], handshake: true, run: (context) => helloReply(context, 'ismaster') };

function helloReply({ server, connection, args }: Context, primary: string): Doc {
  return {
    ...(args.body.helloOk === true ? { helloOk: true } : {}),
    [primary]: true,
    secondary: false,
    setName: SET_NAME,
    setVersion: new Int32(1),
    hosts: [server.host],
    me: server.host,
    primary: server.host,
    electionId: ELECTION_ID,
    maxBsonObjectSize: new Int32(MAX_DOCUMENT),
    maxMessageSizeBytes: new Int32(MAX_MESSAGE),
    maxWriteBatchSize: new Int32(MAX_BATCH),
    localTime: new Date(),
    logicalSessionTimeoutMinutes: new Int32(SESSION_MINUTES),
    connectionId: Long.fromNumber(connection.id),
    minWireVersion: new Int32(0),
    maxWireVersion: new Int32(WIRE_VERSION),
    readOnly: false,
  };
}
