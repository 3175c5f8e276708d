import { execFileSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../support/client-examples.ts';
import { clientSuite, examplesInTurn, type FirstExample, firstExample } from '../support/client-suite.ts';
import { freePort } from '../support/free-ports.ts';
import { hasTool } from '../support/tools.ts';
import { verifyExample } from '../support/verify-example.ts';

// The client for PHP: the suite, its own tests, and the package as Composer installs it. Analysers run where they are
// installed: Mago (`cargo install mago --locked`) takes minutes to build, and PHPStan is in no registry that these tests
// reach.

const FOLDER = join(root, 'clients/php');
/** Of the server that has the example of a webhook. */
const port = await freePort();
const run = (command: string, args: readonly string[], cwd = FOLDER) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: 'pipe' });

describe.skipIf(!hasTool('php'))('the client for PHP (skipped without php-cli and php-curl)', () => {
  it('has strict types in each file', () => {
    const files = globSync(['src/*.php', 'tests/*.php', '*.php'], { cwd: FOLDER });
    expect(files.length).toBeGreaterThan(15);
    for (const file of files) {
      expect(run('php', ['-l', file])).toContain('No syntax errors');
      expect(readFileSync(join(FOLDER, file), 'utf8')).toContain('declare(strict_types=1);');
    }
  });

  it.skipIf(!hasTool('phpstan'))('passes PHPStan at its highest level (skipped without phpstan)', () => {
    run('phpstan', ['analyse', '--no-progress', '--memory-limit=1G']);
  });

  it.skipIf(!hasTool('mago'))('passes Mago with warnings as errors (skipped without mago)', () => {
    run('mago', ['analyze']);
  });

  it('passes its own tests', () => {
    // As on a machine of a developer, where traces have the arguments of calls.
    const output = run('php', ['-d', 'zend.exception_ignore_args=0', '-d', 'error_reporting=-1', 'tests/run.php']);
    expect(output.trim().split('\n').length).toBeGreaterThan(10);
    expect(output).not.toMatch(/Warning|Deprecated|Notice/);
  });

  describe.skipIf(!hasTool('composer'))('the package (skipped without composer)', () => {
    const project = mkdtempSync(join(tmpdir(), 'fatoura-php-'));
    afterAll(() => rmSync(project, { recursive: true }));

    it('is installed by Composer', () => {
      const repositories = [{ type: 'path', url: FOLDER, options: { symlink: false } }, { 'packagist.org': false }];
      const require = { 'fatoura/client': '*@dev' };
      writeFileSync(join(project, 'composer.json'), JSON.stringify({ repositories, require }));
      run('composer', ['validate', '--strict', '--no-check-publish', join(FOLDER, 'composer.json')]);
      run('composer', ['install', '--no-interaction', '--quiet'], project);
    });

    const readme: FirstExample = {
      folder: 'php',
      fence: 'php',
      start: (source) => ['php', '-d', `include_path=${project}`, '-r', source],
    };
    firstExample(readme);
    examplesInTurn({ ...readme, count: 3 });
    // Only a server has headers and a body.
    verifyExample({
      ...readme,
      start(example) {
        const page = `<?php require 'vendor/autoload.php';\n${example}\necho $event['type'];`;
        writeFileSync(join(project, 'hook.php'), page);
        const server = `php -d include_path=${project} -S 127.0.0.1:${port} ${project}/hook.php & trap 'kill %1' EXIT`;
        const headers = `-H "Service-Signature: $SIGNATURE" -H 'Content-Type: application/json'`;
        const send = `curl -sS --fail-with-body --retry 20 --retry-connrefused --retry-delay 1 --data-binary "$BODY"`;
        return ['bash', '-c', `${server}\n${send} ${headers} http://127.0.0.1:${port}/`];
      },
    });
  });

  clientSuite('PHP', 'php', ['clients/php/conformance.php']);
});
