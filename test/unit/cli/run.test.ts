import { describe, expect, it } from 'vitest';
import { type Command, type CommandContext, InputError, UsageError } from '../../../src/cli/command.ts';
import { COMMANDS } from '../../../src/cli/commands.ts';
import { parseArguments } from '../../../src/cli/parse.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { serviceError } from '../../../src/domain/errors.ts';

/** Runs a command line; the commands must not use their parts. */
async function run(args: string[], commands: readonly Command[] = COMMANDS) {
  const printed: string[] = [];
  const remarked: string[] = [];
  const context = {
    terminal: { print: (text: string) => printed.push(text), remark: (text: string) => remarked.push(text) },
    config: () => {
      throw new Error('the settings were read');
    },
    environmentKey: () => null,
    parts: {},
  } as unknown as CommandContext;
  const code = await runCommandLine(args, commands, context);
  return { code, out: printed.join('\n'), err: remarked.join('\n') };
}

function command(changes: Partial<Command>): Command {
  return { name: 'do', summary: 'Does', positionals: [], options: {}, run: async () => 0, ...changes };
}

describe('the command line', () => {
  it.each([[['--help']], [['-h']]])('%j: help on standard output, exit code 0', async (args) => {
    const { code, out, err } = await run(args);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const { name, summary } of COMMANDS) {
      expect(out).toContain(name);
      expect(out).toContain(summary);
    }
  });

  it('help: the same, also for a group or a command', async () => {
    for (const [args, same] of [
      [['help'], ['--help']],
      [
        ['help', 'keys'],
        ['keys', '--help'],
      ],
      [
        ['help', 'keys', 'rotate'],
        ['keys', 'rotate', '--help'],
      ],
      [
        ['help', 'listen'],
        ['listen', '--help'],
      ],
    ] as const) {
      const answer = await run([...args]);
      expect(answer).toMatchObject({ code: 0, err: '', out: expect.stringContaining('Usage: ') });
      expect(answer).toEqual(await run([...same]));
    }
  });

  it('--version: name and version', async () => {
    expect(await run(['--version'])).toEqual({
      code: 0,
      out: expect.stringMatching(/^fatoura \d+\.\d+\.\d+$/),
      err: '',
    });
  });

  it.each(COMMANDS.map(({ name }) => name))('%s --help names each option and has no effect', async (name) => {
    const { code, out, err } = await run([...name.split(' '), '--help']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const options = COMMANDS.find((each) => each.name === name)?.options ?? {};
    for (const option of Object.keys(options)) expect(out).toContain(`--${option}`);
  });

  it('lists the commands of a group', async () => {
    const { code, out } = await run(['keys', '--help']);
    expect(code).toBe(0);
    expect(out).toContain('keys rotate');
    expect(out).not.toContain('tenants');
  });

  it.each([
    [[], 'Usage: '],
    [['keys'], 'keys rotate'],
    [['nope'], "There is no command 'nope'."],
    [['keys', 'nope'], "There is no command 'keys nope'."],
    [['nothing'], "There is no command 'nothing'."],
    [['help', 'nope'], "There is no command 'nope'.\n"],
    [['help', 'keys', 'nope'], "There is no command 'keys nope'.\n"],
    [['keys', 'list', '--tenant', ''], '--tenant needs a value, but it is empty'],
    [
      ['invoices', 'credit', 'inv_1', '--reason', 'return', '--idempotency-key', ' '],
      'key needs a value, but it is empty',
    ],
    [['listen', '--key', '--forward-to', 'localhost:1'], '--key needs a value, but it is empty'],
    [['listen', '--forward-to', 'localhost:1', '--key'], '--key needs a value, but it is empty'],
    [['listen', '--forward-to', 'localhost:1'], '--key is required, or the environment variable FATOURA_KEY'],
    [['--nope'], "There is no command '--nope'."],
    [['doctor', '--nope'], "unknown option '--nope'"],
    [['doctor', 'extra'], "unexpected argument 'extra'"],
    [['keys', 'list'], '--tenant is required'],
    [['keys', 'list', '--tenant'], '--tenant'],
    [['keys', 'list', '--tenant='], '--tenant needs a value'],
    [['keys', 'list', '--tenant', 'x', '--json=yes'], '--json'],
    [['keys', 'revoke'], 'KEY_ID is missing'],
    [['verify'], 'FILE.xml is missing'],
    [
      ['keys', 'create', '--tenant', 'x', '--environment', 'prod', '--kind', 'secret'],
      "--environment must be test or live, not 'prod'",
    ],
  ])('%j: exit code 2, the reason and the usage on standard error', async (args, why) => {
    const { code, out, err } = await run(args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(why);
    expect(err).toContain('Usage: npm run -s cli -- ');
  });
});

describe('an error of a command', () => {
  it.each([
    [new Error('It broke.\n  in two lines'), 'It broke.; in two lines'],
    [serviceError('resource_not_found', "There is no key 'x'."), "There is no key 'x'."],
  ])('is one line on standard error, exit code 1: %s', async (error, line) => {
    const failing = command({ run: () => Promise.reject(error) });
    expect(await run(['do'], [failing])).toEqual({ code: 1, out: '', err: line });
  });

  it('has exit code 2 when the input is at fault', async () => {
    const failing = command({ run: () => Promise.reject(new InputError('x.json cannot be read.')) });
    expect(await run(['do'], [failing])).toEqual({ code: 2, out: '', err: 'x.json cannot be read.' });
  });

  it('is followed by the usage when the usage is at fault', async () => {
    const failing = command({ run: () => Promise.reject(new UsageError('--a and --b must be given together')) });
    const { code, err } = await run(['do'], [failing]);
    expect(code).toBe(2);
    expect(err).toBe('--a and --b must be given together\nUsage: npm run -s cli -- do');
  });

  it('the exit code is that of the command', async () => {
    expect((await run(['do'], [command({ run: async () => 1 })])).code).toBe(1);
  });
});

describe('parseArguments', () => {
  const it_ = command({
    positionals: ['WHAT'],
    options: { to: { value: 'T', description: '' }, json: { description: '' } },
  });

  it('reads positionals, options and flags in any order', () => {
    const parsed = parseArguments(it_, ['--json', 'a', '--to', 'b']);
    expect([parsed?.get('WHAT'), parsed?.find('to'), parsed?.has('json')]).toEqual(['a', 'b', true]);
    const bare = parseArguments(it_, ['--', '--a']);
    expect([bare?.get('WHAT'), bare?.find('to'), bare?.has('json')]).toEqual(['--a', null, false]);
  });
});
