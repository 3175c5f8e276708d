import { describe, expect, it } from 'vitest';
import { readExamples } from '../../scripts/docs/examples.ts';
import { root } from '../support/client-examples.ts';
import { examplesFile, runExamples } from '../support/docs-examples.ts';
import { type TestService, withSharedService } from '../support/service.ts';
import { hasTool } from '../support/tools.ts';

// The examples of the reference at /docs run as they stand; test/long/docs-examples.test.ts runs those that are compiled
// or need packages.

describe('the examples of the reference', () => {
  let service: TestService;
  withSharedService.beforeAll(({ service: shared }) => {
    service = shared;
  });

  it.skipIf(!hasTool('curl'))('in curl', async () => {
    const script = examplesFile('curl.sh').replace('http://localhost:3000', service.url);
    await runExamples(service, ['sh', '-c', script]);
  });

  it('in TypeScript', async () => {
    const program = examplesFile('typescript.ts').replace(
      "'@fatoura/client'",
      `'${root}/clients/typescript/src/index.ts'`,
    );
    await runExamples(service, [process.execPath, '--input-type=module-typescript', '--eval', program]);
  });

  it.skipIf(!hasTool('php'))('in PHP (skipped without php-cli and php-curl)', async () => {
    const loader = "spl_autoload_register(fn ($name) => require 'clients/php/src/' . substr($name, 8) . '.php');";
    const program = examplesFile('php.php').replace('<?php', '').replace("require 'vendor/autoload.php';", loader);
    await runExamples(service, ['php', '-r', program]);
  });

  it('is there for each operation in each language', () => {
    for (const [name, blocks] of Object.entries(readExamples(root))) expect([name, blocks.length]).toEqual([name, 6]);
  });
});
