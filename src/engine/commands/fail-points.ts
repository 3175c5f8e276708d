import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, codeName } from '../errors.ts';
import { asDoc, type Doc, wholeNumber } from '../query/types.ts';
import type { Command, Context } from './command.ts';
import { writeConcernLabels } from './error-labels.ts';

interface FailPoint {
  /** Times that it still applies; Infinity when it is always on. */
  left: number;
  /** Times that it lets pass first. */
  skip: number;
  /** Times that it was reached. */
  entered: number;
  data: Doc;
}

/** Failures that a test asks the server for, as mongod's `configureFailPoint` sets them; there are none unless the engine runs with test commands. */
export class FailPoints {
  readonly #set = new Map<string, FailPoint>();

  /** Sets or removes one; gives how often the one that was there had been reached. */
  configure(name: string, mode: unknown, data: Doc): number {
    const before = this.#set.get(name)?.entered ?? 0;
    const point: FailPoint = { left: Number.POSITIVE_INFINITY, skip: 0, entered: 0, data };
    const counted = asDoc(mode);
    if (counted) {
      const times = wholeNumber(counted.times);
      const skip = wholeNumber(counted.skip);
      if (times === undefined && skip === undefined) throw badMode(mode);
      if (times !== undefined) point.left = Number(times);
      if (skip !== undefined) point.skip = Number(skip);
    } else if (mode !== 'alwaysOn' && mode !== 'off') throw badMode(mode);
    if (mode === 'off') this.#set.delete(name);
    else this.#set.set(name, point);
    return before;
  }

  /** What a fail point wants done, when it is set and `applies` says that it concerns this moment. */
  hit(name: string, applies: (data: Doc) => boolean = () => true): Doc | undefined {
    const point = this.#set.get(name);
    if (!point || point.left <= 0 || !applies(point.data)) return undefined;
    point.entered++;
    if (point.skip > 0) {
      point.skip--;
      return undefined;
    }
    point.left--;
    return point.data;
  }
}

function badMode(mode: unknown): CommandError {
  return new CommandError('BadValue', `unknown mode of a fail point: ${JSON.stringify(mode)}`);
}

/** `{configureFailPoint: name, mode: 'alwaysOn' | 'off' | {times} | {skip}, data}`; unknown to a server without test commands. */
export const configureFailPoint: Command = {
  options: ['mode', 'data'],
  run: ({ args, failPoints }) => {
    if (!failPoints) throw new CommandError('CommandNotFound', "no such command: 'configureFailPoint'");
    const name = args.string('configureFailPoint') ?? '';
    return { count: failPoints.configure(name, args.body.mode, args.document('data') ?? {}) };
  },
};

/** Runs a command, or does to it what the fail point `failCommand` asks for. */
export function withFailure(
  failPoints: FailPoints,
  context: Context,
  run: () => Doc | Promise<Doc>,
): Doc | Promise<Doc> {
  const { command, connection, args } = context;
  if (command.handshake) connection.appName ??= appNameOf(args.document('client'));
  const data = failPoints.hit('failCommand', (asked) => concerns(asked, context));
  if (!data) return run();
  if (data.blockConnection !== true) return fail(data, context, run);
  return sleep(Number(data.blockTimeMS)).then(() => fail(data, context, run));
}

function fail(data: Doc, context: Context, run: () => Doc | Promise<Doc>): Doc | Promise<Doc> {
  const labels = Array.isArray(data.errorLabels) ? data.errorLabels.map(String) : undefined;
  if (data.closeConnection === true) {
    context.connection.abort();
    return {};
  }
  if (data.errorCode !== undefined) {
    throw new CommandError(Number(data.errorCode), "failing command via 'failCommand' failpoint", {}, labels);
  }
  const writeConcernError = asDoc(data.writeConcernError);
  if (!writeConcernError) return run();
  const given = labels ?? writeConcernLabels(Number(writeConcernError.code), context);
  const failed = (reply: Doc): Doc => ({
    ...reply,
    writeConcernError: { codeName: codeName(Number(writeConcernError.code)), ...writeConcernError },
    ...(given.length > 0 ? { errorLabels: given } : {}),
  });
  const reply = run();
  return reply instanceof Promise ? reply.then(failed) : failed(reply);
}

function concerns({ failCommands, appName, namespace }: Doc, { name, connection, db, args }: Context): boolean {
  if (!Array.isArray(failCommands) || name === 'configureFailPoint') return false;
  if (appName !== undefined && appName !== connection.appName) return false;
  if (namespace !== undefined && namespace !== `${db}.${String(args.body[name])}`) return false;
  return failCommands.some((each) => String(each).toLowerCase() === name.toLowerCase());
}

function appNameOf(client: Doc | undefined): string | undefined {
  const name = asDoc(client?.application)?.name;
  return typeof name === 'string' ? name : undefined;
}
