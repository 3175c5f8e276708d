import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { checkDeployment } from '../../../scripts/check/deployment.ts';
import { readDeployment, readFrom } from '../../../scripts/check/deployment-files.ts';
import { kubernetesProblems } from '../../../scripts/check/kubernetes-fields.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const read = readFrom(ROOT);

/** The problems when one text of a file is replaced by another one. */
function problemsWith(file: string, text: string | RegExp, by: string): string[] {
  return checkDeployment(ROOT, (path) => {
    const content = read(path);
    if (path !== file) return content;
    const changed = content.replace(text, by);
    expect(changed).not.toBe(content);
    return changed;
  });
}

it('the files of the repository fit one another and the program', () => {
  expect(checkDeployment(ROOT)).toEqual([]);
});

it.each([
  ['no YAML', 'docker-compose.yml', 'services:', 'services: [', /^docker-compose\.yml: /],
  ['an unknown key', 'docker-compose.yml', 'cap_drop:', 'cap_dorp:', /additional properties .*cap_dorp/],
  ['an unknown setting', 'docker-compose.yml', 'SHUTDOWN_DELAY:', 'SHUTDOWN_DELYA:', /SHUTDOWN_DELYA is no setting/],
  [
    'a wrong value',
    'docker-compose.yml',
    'SHUTDOWN_DELAY: 3s',
    'SHUTDOWN_DELAY: 3',
    /SHUTDOWN_DELAY must be a duration/,
  ],
  [
    'a missing file',
    'docker-compose.yml',
    'compose/mongodb-setup.js:',
    'compose/setup.js:',
    /no \.\/deploy\/compose\/setup/,
  ],
  ['any version', 'docker-compose.yml', 'image: mongo:8.0.12', 'image: mongo:8', /mongo:8 has no exact version/],
  ['another version', 'docker-compose.yml', 'fatoura:0.1.0', 'fatoura:0.0.9', /fatoura:0\.0\.9 is not of version/],
  ['another port', 'docker-compose.yml', "'127.0.0.1:3000:3000'", "'3000:3001'", /published port is 3001/],
  ['too short a stop', 'docker-compose.yml', 'stop_grace_period: 45s', 'stop_grace_period: 10s', /is 10 s, and a stop/],
  ['a port of the proxy', 'deploy/haproxy/haproxy.cfg', 'API_1-api-1:3000', 'API_1-api-1:8000', /api process is 8000/],
  ['an unknown setting', 'Dockerfile', 'HOST=0.0.0.0', 'ADDRESS=0.0.0.0', /ADDRESS is no setting/],
  ['another Node', 'Dockerfile', /node:24\.\d+\.\d+/, 'node:24.0.0', /is not the Node of package-lock\.json/],
  ['what is not sent', '.dockerignore', '!src\n', '', /COPY src: it is not there, or \.dockerignore has it/],
  ['an unknown setting', 'deploy/kubernetes/settings.yaml', 'MAIL_FROM:', 'MAIL_SENDER:', /MAIL_SENDER is no setting/],
  ['a broken rule', 'deploy/kubernetes/settings.yaml', "TRUST_PROXY: '1'", "TRUST_PROXY: 'on'", /TRUST_PROXY must be/],
  [
    'another API',
    'deploy/kubernetes/api.yaml',
    'autoscaling/v2',
    'autoscaling/v1',
    /Autoscaler is not of autoscaling\/v1/,
  ],
  ['too short a stop', 'deploy/kubernetes/worker.yaml', 'Seconds: 45', 'Seconds: 30', /and a stop may take/],
  [
    'an unlisted file',
    'deploy/kubernetes/kustomization.yaml',
    '  - worker.yaml\n',
    '',
    /worker\.yaml: .* does not list it/,
  ],
  ['too short a stop', 'deploy/fatoura.service', 'TimeoutStopSec=45', 'TimeoutStopSec=20', /TimeoutStopSec is 20 s/],
  [
    'a restart with a wrong PIN',
    'deploy/fatoura.service',
    'RestartPreventExitStatus=2\n',
    '',
    /RestartPreventExitStatus is not 2/,
  ],
  ['a missing program', 'deploy/fatoura.service', 'src/main.ts', 'src/start.ts', /there is no src\/start\.ts/],
])('%s in %s is a problem', (_, file, text, by, problem) => {
  expect(problemsWith(file, text, by).join('\n')).toMatch(problem);
});

it('every field of the manifests is one of Kubernetes, with a value of its type', async () => {
  const changes = [
    ['readinessProbe:', 'readinesProbe:'],
    ['replicas: ', 'replicas: x'],
    ['minAvailable: ', 'atLeast: '],
  ] as const;
  const changed = (path: string) => changes.reduce((text, [from, to]) => text.replace(from, to), read(path));
  expect(await kubernetesProblems(ROOT, readDeployment(ROOT, read))).toEqual([]);
  const problems = await kubernetesProblems(ROOT, readDeployment(ROOT, changed));
  for (const expected of [/api\.yaml: .*readinesProbe/, /worker\.yaml: .*'string'.*'number'/, /api\.yaml: .*atLeast/])
    expect(problems).toContainEqual(expect.stringMatching(expected));
});
