import { setTimeout as sleep } from 'node:timers/promises';
import { CommandError, codeName } from '../errors.ts';
import { asDoc, type Doc } from '../query/types.ts';
import type { Command, Context } from './command.ts';
import { writeConcernLabels } from './error-labels.ts';
import type { FailPoints } from './fail-points.ts';

/** `{configureFailPoint: name, mode: 'alwaysOn' | 'off' | {times} | {skip}, data}`. Error 59 without test commands. */
export const configureFailPoint: Command = {
  options: ['mode', 'data'],
  run: ({ args, failPoints }) => {
    if (!failPoints) throw new CommandError('CommandNotFound', "no such command: 'configureFailPoint'");
    const name = args.string('configureFailPoint') ?? '';
    return { count: failPoints.configure(name, args.body.mode, args.document('data') ?? {}) };
  },
};

/**
 * Runs a command. If the fail point `failCommand` applies to the command, it is delayed, fails or loses its connection,
 * as configured. With the fail point `maxTimeAlwaysTimeOut`, every command with a time limit fails as if it had
 * exceeded it.
 */
export function withFailure(
  failPoints: FailPoints,
  context: Context,
  run: () => Doc | Promise<Doc>,
): Doc | Promise<Doc> {
  const { command, connection, args } = context;
  if (command.handshake) connection.appName ??= appNameOf(args.document('client'));
  if (context.deadline !== Number.POSITIVE_INFINITY && failPoints.hit('maxTimeAlwaysTimeOut'))
    throw new CommandError('MaxTimeMSExpired', 'operation exceeded time limit');
  const data = failPoints.hit('failCommand', (asked) => appliesTo(asked, context));
  if (!data) return run();
  if (data.blockConnection !== true) return fail(data, context, run);
  return sleep(Number(data.blockTimeMS)).then(() => fail(data, context, run));
}

function fail(data: Doc, context: Context, run: () => Doc | Promise<Doc>): Doc | Promise<Doc> {
  const labels = Array.isArray(data.errorLabels) ? data.errorLabels.map(String) : undefined;
  if (data.closeConnection === true) {
    context.connection.drop();
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

function appliesTo({ failCommands, appName, namespace }: Doc, { name, connection, db, args }: Context): boolean {
  if (!Array.isArray(failCommands) || name === 'configureFailPoint') return false;
  if (appName !== undefined && appName !== connection.appName) return false;
  if (namespace !== undefined && namespace !== `${db}.${String(args.body[name])}`) return false;
  return failCommands.some((each) => String(each).toLowerCase() === name.toLowerCase());
}

function appNameOf(client: Doc | undefined): string | undefined {
  const name = asDoc(client?.application)?.name;
  return typeof name === 'string' ? name : undefined;
}
